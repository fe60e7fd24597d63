import { errors, fail, require } from "../base/errors.ts";
import { offsetOf } from "../base/addresses.ts";
import type { Stream } from "../work/stream.ts";
import type { Call, Handlers, Status } from "./call.ts";
import { copy } from "./memory.ts";

/** A variable of device code: its address, and its size in bytes. */
interface Symbol {
  readonly address: bigint;
  readonly bytes: number;
}

/** The variable that one of the host stands for. A managed one is the same in both, so that its address is enough. */
export function symbolAt(call: Call, shadow: bigint): Symbol {
  const { device } = call;
  const found = call.process.registry.variable(shadow);
  if (found !== null) return { address: device.variableAddress(found), bytes: found.bytes };
  const offset = offsetOf(shadow);
  const variable = offset === null ? null : call.process.machine.memory.find(offset);
  if (variable === null || variable.start !== offset || variable.freed) return fail(errors.invalidSymbol);
  return { address: shadow, bytes: variable.end - variable.start };
}

/** Throws if a direction does not fit a copy to a variable, or from one. */
export function checkSymbolDirection(isTo: boolean, kind: number): void {
  require((isTo ? [1, 3, 4] : [2, 3, 4]).includes(kind), errors.invalidMemcpyDirection);
}

/** Copies to a variable, or from it, from byte `offset` of it on. */
function copySymbol(call: Call, isTo: boolean, stream?: Stream): Status {
  const [symbolIndex, otherIndex] = isTo ? [0, 1] : [1, 0];
  const { address, bytes } = symbolAt(call, call.address(symbolIndex));
  const [count, offset, kind] = [call.size(2), call.size(3), call.int(4)];
  require(offset + count <= bytes);
  checkSymbolDirection(isTo, kind);
  const [place, other] = [address + BigInt(offset), call.address(otherIndex)];
  const ends = isTo ? { to: place, from: other } : { to: other, from: place };
  return copy(call, { ...ends, bytes: count, kind }, stream, stream !== undefined);
}

export const symbolCalls: Handlers = {
  cudaMemcpyToSymbol: (call) => copySymbol(call, true),
  cudaMemcpyToSymbolAsync: (call) => copySymbol(call, true, call.stream(5)),
  cudaMemcpyFromSymbol: (call) => copySymbol(call, false),
  cudaMemcpyFromSymbolAsync: (call) => copySymbol(call, false, call.stream(5)),
  cudaGetSymbolAddress(call) {
    const target = call.target(0);
    call.set64(target, symbolAt(call, call.address(1)).address);
    return 0;
  },
  cudaGetSymbolSize(call) {
    const target = call.target(0);
    call.set64(target, symbolAt(call, call.address(1)).bytes);
    return 0;
  },
};

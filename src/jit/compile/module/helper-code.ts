import { type FunctionWriter, type Wasm, wasm, type WasmTy } from "../../../wasm/index.ts";

// What the code of access helpers is made of. Their first parameter is the byte where the context begins.

export const local = (ty: WasmTy, index: number): Wasm => wasm.local(ty, index);
export const context = local("i32", 0);
export const contextAt = (offset: number): Wasm => wasm.op("i32.add", context, wasm.i32(offset));

/** Once for each lane, with its number in a local. */
export function eachLane(w: FunctionWriter, lanes: number, write: (lane: Wasm) => void): void {
  const counter = w.local("i32");
  const lane = local("i32", counter);
  w.assign([{ local: counter, value: wasm.i32(0) }]);
  w.loop((next) => {
    write(lane);
    w.assign([{ local: counter, value: wasm.op("i32.add", lane, wasm.i32(1)) }]);
    w.value(wasm.op("i32.lt_u", lane, wasm.i32(lanes)));
    w.brIf(next);
  });
}

/** The word or double word of a lane in a table at an offset in the context. */
export const slot = (offset: number, lane: Wasm, bytes: number): Wasm =>
  wasm.op("i32.add", contextAt(offset), wasm.op("i32.mul", lane, wasm.i32(bytes)));

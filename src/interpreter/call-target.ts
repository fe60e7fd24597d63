import { type CallTarget, windows } from "../ir/index.ts";
import type { Activation } from "../machine/activation.ts";
import { type AddressParts, functionStride, hex } from "../machine/address-space.ts";
import { Fault } from "../machine/fault.ts";
import type { Decoding } from "./decode.ts";
import type { LoadedFunction } from "./loaded-function.ts";
import { agrees, signatureOf, signatureText } from "./signature.ts";

/** A function, and the lanes that call it. */
interface Callee {
  readonly callee: LoadedFunction;
  readonly mask: number;
}

export type Resolver = (x: Activation, lanes: number) => readonly Callee[];

/** Finds the functions that the lanes call, in lane order. No lane enters one before all targets are known to be good. */
export function makeResolver(d: Decoding, target: CallTarget): Resolver {
  const { site, engine, operands } = d;
  if (target.kind === "direct") {
    return (activation, mask) => {
      const callee = engine.functionNamed(target.function);
      if (callee !== null) return [{ callee, mask }];
      const message = `\`${target.function}\` is not defined`;
      throw new Fault("not-executable", message, { site, activation, lanes: mask });
    };
  }
  const slot = operands.slot(target.address);
  const listed = target.targets && new Set(target.targets.map((name) => engine.functionNamed(name)));
  const wide = slot.class === "b64";
  const addressOf = ({ i32 }: Activation, lane: number): AddressParts => ({
    high: wide ? i32[2 * (slot.base + lane) + 1]! >>> 0 : 0,
    low: i32[wide ? 2 * (slot.base + lane) : slot.base + lane]! >>> 0,
  });

  const problem = (
    callee: LoadedFunction | null,
    address: AddressParts,
  ): readonly [code: string, text: string] | null => {
    if (address.high === 0 && address.low === 0) return ["indirect-call-null", "the address of the function is null"];
    if (callee === null) return ["indirect-call-bad-address", `${hex(address)} is ${whatIs(d, address)}`];
    if (callee.ir.kind === "kernel") {
      return ["indirect-call-bad-address", `${hex(address)} is the kernel \`${callee.ir.name}\`, not a function`];
    }
    if (listed !== null && !listed.has(callee)) {
      const list = target.targets!.map((name) => `\`${name}\``).join(", ");
      return ["indirect-call-not-in-calltargets", `\`${callee.ir.name}\` is not in \`${target.via}\`: ${list}`];
    }
    const has = signatureOf(callee.ir);
    if (agrees(target.signature, has)) return null;
    const text = `\`${callee.ir.name}\` is ${signatureText(has)}, and \`${target.via}\` says ${signatureText(target.signature)}`;
    return ["indirect-call-prototype-mismatch", text];
  };

  // What a call got past once it gets past again.
  const good = new Set<LoadedFunction>();
  return (activation, lanes) => {
    const callees = new Map<LoadedFunction, number>();
    let failed: { code: string; text: string; lanes: number } | null = null;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const bit = m & -m;
      const address = addressOf(activation, 31 - Math.clz32(bit));
      const callee = functionAt(engine.functions, address);
      const found = callee !== null && good.has(callee) ? null : problem(callee, address);
      if (found === null) {
        good.add(callee!);
        callees.set(callee!, (callees.get(callee!) ?? 0) | bit);
      } else if (failed === null) failed = { code: found[0], text: found[1], lanes: bit };
      else if (failed.code === found[0]) failed.lanes |= bit;
    }
    if (failed !== null) throw new Fault(failed.code, failed.text, { site, activation, lanes: failed.lanes });
    return [...callees].map(([callee, mask]) => ({ callee, mask }));
  };
}

function functionAt(functions: readonly LoadedFunction[], { high, low }: AddressParts): LoadedFunction | null {
  const offset = low - windows.function.start;
  return high === 0 && offset % functionStride === 0 ? (functions[offset / functionStride] ?? null) : null;
}

function whatIs({ engine }: Decoding, address: AddressParts): string {
  const { kind } = engine.addresses.classify(address);
  if (kind === "function") {
    const offset = address.low - windows.function.start;
    const inside = engine.functions[Math.floor(offset / functionStride)];
    if (inside !== undefined) return `${offset % functionStride} bytes inside the function \`${inside.ir.name}\``;
  }
  if (kind === "null" || kind === "unknown" || kind === "function") return "the address of no function";
  return `an address of ${kind} memory, not of a function`;
}

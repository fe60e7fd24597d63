import { type ValueOp, type Wasm, wasm } from "../wasm/index.ts";
import type { HostValue, Ty, Value } from "./types.ts";

/**
 * The WebAssembly code of a primitive, with the same bits as `eval` in all cases except for the payload of a NaN. A
 * vector form that is absent is replaced by `scalar` lane by lane.
 */
export interface Emission {
  /** For one value; a `pred` is an i32, 0 or 1. */
  readonly scalar: (...operands: Wasm[]) => Wasm;
  /**
   * For four lanes, in primitives whose types all have 32 bits: each operand is one v128. A `pred` sets all bits of a
   * lane's word, or none.
   */
  readonly quad?: (...operands: Wasm[]) => Wasm;
  /**
   * For two lanes, in primitives with a 64-bit type: an `i64` or `f64` is one v128; an `i32` or `f32` is a v128 with
   * the two lanes in its low half and undefined bits in the high half; a `pred` sets all 64 bits of a lane, or none.
   */
  readonly half?: (...operands: Wasm[]) => Wasm;
}

/**
 * A primitive, the only place where arithmetic is implemented. `eval` is exact, pure and total: it never throws and
 * never depends on the machine. `wasm` is the same for the fast engine.
 */
export interface Prim {
  readonly params: readonly Ty[];
  readonly result: Ty;
  readonly eval: (...args: never[]) => Value;
  readonly wasm: Emission;
}

/** The type of an `eval` with this signature. */
export type Evaluation<P extends readonly Ty[], R extends Ty> = (
  ...args: { [K in keyof P]: HostValue[P[K]] }
) => HostValue[R];

/**
 * Returns one row of a primitive table. The types of `evaluate` follow from the signature; the table does not keep them
 * (callers go by `params`), hence the cast.
 */
export const prim = <const P extends readonly Ty[], R extends Ty>(
  params: P,
  result: R,
  evaluate: Evaluation<P, R>,
  emission: Emission,
): Prim => ({ params, result, eval: evaluate as unknown as Prim["eval"], wasm: emission });

/** An emission that is a single WebAssembly operation for one value, and one for a vector of `width` lanes. */
export const asOps = (scalar: ValueOp, width: "quad" | "half", vector: ValueOp): Emission => ({
  scalar: (...operands) => wasm.op(scalar, ...operands),
  [width]: (...operands: Wasm[]) => wasm.op(vector, ...operands),
});

/** An emission that selects the second or the third operand by the first. */
export const asSelect = (width: "quad" | "half"): Emission => ({
  scalar: (p, a, b) => wasm.select(p!, a!, b!),
  [width]: (p: Wasm, a: Wasm, b: Wasm) => extreme(p, a, b) ?? wasm.blend(p, a, b),
});

/** The lesser or the greater of four integers each, if a selection is that; else null. */
function extreme(p: Wasm, a: Wasm, b: Wasm): Wasm | null {
  const found = p.kind === "op" ? /^i32x4\.(lt|le|gt|ge)_([su])$/.exec(p.op) : null;
  if (p.kind !== "op" || found === null) return null;
  const [x, y] = p.args as [Wasm, Wasm];
  const isStraight = isSameValue(x, a) && isSameValue(y, b);
  if (!isStraight && !(isSameValue(x, b) && isSameValue(y, a))) return null;
  const isLess = /^l/.test(found[1]!);
  return wasm.op(`i32x4.${isLess === isStraight ? "min" : "max"}_${found[2] as "s" | "u"}`, a, b);
}

/** Whether two graphs are the same value, read at the same time. Only small graphs are compared. */
function isSameValue(a: Wasm, b: Wasm, depth = 4): boolean {
  if (a === b) return true;
  if (a.kind === "local") return b.kind === "local" && a.local === b.local;
  if (a.kind === "const") return b.kind === "const" && a.ty === b.ty && isSameConstant(a.value, b.value);
  if (a.kind !== "op" || b.kind !== "op" || depth === 0 || a.op !== b.op) return false;
  const { args, immediates } = b;
  return (
    a.args.every((arg, i) => isSameValue(arg, args[i]!, depth - 1)) &&
    a.immediates.every((immediate, i) => immediate === immediates[i])
  );
}

const isSameConstant = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) || (Array.isArray(a) && Array.isArray(b) && a.join() === b.join());

/** Primitives by name. */
export type PrimTable = Readonly<Record<string, Prim>>;

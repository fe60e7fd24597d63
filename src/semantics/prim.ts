import { type ValueOp, type Wasm, wasm } from "../wasm/index.ts";
import type { HostValue, Ty, Value } from "./types.ts";

/**
 * What a primitive becomes in WebAssembly, with the same bits as `eval` in all cases, a NaN's payload excepted. Vectors that are
 * absent are done lane by lane with `scalar`.
 */
export interface Emission {
  /** On one value; a `pred` is an i32, 0 or 1. */
  readonly scalar: (...operands: Wasm[]) => Wasm;
  /**
   * On four lanes, for primitives whose types all have 32 bits: each operand is one v128. A `pred` has all bits of its
   * lanes' words set, or none.
   */
  readonly quad?: (...operands: Wasm[]) => Wasm;
  /**
   * On two lanes, for primitives with a type of 64 bits: an `i64` or `f64` is one v128, an `i32` or `f32` one with the two
   * lanes in its low half and anything in the high half, a `pred` has all 64 bits of its lanes set, or none.
   */
  readonly half?: (...operands: Wasm[]) => Wasm;
}

/**
 * A primitive: the only place where arithmetic has a realisation. `eval` is exact, pure and total; it never throws and
 * never depends on the machine. Beside it stands what the fast engine makes of it.
 */
export interface Prim {
  readonly params: readonly Ty[];
  readonly result: Ty;
  readonly eval: (...args: never[]) => Value;
  readonly wasm: Emission;
}

/** `eval` as the signature has it. */
export type Evaluation<P extends readonly Ty[], R extends Ty> = (
  ...args: { [K in keyof P]: HostValue[P[K]] }
) => HostValue[R];

/**
 * One row of a primitive table; the types of `evaluate` follow from the signature. The table forgets them again: whoever
 * calls `eval` goes by `params`, hence the cast.
 */
export const prim = <const P extends readonly Ty[], R extends Ty>(
  params: P,
  result: R,
  evaluate: Evaluation<P, R>,
  emission: Emission,
): Prim => ({ params, result, eval: evaluate as unknown as Prim["eval"], wasm: emission });

/** One operation for a value, and one for a vector: `width` says of how many lanes. */
export const asOps = (scalar: ValueOp, width: "quad" | "half", vector: ValueOp): Emission => ({
  scalar: (...operands) => wasm.op(scalar, ...operands),
  [width]: (...operands: Wasm[]) => wasm.op(vector, ...operands),
});

/** The second or the third operand, by the first. */
export const asSelect = (width: "quad" | "half"): Emission => ({
  scalar: (p, a, b) => wasm.select(p!, a!, b!),
  [width]: (p: Wasm, a: Wasm, b: Wasm) => wasm.blend(p, a, b),
});

export type PrimTable = Readonly<Record<string, Prim>>;

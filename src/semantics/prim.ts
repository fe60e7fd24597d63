import type { HostValue, Ty, Value } from "./types.ts";

/**
 * A primitive: the only place where arithmetic has a realisation. `eval` is exact, pure and total; it never throws and
 * never depends on the machine. (The fast engine's wasm emission is to stand beside it, in the same row.)
 */
export interface Prim {
  readonly params: readonly Ty[];
  readonly result: Ty;
  readonly eval: (...args: never[]) => Value;
}

type Hosts<P extends readonly Ty[]> = { [K in keyof P]: HostValue[P[K]] };

/**
 * One row of a primitive table; the types of `evaluate` follow from the signature. The table forgets them again: whoever
 * calls `eval` goes by `params`, hence the cast.
 */
export const prim = <const P extends readonly Ty[], R extends Ty>(
  params: P,
  result: R,
  evaluate: (...args: Hosts<P>) => HostValue[R],
): Prim => ({ params, result, eval: evaluate as unknown as Prim["eval"] });

export type PrimTable = Readonly<Record<string, Prim>>;

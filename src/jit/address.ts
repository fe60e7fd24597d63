import { splitOffset } from "../semantics/bind.ts";
import type { Expr } from "../semantics/index.ts";
import { wasm } from "../wasm/index.ts";
import type { Chunk } from "./chunk.ts";
import type { Vector } from "./value.ts";

/** An address as a base and bytes that are added to it, in the width of the address. */
export interface Address {
  readonly base: Expr;
  readonly offset: number;
}

const farthest = 2 ** 31;

export function addressOf(expr: Expr): Address {
  const { base, offset } = splitOffset(expr);
  const bytes = Number(offset);
  if (base === null || Math.abs(bytes) >= farthest) return { base: expr, offset: 0 };
  return { base, offset: bytes };
}

/** The addresses of all lanes as numbers of 64 bits. */
export function fullAddresses(chunk: Chunk, expr: Expr): Vector {
  const all = chunk.vector(expr);
  if (all.ty === "i64") return all;
  return {
    kind: "vector",
    ty: "i64",
    quads: all.quads.map(([q]) => [wasm.op("i64x2.extend_low_i32x4_u", q!), wasm.op("i64x2.extend_high_i32x4_u", q!)]),
  };
}

import type { Expr } from "../../../semantics/index.ts";
import { wasm } from "../../../wasm/index.ts";
import type { Vector } from "../lanes/value.ts";
import type { Chunk } from "./chunk.ts";

/** The addresses of all lanes, extended to 64 bits. */
export function fullAddresses(chunk: Chunk, expr: Expr): Vector {
  const all = chunk.vector(expr);
  if (all.ty === "i64") return all;
  return {
    kind: "vector",
    ty: "i64",
    quads: all.quads.map(([q]) => [wasm.op("i64x2.extend_low_i32x4_u", q!), wasm.op("i64x2.extend_high_i32x4_u", q!)]),
  };
}

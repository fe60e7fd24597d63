import type { Expr } from "../../../semantics/index.ts";
import type { RowSteps } from "../../../ir/uniformity/shape.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Value } from "../lanes/value.ts";

type Word = "i32" | "i64";

/**
 * A value with the shape of an expression, whose parts are operands without meaning. Code made of it shows what the
 * shape requires, but must not be written.
 */
export function placeholder({ quads, analysis }: Chunk, expr: Expr): Value {
  const ty = expr.ty === "i64" ? "i64" : "i32";
  const shape = analysis.shape(expr);
  switch (shape.kind) {
    case "uniform":
      return { kind: "uniform", ty, scalar: wasm.operand(ty, 0) };
    case "affine":
      return affine(ty, shape.stride);
    case "indexed": {
      const { scale, signed, stride, rows } = shape;
      const index = rows ? inRows("i32", rows, quads) : stride === null ? vector("i32", quads) : affine("i32", stride);
      return { kind: "indexed", ty: "i64", base: wasm.operand("i64", 0), index, scale, signed };
    }
    case "rows":
      return inRows(ty, shape.rows, quads);
    case "vector":
      return vector(ty, quads);
  }
}

const affine = (ty: Word, stride: number): Value => ({ kind: "affine", ty, base: wasm.operand(ty, 0), stride });

const inRows = (ty: Word, { x, length }: RowSteps, quads: number): Value => ({
  ...{ kind: "rows", ty, stride: x, length },
  bases: new Array<Wasm>((4 * quads) / length).fill(wasm.operand(ty, 0)),
});

function vector(ty: Word, quads: number): Value {
  const quad = new Array(ty === "i64" ? 2 : 1).fill(wasm.operand("v128", 0));
  return { kind: "vector", ty, quads: new Array(quads).fill(quad) };
}

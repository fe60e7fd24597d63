import type { Expr } from "../../../../semantics/index.ts";
import type { Invariants } from "./invariant-code.ts";
import type { LeafExpr } from "../../../../ir/uniformity/linear-form.ts";
import { LaneQuestion } from "../../../../ir/uniformity/lane-question.ts";
import { affine, isLinear, type Shape, uniform, vector } from "../../../../ir/uniformity/shape.ts";
import { isSameInBlock } from "./special-registers.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/**
 * How a value that is computed before a chunk begins changes along a block that is one row, from chunk to chunk: not at
 * all, by its stride from lane to lane, which goes on beyond the chunk's last lane, or unpredictably.
 */
export type RowStride = "same" | "linear" | "unknown";

/**
 * Returns the stride along the row of expressions over registers and special registers. `isShared`: whether all chunks
 * share the value of a register.
 *
 * In a one-row block lane l of the chunk that begins with thread f is thread f + l: the lanes of all chunks continue
 * one axis. So this is the question of shapes about lanes of the whole row. It differs in its leaves. Only what is the
 * same in the whole block is uniform; and thread numbers, which do not begin with a multiple of the row's length, have
 * no `width`: `tid.x >> 5` is uniform in a chunk, but not along the row.
 */
export function rowStridesOf(
  analysis: UniformityAnalysis,
  invariants: Invariants,
  isShared: (register: number) => boolean,
): (expr: Expr) => RowStride {
  const known = new Map<number, Shape>();
  const question = new RowQuestion({
    register: (r) => known.get(r) ?? (isShared(r) ? uniform : vector),
    special: (leaf) => {
      if (leaf.name === "tid.x") return analysis.shape(leaf).kind === "affine" ? affine(1) : vector;
      return isSameInBlock(leaf.name) ? uniform : vector;
    },
  });
  const note = (list: readonly number[], shapeOf: (value: Expr | null) => Shape): void => {
    for (const i of list) {
      const { op, dst } = analysis.code.instructions[i]!;
      dst.forEach((to, k) => {
        if (typeof to === "number") known.set(to, shapeOf(op.kind === "pure" ? op.values[k]! : null));
      });
    }
  };
  note([...invariants.grid, ...invariants.block], () => uniform);
  note(invariants.chunk, (value) => (value === null ? vector : question.of(value)!));
  return (expr) => {
    const shape = question.of(expr)!;
    return shape.kind === "uniform" ? "same" : isLinear(shape) ? "linear" : "unknown";
  };
}

class RowQuestion extends LaneQuestion {
  protected override leaf(expr: LeafExpr): Shape | null {
    // What lies in a byte file is one hardware thread's.
    return expr.kind === "const" || expr.kind === "reg" || expr.kind === "special" ? super.leaf(expr) : vector;
  }
}

/** Whether the value of a predicate is known along the row. `predicates`: by register, what predicates are. */
export function isKnown(
  expr: Expr,
  predicates: ReadonlyMap<number, Expr>,
  strideOf: (expr: Expr) => RowStride,
): boolean {
  if (expr.ty !== "pred") return strideOf(expr) !== "unknown";
  if (expr.kind === "reg") {
    const known = predicates.get(expr.reg);
    return known === undefined ? strideOf(expr) === "same" : isKnown(known, predicates, strideOf);
  }
  return (
    expr.kind === "const" || (expr.kind === "prim" && expr.args.every((arg) => isKnown(arg, predicates, strideOf)))
  );
}

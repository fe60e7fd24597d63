import type { Arrangement, Destination, MatrixProduct } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import type { Step } from "../define.ts";

/** `.sync.aligned`: all lanes of the warp come to the instruction first. */
export const align: Step = {
  op: { kind: "warp", mask: kit.i32(-1), warp: { op: "align", operands: [] }, aligned: true },
  dst: [],
};

/** The lanes exchange parts of their registers. After `align`: it takes the lanes that are here. */
export const arrange = (operands: readonly Expr[], arrangement: Arrangement): Step => ({
  op: { kind: "warp", mask: null, warp: { op: "arrange", operands, arrangement }, aligned: true },
});

/**
 * The lanes multiply matrices. After `align`. `dst`: the registers of D; the destinations of the instruction by
 * default.
 */
export const multiply = (operands: readonly Expr[], product: MatrixProduct, dst?: readonly Destination[]): Step => ({
  op: { kind: "warp", mask: null, warp: { op: "multiply", operands, product }, aligned: true },
  ...(dst && { dst }),
});

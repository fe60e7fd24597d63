import { type Expr, ExprResults, kit, mapChanged, rewriteLeaves, type SpecialName } from "../../semantics/index.ts";
import type { IrFunction } from "../module.ts";
import { mapOperands } from "../operands.ts";

/** Blocks that lie side by side in a larger one. */
interface SideBySide {
  /** How many of them: neighbours along x. */
  readonly blocks: number;
  /** The direction in which they lie: x, y or z. In it, and in those after it, each is one thread deep. */
  readonly along: 0 | 1 | 2;
  /** Threads of a row of each. Each is less than a warp. */
  readonly width: number;
  /** Bytes from a shared variable of one block to that of the next. */
  readonly stride: number;
  readonly isShared: (variable: string) => boolean;
}

const directions = ["x", "y", "z"] as const;

/**
 * A kernel whose blocks hold several of its own: the thread's number along `along` says in which of them it is, and
 * each of them has its shared variables at a place of its own.
 */
export function sideBySide(kernel: IrFunction, { blocks, along, width, stride, isShared }: SideBySide): IrFunction {
  const thread = (direction: (typeof directions)[number]): Expr => ({
    kind: "special",
    ty: "i32",
    name: `tid.${direction}`,
  });
  const direction = directions[along];
  const number = thread(direction);
  const row = along === 2 ? kit.mul(thread("y"), kit.i32(width)) : kit.i32(0);
  const lane = along === 0 ? row : kit.add(row, thread("x"));
  const beyond = kit.mul(number, kit.i32(stride));
  const memo = new ExprResults<Expr>();
  const leaf = (expr: Expr): Expr => {
    if (expr.kind === "symbol" && isShared(expr.symbol)) {
      return kit.add(expr, expr.ty === "i64" ? kit.widen(beyond, false) : beyond);
    }
    if (expr.kind !== "special") return expr;
    switch (expr.name satisfies SpecialName) {
      case "ctaid.x":
        return kit.add(kit.mul(expr, kit.i32(blocks)), number);
      case "nctaid.x":
        return kit.mul(expr, kit.i32(blocks));
      case `tid.${direction}`:
        return kit.i32(0);
      case `ntid.${direction}`:
        return kit.i32(1);
      case "laneid":
        return lane;
      default:
        return expr;
    }
  };
  const rewrite = (expr: Expr): Expr => rewriteLeaves(expr, leaf, memo);
  return { ...kernel, instructions: mapChanged(kernel.instructions, (i) => mapOperands(i, rewrite)) };
}

import { mapOperands } from "../../../../ir/operands.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";
import { maxIndexedBlocks, maxThreads } from "../../../abi/launch-shape.ts";

type PrimExpr = Extract<Expr, { kind: "prim" }>;

/**
 * The instructions without the signs of thread numbers and global indices, which are 0. Compilers divide them, which
 * are of type `int` in most programs, by a power of two as any signed number: they add the sign's bits first. Without
 * them the quotient is seen to be the same in all lanes of a warp. `isValue`: whether a register of 32 bits is written
 * by one instruction, before it is read. `isIndexed`: whether the grid has so few blocks that global indices have no
 * sign.
 */
export function withoutThreadSigns(
  instructions: readonly Instruction[],
  isValue: (register: number) => boolean,
  isIndexed: boolean,
): readonly Instruction[] {
  const bounds = new ThreadBounds(isIndexed);
  return instructions.map((instruction) => {
    const { op, dst, guard, lanes } = instruction;
    if (op.kind !== "pure" || guard !== null || lanes !== undefined) return instruction;
    op.values.forEach((value, i) => {
      const to = dst[i];
      if (typeof to === "number" && isValue(to)) bounds.note(to, value);
    });
    return op.values.some(dependsOnSign) ? mapOperands(instruction, (expr) => bounds.withoutSign(expr)) : instruction;
  });
}

/** Finds what is never negative of all that is computed from the numbers of threads and blocks, and its maximum. */
class ThreadBounds {
  readonly #isIndexed: boolean;
  readonly #registers = new Map<number, { readonly max: number; readonly isConstant: boolean }>();

  constructor(isIndexed: boolean) {
    this.#isIndexed = isIndexed;
  }

  note(register: number, value: Expr): void {
    const max = this.#maxOf(value);
    if (max !== null) this.#registers.set(register, { max, isConstant: value.kind === "const" });
  }

  /** An operation in which a sign matters, without it. */
  withoutSign(expr: Expr): Expr {
    if (!dependsOnSign(expr)) return expr;
    const [value, by] = expr.args as readonly [Expr, Expr];
    const max = this.#maxOf(value);
    const count = this.#constantOf(by);
    if (max === null || count === null) return expr;
    if (expr.prim === "i32.shr_s") return count < 32 && max < 2 ** count ? kit.i32(0) : expr;
    if (!isPower(count)) return expr;
    return expr.prim === "i32.rem_s"
      ? kit.and(value, kit.i32(count - 1))
      : kit.shr(value, kit.i32(Math.log2(count)), false);
  }

  /** The most that an i32 can be which is never negative; null where nothing is known. */
  #maxOf(expr: Expr): number | null {
    if (expr.ty !== "i32") return null;
    if (expr.kind === "reg") return this.#registers.get(expr.reg)?.max ?? null;
    if (expr.kind === "special") return this.#maxOfSpecial(expr.name);
    if (expr.kind !== "prim") return constantOf(expr);
    const max = this.#maxOfResult(expr);
    return max !== null && max < 2 ** 31 ? max : null;
  }

  #maxOfResult({ prim, args }: PrimExpr): number | null {
    switch (prim) {
      case "i32.add":
      case "i32.mul": {
        const [a, b] = [this.#maxOf(args[0]!), this.#maxOf(args[1]!)];
        if (a === null || b === null) return null;
        return prim === "i32.add" ? a + b : a * b;
      }
      case "i32.shl": {
        const [max, count] = [this.#maxOf(args[0]!), this.#constantOf(args[1]!)];
        return max === null || count === null || count >= 32 ? null : max * 2 ** count;
      }
      default:
        return null;
    }
  }

  /** The value of a constant that is not negative, also one in a register; null for anything else. */
  #constantOf(expr: Expr): number | null {
    if (expr.kind !== "reg") return constantOf(expr);
    const known = this.#registers.get(expr.reg);
    return known?.isConstant === true ? known.max : null;
  }

  #maxOfSpecial(name: string): number | null {
    if (threadNumbers.has(name)) return maxThreads - 1;
    if (!this.#isIndexed) return null;
    return blockNumbers.has(name) ? maxIndexedBlocks - 1 : blockSizes.has(name) ? maxThreads : null;
  }
}

const threadNumbers: ReadonlySet<string> = new Set(["tid.x", "tid.y", "tid.z"]);
const blockNumbers: ReadonlySet<string> = new Set(["ctaid.x", "ctaid.y", "ctaid.z"]);
const blockSizes: ReadonlySet<string> = new Set(["ntid.x", "ntid.y", "ntid.z"]);

/** Whether the result may depend on the sign of the first operand. */
const dependsOnSign = (expr: Expr): expr is PrimExpr =>
  expr.kind === "prim" && (expr.prim === "i32.shr_s" || expr.prim === "i32.div_s" || expr.prim === "i32.rem_s");

/** The value of a constant that is not negative; null for anything else. */
const constantOf = (expr: Expr): number | null =>
  expr.kind === "const" && typeof expr.value === "number" && expr.value >= 0 ? expr.value : null;

const isPower = (value: number): boolean => value > 0 && (value & (value - 1)) === 0;

import { mapOperands } from "../../../../ir/operands.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";
import { maxThreads } from "../../../abi/launch-shape.ts";

/**
 * The instructions without the signs of thread numbers, which are 0. Compilers divide `threadIdx.x`, an `int` to most
 * programs, by a power of two as any signed number: they add the sign's bits first. Without them the quotient is seen
 * to be the same in all lanes of a warp. `once`: whether a register is written by one instruction, before it is read.
 */
export function withoutThreadSigns(
  instructions: readonly Instruction[],
  once: (register: number) => boolean,
): readonly Instruction[] {
  const numbers = new Set<number>();
  const isNumber = (expr: Expr): boolean =>
    (expr.kind === "special" && threadNumbers.has(expr.name)) || (expr.kind === "reg" && numbers.has(expr.reg));
  const withoutSign = (expr: Expr): Expr => (isSign(expr) && isNumber(expr.args[0]!) ? kit.i32(0) : expr);
  return instructions.map((instruction) => {
    const { op, dst, guard, lanes } = instruction;
    if (op.kind !== "pure" || guard !== null || lanes !== undefined) return instruction;
    op.values.forEach((value, i) => {
      const to = dst[i];
      if (typeof to === "number" && isNumber(value) && once(to)) numbers.add(to);
    });
    return op.values.some((value) => isSign(value)) ? mapOperands(instruction, withoutSign) : instruction;
  });
}

const threadNumbers: ReadonlySet<string> = new Set(["tid.x", "tid.y", "tid.z"]);

/** Whether of a number below `maxThreads` only sign bits would be left. */
const isSign = (expr: Expr): expr is Extract<Expr, { kind: "prim" }> => {
  if (expr.kind !== "prim" || expr.prim !== "i32.shr_s") return false;
  const [, by] = expr.args;
  return by?.kind === "const" && Number(by.value) < 32 && 2 ** Number(by.value) >= maxThreads;
};

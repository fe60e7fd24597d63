import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/** By register, the value that an instruction gives it in all lanes. `isOnce`: registers that it alone writes. */
export function singleValuesOf(
  instructions: readonly Instruction[],
  isOnce: (register: number) => boolean,
): ReadonlyMap<number, Expr> {
  const values = new Map<number, Expr>();
  for (const { op, dst, guard, lanes } of instructions) {
    if (op.kind !== "pure" || guard !== null || lanes !== undefined) continue;
    dst.forEach((to, i) => {
      if (typeof to === "number" && isOnce(to)) values.set(to, op.values[i]!);
    });
  }
  return values;
}

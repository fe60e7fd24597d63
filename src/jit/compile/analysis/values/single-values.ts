import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";

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

/** The same for all registers that one instruction writes, before they are read. */
export function soleValuesOf({ instructions, writes, liveness }: PreparedCode): ReadonlyMap<number, Expr> {
  const readFirst = liveness.liveIn(0);
  return singleValuesOf(instructions, (r) => writes[r] === 1 && !readFirst.has(r));
}

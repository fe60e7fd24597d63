import { readsOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction, Op } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/**
 * Comparisons that processors have as vector instructions, by those of which they have only the opposite: x86 compares
 * vectors of integers for "greater than" with signs, and finds what is "at most" without signs as a minimum that equals
 * the operand.
 */
const opposites: ReadonlyMap<string, "i32.lt_s" | "i64.lt_s" | "i32.le_u"> = new Map([
  ["i32.le_s", "i32.lt_s"],
  ["i64.le_s", "i64.lt_s"],
  ["i32.lt_u", "i32.le_u"],
] as const);

/** Operations whose guards say which lanes go elsewhere. */
const moves: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>(["branch", "return", "exit"]);

/**
 * Replaces comparisons by their opposites where these take fewer instructions, for predicates that nothing but guards
 * of branches ask for: a branch asks both for the lanes that take it and for those that do not. `isValue`: whether a
 * register is written by one instruction, before it is read, and read by instructions alone.
 */
export function comparisonsForGuards(
  instructions: readonly Instruction[],
  isValue: (register: number) => boolean,
): readonly Instruction[] {
  const replaced = new Map<number, { readonly instruction: number; readonly value: Expr }>();
  instructions.forEach(({ op, dst: [to], guard, lanes }, i) => {
    if (op.kind !== "pure" || op.values.length !== 1 || guard !== null || lanes !== undefined) return;
    const value = oppositeOf(op.values[0]!);
    if (value !== null && typeof to === "number" && isValue(to)) replaced.set(to, { instruction: i, value });
  });
  if (replaced.size === 0) return instructions;
  for (const instruction of instructions) {
    const { op, guard } = instruction;
    const asked = moves.has(op.kind) && guard?.collapse === undefined ? guard?.register : undefined;
    readsOf(instruction, { register: (r) => r === asked || replaced.delete(r) });
  }
  const values = new Map([...replaced.values()].map(({ instruction, value }) => [instruction, value]));
  return instructions.map((instruction, i) => {
    const { op, guard } = instruction;
    const value = values.get(i);
    if (value !== undefined && op.kind === "pure") return { ...instruction, op: { ...op, values: [value] } };
    if (guard === null || !replaced.has(guard.register)) return instruction;
    return { ...instruction, guard: { ...guard, negate: !guard.negate } };
  });
}

function oppositeOf(value: Expr): Expr | null {
  if (value.kind !== "prim") return null;
  const prim = opposites.get(value.prim);
  const [a, b] = value.args;
  return prim === undefined ? null : { ...value, prim, args: [b!, a!] };
}

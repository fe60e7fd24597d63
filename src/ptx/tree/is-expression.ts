import type { Expression, Operand } from "./nodes.ts";

/** The kinds of operands that are not expressions. */
const otherKinds: ReadonlySet<Operand["kind"]> = new Set([
  "negated",
  "vector",
  "address",
  "indexed",
  "pair",
  "list",
  "sink",
  "bad",
] as const satisfies readonly Exclude<Operand, Expression>["kind"][]);

/** Whether an operand is an expression: a literal, a name, or operators on these. */
export const isExpression = (operand: Operand): operand is Expression => !otherKinds.has(operand.kind);

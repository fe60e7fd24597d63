import { laneAddressOf, type OpOf } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { type Associative, operationOf } from "../lanes/lane-fold.ts";
import { hasOld } from "./read-modify-write.ts";

/** What all lanes do to one word, as one update with the operation's result over their operands. */
export interface FoldedUpdate {
  readonly operation: Associative;
  readonly operand: Expr;
}

/**
 * The update of a word that all lanes of a chunk have in common, if nobody learns what it held between their turns:
 * sums of integers, bits, minima and maxima do not depend on the order. Null for others.
 */
export function foldedUpdate(chunk: Chunk, op: OpOf<"atomic">): FoldedUpdate | null {
  const { access, combine, results, problem, arrivals, place } = op;
  const [expr] = combine;
  if (access.bits !== 32 || combine.length !== 1 || expr!.ty !== "i32" || chunk.lanes === 1) return null;
  if (results !== undefined || problem !== undefined || arrivals !== undefined) return null;
  if (chunk.analysis.shape(laneAddressOf(place)).kind !== "uniform") return null;
  let operand: Expr | null = null;
  const isOld = (e: Expr): boolean => e.kind === "old";
  const isOperand = (e: Expr): boolean => {
    if (hasOld(e)) return false;
    operand ??= e;
    return e === operand;
  };
  const operation = operationOf(expr!, isOld, isOperand) ?? operationOf(expr!, isOperand, isOld);
  return operation === null || operand === null ? null : { operation, operand };
}

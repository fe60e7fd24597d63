import { type Expr, ExprResults, rewriteLeaves } from "../semantics/index.ts";
import type { Destination, Instruction, Op } from "./instruction.ts";
import { mapOperands } from "./operands.ts";

type Rename = (register: number) => number;

/**
 * Returns a function that replaces the registers that an instruction reads and is guarded by, and (with `written`)
 * writes.
 */
export function renaming(rename: Rename, written = rename): (instruction: Instruction) => Instruction {
  const memo = new ExprResults<Expr>();
  const leaf = (expr: Expr): Expr => {
    if (expr.kind !== "reg" && expr.kind !== "lane-word") return expr;
    const reg = rename(expr.reg);
    return reg === expr.reg ? expr : { ...expr, reg };
  };
  const rewrite = (expr: Expr): Expr => rewriteLeaves(expr, leaf, memo);
  const renameTo = (to: Destination): Destination => {
    if (typeof to === "number") return written(to);
    return to?.kind === "indirect" ? { ...to, address: rewrite(to.address) } : to;
  };
  return (instruction) => {
    const mapped = mapOperands(instruction, rewrite);
    const { guard } = mapped;
    return {
      ...mapped,
      guard: guard && { ...guard, register: rename(guard.register) },
      op: renameResults(mapped.op, written),
      dst: mapped.dst.map(renameTo),
    };
  };
}

function renameResults(op: Op, rename: Rename): Op {
  if (op.kind !== "call") return op;
  return {
    ...op,
    results: op.results.map((r) => (r.kind === "register" ? { ...r, registers: r.registers.map(rename) } : r)),
  };
}

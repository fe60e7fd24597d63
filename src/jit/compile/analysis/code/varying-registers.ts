import { operandsOf, registersWritten } from "../../../../ir/flow/accesses.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/**
 * The registers that threads of a warp are likely to have different values in, as these depend on the threads'
 * numbers, or on memory at places that do. Numbers of warps, or of rows of a block, do not count. Nothing but speed may
 * depend on it: which instructions threads execute is not looked at.
 */
export function varyingRegisters({ instructions }: IrFunction): ReadonlySet<number> {
  const varying = new Set<number>();
  for (let before = -1; before !== varying.size; ) {
    before = varying.size;
    for (const instruction of instructions) {
      if (isVarying(instruction, varying)) for (const r of registersWritten(instruction)) varying.add(r);
    }
  }
  return varying;
}

function isVarying({ op, guard }: Instruction, varying: ReadonlySet<number>): boolean {
  if (op.kind !== "pure" && op.kind !== "load") return true;
  return (guard !== null && varying.has(guard.register)) || operandsOf(op).some((expr) => varies(expr, varying));
}

function varies(expr: Expr, varying: ReadonlySet<number>): boolean {
  if (expr.kind === "reg") return varying.has(expr.reg);
  if (expr.kind === "special") return expr.name === "tid.x" || expr.name === "laneid";
  return expr.kind === "prim" && !isOfWarp(expr) && expr.args.some((arg) => varies(arg, varying));
}

/** A thread's number by that of threads in a warp. */
const isOfWarp = ({ prim, args: [, by] }: Extract<Expr, { kind: "prim" }>): boolean =>
  (prim === "i32.shr_u" || prim === "i32.shr_s") && by?.kind === "const" && Number(by.value) === 5;

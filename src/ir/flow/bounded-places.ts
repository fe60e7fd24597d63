import { type Expr, type IndirectLeaf, kit, mapChanged, onceForEach } from "../../semantics/index.ts";
import type { FileVariable } from "../byte-file.ts";
import type { Instruction, UndefinedCase } from "../instruction.ts";
import type { IrFunction } from "../module.ts";
import { mapOperands, operandsOf } from "../operands.ts";
import { ComputedVariables } from "./computed-variables.ts";

/** The report of an element that does not lie in the variable whose address was taken for it. */
const code = "register-out-of-bounds";

/**
 * Lets elements that are read at computed places of the byte file lie in their variable, where it is known which that
 * is: beyond it there are zeros. What lies in the file besides depends on which variables an engine keeps there.
 */
export function withBoundedPlaces(ir: IrFunction): IrFunction {
  const variables = new ComputedVariables(ir);
  const instructions = mapChanged(ir.instructions, (instruction) => bounded(instruction, variables));
  return instructions === ir.instructions ? ir : { ...ir, instructions };
}

function bounded(instruction: Instruction, variables: ComputedVariables): Instruction {
  if (!operandsOf(instruction.op).some(hasComputedPlace)) return instruction;
  const outside: UndefinedCase[] = [];
  let hasUnknown = instruction.dst.some((to) => to !== null && typeof to === "object" && to.kind === "indirect");
  const rewrite = onceForEach<Expr>((expr, rewrite) => {
    if (expr.kind !== "prim" && expr.kind !== "indirect") return expr;
    if (expr.kind === "prim") {
      const args = mapChanged(expr.args, rewrite);
      return args === expr.args ? expr : { ...expr, args };
    }
    const variable = variables.of(expr);
    hasUnknown ||= variable === null;
    if (variable === null) return expr;
    const isInside = insideOf(variable, expr);
    outside.push({ code, when: kit.not(isInside) });
    return kit.select(isInside, expr, kit.bitcast(expr.bits === 64 ? kit.i64(0n) : kit.i32(0), expr.ty));
  });
  const { undefinedCases } = instruction;
  const read = mapOperands({ ...instruction, undefinedCases: [] }, rewrite);
  if (outside.length === 0) return instruction;
  // Where all are known, the variable is known more exactly than by what addresses could be.
  const others = hasUnknown ? undefinedCases : undefinedCases.filter((undefined_) => undefined_.code !== code);
  return { ...read, undefinedCases: [...others, ...outside] };
}

const hasComputedPlace = (expr: Expr): boolean =>
  expr.kind === "indirect" || (expr.kind === "prim" && expr.args.some(hasComputedPlace));

/** Whether an element lies within a variable. */
const insideOf = ({ at, bytes }: FileVariable, { address, bits }: IndirectLeaf): Expr =>
  kit.le(kit.sub(address, kit.i32(at)), kit.i32(bytes - bits / 8), false);

import type { UndefinedCase } from "../../ir/index.ts";
import type { Expr } from "../../semantics/index.ts";
import type { ExecSize, Instruction, Operand } from "../tree.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { once } from "../instruction-operands.ts";
import { destination, source, type Target } from "./operands.ts";
import { type ModifiedSource, modifierOf } from "./promotion.ts";

/** An instruction that cannot be executed, for a reason that refused launches report. */
export const unsupported = ({ mnemonic }: Instruction, reason: string): Lowered => ({
  op: { kind: "unsupported", what: mnemonic.text, reason },
  dst: [],
});

/** The operands of an instruction that works channel by channel. */
export interface Operands {
  readonly exec: ExecSize;
  readonly dst: Target;
  readonly sources: readonly ModifiedSource[];
  readonly undefinedCases: readonly UndefinedCase[];
}

export function readOperands(context: LowerContext, { operands, exec }: Instruction): Operands {
  const size = exec ?? once;
  const dst = destination(context, operands["dst"]!, size);
  const sources = sourceOperands(operands).map((operand) => modified(context, operand, size));
  let { undefinedCases } = dst;
  for (const { undefinedCases: more } of sources) {
    if (more.length > 0) undefinedCases = [...undefinedCases, ...more];
  }
  return { exec: size, dst, sources, undefinedCases };
}

const sourceNames = ["src0", "src1", "src2", "src3"];

export function sourceOperands(operands: Instruction["operands"]): readonly Operand[] {
  const found: Operand[] = [];
  for (const name of sourceNames) {
    const operand = operands[name];
    if (operand !== undefined) found.push(operand);
  }
  return found;
}

function modified(context: LowerContext, operand: Operand, exec: ExecSize): ModifiedSource {
  const { expr, type, undefinedCases } = source(context, operand, exec);
  return { expr, type, undefinedCases, modifier: modifierOf(operand) };
}

/** A computation with one result per channel. */
export const pure = (value: Expr, dst: Target, undefinedCases: readonly UndefinedCase[]): readonly Lowered[] => [
  { op: { kind: "pure", values: [value] }, dst: [dst.to], undefinedCases },
];

/**
 * Lowers an instruction whose row has no semantics of its own; returns null if it is not modelled with these operands.
 */
export type LowerSpecial = (context: LowerContext, instruction: Instruction) => readonly Lowered[] | null;

import { type Expr, kit as k } from "../../semantics/index.ts";
import type { FloatArithmetic } from "../isa/execution.ts";
import type { ExecSize, Operand } from "../tree.ts";
import type { LowerContext } from "./context.ts";
import { storedFloat, storedInteger } from "./conversion.ts";
import { floatArithmetic } from "./float-arithmetic.ts";
import { type LowerSpecial, pure, readOperands } from "./channel-operands.ts";
import { component, elements } from "./operands.ts";
import { modifierOf, promoted, promotedFloat } from "./promotion.ts";

/**
 * Components of an operand for channels that work in groups: fours in `dp4`, pairs in `sad2`. Null if the operand does
 * not allow it.
 */
function components(
  context: LowerContext,
  operand: Operand,
  exec: ExecSize,
  group: number,
  promote: typeof promoted | typeof promotedFloat,
): readonly Expr[] | null {
  const modifier = modifierOf(operand);
  const list = Array.from({ length: group }, (_, index) => component(context, operand, exec, group, index));
  if (list.includes(null)) return null;
  return list.map((s) =>
    promote === promotedFloat ? promotedFloat({ ...s!, modifier }, "f32") : promoted({ ...s!, modifier }, "i32"),
  );
}

/** `dp2`, `dp3`, `dp4`, `dph`: all four channels of a group get the dot product. */
export const dotProduct: LowerSpecial = (context, instruction) => {
  const { exec, dst, undefinedCases } = readOperands(context, instruction);
  const { src0, src1 } = instruction.operands;
  const a = components(context, src0!, exec, 4, promotedFloat);
  const b = components(context, src1!, exec, 4, promotedFloat);
  if (a === null || b === null || dst.type !== "f") return null;
  const f = floatArithmetic.f32;
  const value = dots[instruction.row.name]!(f, a, b);
  return pure(storedFloat(value, dst.type, instruction.saturate), dst, undefinedCases);
};

type Dot = (f: FloatArithmetic, a: readonly Expr[], b: readonly Expr[]) => Expr;

const firstOf =
  (count: number): Dot =>
  (f, a, b) =>
    a.slice(1, count).reduce((sum, x, i) => f.fma(x, b[i + 1]!, sum), f.mul(a[0]!, b[0]!));

const dots: Readonly<Record<string, Dot>> = {
  DP2: firstOf(2),
  DP3: firstOf(3),
  DP4: firstOf(4),
  DPH: (f, a, b) => f.add(firstOf(3)(f, a, b), b[3]!),
};

/** `line`: p * src1 + q, where p and q are elements 0 and 3 from the start of src0. */
export const line: LowerSpecial = (context, instruction) => {
  const { exec, dst, sources, undefinedCases } = readOperands(context, instruction);
  const { src0 } = instruction.operands;
  const [p, q] = [0, 3].map((index) => elements(context, src0, exec, index));
  if (!p || !q || [p, sources[1]!, dst].some(({ type }) => type !== "f")) return null;
  const modifier = modifierOf(src0!);
  const [slope, offset] = [p, q].map((s) => promotedFloat({ ...s, modifier }, "f32"));
  const value = floatArithmetic.f32.fma(slope!, promotedFloat(sources[1]!, "f32"), offset!);
  return pure(storedFloat(value, "f", instruction.saturate), dst, undefinedCases);
};

/** `plane`: p * u + q * v + r. src1 has u for eight channels, then v for them, then both for the next eight. */
export const plane: LowerSpecial = (context, instruction) => {
  const { exec, dst, undefinedCases } = readOperands(context, instruction);
  const { src0, src1 } = instruction.operands;
  const rows = { vertical: 16, width: 8, horizontal: 1 };
  const parts = [
    ...[0, 1, 3].map((index) => elements(context, src0, exec, index)),
    ...[0, 8].map((index) => elements(context, src1, exec, index, rows)),
  ];
  if (dst.type !== "f" || parts.some((part) => part?.type !== "f")) return null;
  const [p, q, r, u, v] = parts.map((part) => part!.expr) as [Expr, Expr, Expr, Expr, Expr];
  const f = floatArithmetic.f32;
  return pure(storedFloat(f.fma(p, u, f.fma(q, v, r)), "f", instruction.saturate), dst, undefinedCases);
};

/** `sad2` and `sad2add`. Both channels of a pair get the sum; the second one's result is undefined. */
export const absoluteDifferences: LowerSpecial = (context, instruction) => {
  const { exec, dst, sources, undefinedCases } = readOperands(context, instruction);
  const { src0, src1 } = instruction.operands;
  const a = components(context, src0!, exec, 2, promoted);
  const b = components(context, src1!, exec, 2, promoted);
  if (a === null || b === null) return null;
  const [first, second] = a.map((x, i) => k.abs(k.sub(x, b[i]!))) as [Expr, Expr];
  const sum = k.add(first, second);
  const value = sources[2] === undefined ? sum : k.add(sum, promoted(sources[2], "i32"));
  return pure(storedInteger(value, true, dst.type, instruction.saturate), dst, undefinedCases);
};

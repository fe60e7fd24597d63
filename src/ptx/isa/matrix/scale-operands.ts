import type { BlockScales, ScaleSelector } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { OperandAccess } from "../define.ts";

/** The scales of a product and their operands, which the instruction calls scaleA, selectA, scaleB and selectB. */
export function scaleOperandsOf(
  { format, blocks }: Pick<BlockScales, "format" | "blocks">,
  ops: OperandAccess,
): { readonly scales: BlockScales; readonly operands: readonly Expr[] } {
  const operands: Expr[] = [];
  const selector = (of: "A" | "B"): ScaleSelector => {
    operands.push(...ops.vector(`scale${of}`));
    const [byte, thread] = ops.vector(`select${of}`).map((expr) => {
      if (expr.kind === "const") return Number(expr.value);
      operands.push(expr);
      return null;
    });
    return { byte: byte!, thread: thread! };
  };
  return { scales: { format, blocks, a: selector("A"), b: selector("B") }, operands };
}

import { isExpression } from "../tree/is-expression.ts";
import type { IndexedOperand, Operand } from "../tree/nodes.ts";
import { baseName, isNameWithOffset } from "./name-with-offset.ts";
import { constantClass } from "./immediate.ts";
import { type Mismatch, mismatch, typeName } from "./operand-mismatch.ts";

/** Why `a[4]` or `a[r+1]` is not an element of an array (6.4.2), or null if it is. */
export function elementMismatch({ base, index }: IndexedOperand): Mismatch | null {
  if (base.kind !== "name") return mismatch("operand-kind", base, "an element is one of a variable");
  const { symbol } = base;
  if (symbol === null) return null;
  if ((symbol.kind !== "variable" && symbol.kind !== "parameter") || symbol.dimensions.length === 0) {
    return mismatch("operand-kind", base, `'${base.text}' is not an array`);
  }
  return indexMismatch(index);
}

function indexMismatch(index: Operand): Mismatch | null {
  const shape = "an index is an integer, or a register with an offset";
  if (index.kind === "bad") return null;
  if (!isExpression(index)) return mismatch("operand-kind", index, shape);
  const kind = constantClass(index);
  if (kind === "integer") return null;
  const name = kind === "address" && isNameWithOffset(index) ? baseName(index) : null;
  if (name === null) return mismatch("operand-kind", index, shape);
  const { symbol } = name;
  if (symbol?.kind !== "register") return symbol === null ? null : mismatch("operand-kind", index, shape);
  const { type } = symbol;
  return type.kind === "f" || type.kind === "pred" || type.bits > 64
    ? mismatch("operand-type", name, `an index cannot be a ${typeName(type)} register`)
    : null;
}

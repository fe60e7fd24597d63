import { evaluateConstant } from "../check/constant.ts";
import type { Expression, NameExpr } from "../tree/nodes.ts";

/** The value of a constant expression, or null if it names a register or an address. */
export { evaluateConstant as constantOf } from "../check/constant.ts";

/** An address expression as a name and a byte offset. */
export interface AddressParts {
  readonly base: NameExpr | null;
  readonly offset: bigint;
  /** `generic(x)` */
  readonly generic: boolean;
  /** The mask of `0xff00(x)`, which selects a byte of the address. */
  readonly mask: bigint | null;
}

/** Takes `x`, `x+4`, `4+x`, `x-4`, `generic(x)+4` and `0xff(x)` apart; null for anything else. */
export function addressParts(expr: Expression): AddressParts | null {
  const constant = isNamed(expr) ? null : evaluateConstant(expr);
  if (constant)
    return constant.kind === "integer"
      ? { base: null, offset: BigInt.asIntN(64, constant.value), generic: false, mask: null }
      : null;
  switch (expr.kind) {
    case "name":
      return { base: expr, offset: 0n, generic: false, mask: null };
    case "parenthesized":
      return addressParts(expr.inner);
    case "binary": {
      if (expr.operator !== "+" && expr.operator !== "-") return null;
      const left = addressParts(expr.left);
      const right = addressParts(expr.right);
      if (!left || !right || (left.base && right.base) || (expr.operator === "-" && right.base)) return null;
      const named = left.base ? left : right;
      return { ...named, offset: expr.operator === "+" ? left.offset + right.offset : left.offset - right.offset };
    }
    case "operator-call": {
      const [first, second] = expr.argumentLists;
      const inner = (second ?? first)?.[0];
      const parts = inner ? addressParts(inner) : null;
      if (!parts) return null;
      if (expr.operator.text === "generic") return { ...parts, generic: true };
      const mask = second && first?.[0] ? evaluateConstant(first[0]) : null;
      return mask?.kind === "integer" ? { ...parts, mask: mask.value } : null;
    }
    default:
      return null;
  }
}

const isNamed = (expr: Expression): boolean =>
  expr.kind === "name" && expr.symbol !== null && expr.symbol.kind !== "constant";

import type { Expr, Kit } from "../../../semantics/index.ts";
import { form } from "../define.ts";
import { isSigned, widthOf } from "../integer/integer-type.ts";
import { type IntegerType, integerTypes, rangeOf } from "./number.ts";

/** Clamps `a`, of type `from`, to those bounds of `to` that it can exceed. */
function limit(k: Kit, a: Expr, from: IntegerType, to: IntegerType): Expr {
  const [min, max] = rangeOf(from);
  const [lower, upper] = rangeOf(to);
  const raised = lower > min ? k.max(a, k.int(a, lower), isSigned(from)) : a;
  return upper < max ? k.min(raised, k.int(a, upper), isSigned(from)) : raised;
}

/** Truncates to the low bits, or extends according to the signedness of the source's type. */
function resize(k: Kit, a: Expr, from: IntegerType, to: IntegerType): Expr {
  if (widthOf(to) === 64) return widthOf(from) === 64 ? a : k.widen(a, isSigned(from));
  return widthOf(from) === 64 ? k.wrap(a) : a;
}

export const integerForms = [
  form("cvt{.sat}.dtype.atype d, a", {
    where: { dtype: integerTypes, atype: integerTypes },
    since: "1.0",
    anyOrder: true,
    operands: { d: "dtype", a: "atype" },
    invalid: ({ sat, dtype, atype }) => {
      const [lower, upper] = rangeOf(dtype);
      const [min, max] = rangeOf(atype);
      return sat && lower <= min && upper >= max
        ? `'.sat' has no effect: every '.${atype}' value is a '.${dtype}' value`
        : null;
    },
    sem: (k, { a }, { sat, dtype, atype }) => resize(k, sat ? limit(k, a, atype, dtype) : a, atype, dtype),
    note: "converts between integer types: extends, truncates, or saturates with `.sat`",
  }),
] as const;

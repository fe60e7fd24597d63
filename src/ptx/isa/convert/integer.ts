import type { Expr, Kit } from "../../../semantics/index.ts";
import { form } from "../define.ts";
import { type IntegerType, integerTypes, isSigned, rangeOf, widthOf } from "./number.ts";

/** Limits `a`, of type `from`, to the range of `to`; only where it can leave it. */
function limit(k: Kit, a: Expr, from: IntegerType, to: IntegerType): Expr {
  const [least, greatest] = rangeOf(from);
  const [lower, upper] = rangeOf(to);
  const raised = lower > least ? k.max(a, k.int(a, lower), isSigned(from)) : a;
  return upper < greatest ? k.min(raised, k.int(a, upper), isSigned(from)) : raised;
}

/** Takes the low bits, or extends by the sign of the source's type. */
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
      const [least, greatest] = rangeOf(atype);
      return sat && lower <= least && upper >= greatest
        ? `'.sat' has nothing to limit: every '.${atype}' value is a '.${dtype}' value`
        : null;
    },
    sem: (k, { a }, { sat, dtype, atype }) => resize(k, sat ? limit(k, a, atype, dtype) : a, atype, dtype),
    note: "converts between integer types: extends, cuts off, or with `.sat` limits",
  }),
] as const;

import type { Expr, Kit } from "../../../semantics/index.ts";

/** A result and the carry or borrow out of it (`pred`). */
export type WithCarry = {
  readonly d: Expr;
  readonly carry: Expr;
};

/** `a + b + carryIn`. At most one of the two additions overflows. */
export function addWithCarry(k: Kit, a: Expr, b: Expr, carryIn: Expr | null): WithCarry {
  const sum = k.add(a, b);
  const carry = k.lt(sum, a, false);
  if (carryIn === null) return { d: sum, carry };
  const d = k.add(sum, bit(k, carryIn, sum));
  return { d, carry: k.op("pred.or", carry, k.lt(d, sum, false)) };
}

/** `a - (b + borrowIn)`. CC.CF holds the borrow itself: 1 where the unsigned difference is below 0. */
export function subWithBorrow(k: Kit, a: Expr, b: Expr, borrowIn: Expr | null): WithCarry {
  const difference = k.sub(a, b);
  const borrow = k.lt(a, b, false);
  if (borrowIn === null) return { d: difference, carry: borrow };
  const d = k.sub(difference, bit(k, borrowIn, difference));
  return { d, carry: k.op("pred.or", borrow, k.lt(difference, d, false)) };
}

const bit = (k: Kit, p: Expr, like: Expr): Expr => k.select(p, k.int(like, 1), k.int(like, 0));

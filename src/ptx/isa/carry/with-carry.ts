import type { Expr, Kit } from "../../../semantics/index.ts";

/** A result and the carry out of it (`pred`). */
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

/**
 * `a - b`, or with a carry `a - b - 1 + carryIn`. The manual says that CC.CF holds the borrow. In the code that ptxas makes
 * it is the carry of `a + ~b + 1`, the borrow's complement; a chain of subtractions cannot tell, but `addc` behind
 * `sub.cc` can, so this does as the hardware does.
 */
export function subWithCarry(k: Kit, a: Expr, b: Expr, carryIn: Expr | null): WithCarry {
  if (carryIn === null) return { d: k.sub(a, b), carry: k.le(b, a, false) };
  return addWithCarry(k, a, k.not(b), carryIn);
}

const bit = (k: Kit, p: Expr, like: Expr): Expr => k.select(p, k.int(like, 1), k.int(like, 0));

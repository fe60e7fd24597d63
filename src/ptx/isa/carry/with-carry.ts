import type { Expr, Kit } from "../../../semantics/index.ts";

/** A result and its carry-out (`pred`). */
export type WithCarry = {
  readonly d: Expr;
  readonly carry: Expr;
};

/** `a + b + carryIn`, of whose two additions at most one overflows. */
export function addWithCarry(k: Kit, a: Expr, b: Expr, carryIn: Expr | null): WithCarry {
  const sum = k.add(a, b);
  const carry = k.lt(sum, a, false);
  if (carryIn === null) return { d: sum, carry };
  const d = k.add(sum, bit(k, carryIn, sum));
  return { d, carry: k.op("pred.or", carry, k.lt(d, sum, false)) };
}

/**
 * `a - b`, or `a - b - 1 + carryIn` with a carry. According to the manual CC.CF holds the borrow, but in the code that
 * ptxas generates it is the carry of `a + ~b + 1`, the borrow's complement. A chain of subtractions cannot tell, but
 * `addc` after `sub.cc` can, so this follows the hardware.
 */
export function subWithCarry(k: Kit, a: Expr, b: Expr, carryIn: Expr | null): WithCarry {
  if (carryIn === null) return { d: k.sub(a, b), carry: k.le(b, a, false) };
  return addWithCarry(k, a, k.not(b), carryIn);
}

const bit = (k: Kit, p: Expr, like: Expr): Expr => k.select(p, k.int(like, 1), k.int(like, 0));

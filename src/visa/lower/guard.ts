import type { Guard, LaneRule } from "../../ir/index.ts";
import type { ExecSize, Predicate } from "../tree.ts";
import type { LowerContext } from "./context.ts";

/** `(!P1.any)`: the predicate's bit i guards channel i, whatever the offset of the execution size. */
export function guardOf(context: LowerContext, predicate: Predicate | null): Guard | null {
  if (predicate === null) return null;
  const { name, inverted, collapse } = predicate;
  const register = context.registerOf(context.variable(name));
  return collapse === null ? { register, negate: inverted } : { register, negate: inverted, collapse };
}

/** The channels of an instruction that computes or accesses memory. */
export const lanesOf = ({ size, offset, noMask }: ExecSize): LaneRule => ({
  first: offset,
  count: size,
  noMask,
  uniform: false,
});

/**
 * The channels of an instruction that moves control. Of execution size 1 it moves all active channels or none, as one
 * channel's predicate says, and it does so whether that channel is active or not: where it is `M1`, scalar branches and
 * returns of compiled kernels stand in code in which channel 0 need not be. Else each active channel goes its own way: a
 * channel that is elsewhere cannot be moved, NoMask or not.
 */
export const controlLanesOf = ({ size, offset }: ExecSize): LaneRule => ({
  first: offset,
  count: size,
  noMask: size === 1,
  uniform: size === 1,
});

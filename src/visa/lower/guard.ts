import type { Guard, LaneRule } from "../../ir/index.ts";
import type { ExecSize, Predicate } from "../tree.ts";
import type { LowerContext } from "./context.ts";

/** The guard of a predicate such as `(!P1.any)`. Bit i guards channel i, whatever the offset of the execution size. */
export function guardOf(context: LowerContext, predicate: Predicate | null): Guard | null {
  if (predicate === null) return null;
  const { name, inverted, collapse } = predicate;
  const register = context.registerOf(context.variable(name));
  return collapse === null ? { register, negate: inverted } : { register, negate: inverted, collapse };
}

/** The lanes of an instruction that computes or accesses memory. */
export const lanesOf = ({ size, offset, noMask }: ExecSize): LaneRule => ({
  first: offset,
  count: size,
  noMask,
  uniform: false,
});

/**
 * The lanes of a branch, call or return. With execution size 1 it moves all active lanes or none, according to one
 * channel's predicate, even if that channel is inactive: compiled kernels have scalar branches and returns marked `M1`
 * in code where channel 0 need not be active. With larger sizes each active lane goes its own way; NoMask cannot move a
 * lane that is elsewhere.
 */
export const controlLanesOf = ({ size, offset }: ExecSize): LaneRule => ({
  first: offset,
  count: size,
  noMask: size === 1,
  uniform: size === 1,
});

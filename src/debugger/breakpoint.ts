import type { Expression } from "./expression/tree.ts";
import type { Location } from "./location.ts";

/** Which hits of a breakpoint stop, by their number. */
export interface HitCondition {
  /** Compares the number of a hit, counted from 1, with `count`; "%" stops at its multiples. */
  readonly operator: "==" | ">=" | ">" | "<" | "<=" | "%";
  readonly count: number;
}

/** Parses "5" (the fifth hit), ">= 5" or "% 5" (every fifth). Returns null for anything else. */
export function parseHitCondition(text: string): HitCondition | null {
  const [, operator = "==", count] = /^\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*$/.exec(text) ?? [];
  return count === undefined ? null : { operator: operator as HitCondition["operator"], count: Number(count) };
}

/** Whether a breakpoint stops at its `hits`-th hit, counted from 1. */
export function meets({ operator, count }: HitCondition, hits: number): boolean {
  switch (operator) {
    case "==":
      return hits === count;
    case ">=":
      return hits >= count;
    case ">":
      return hits > count;
    case "<":
      return hits < count;
    case "<=":
      return hits <= count;
    case "%":
      return count > 0 && hits % count === 0;
  }
}

/** What a breakpoint does beyond stopping. */
export interface BreakpointOptions {
  /** Evaluated for every lane that arrives; the breakpoint only stops if it holds for one. */
  readonly condition?: Expression | null;
  /** Stops only at certain hits. */
  readonly hitCondition?: HitCondition | null;
  /** Printed instead of stopping; each `{expression}` in it is replaced by its value in the first lane. */
  readonly logMessage?: string | null;
  /** Whether the breakpoint is removed once it has been hit. */
  readonly temporary?: boolean;
}

/** A place at which time stops before lanes execute an instruction. */
export interface Breakpoint extends Required<BreakpointOptions> {
  /** Unique in the session, also among watchpoints. */
  readonly id: number;
  /** The place as the user wrote it. */
  readonly text: string;
  /** The instructions that the place stands for. */
  readonly locations: readonly Location[];
  /** Whether the breakpoint has any effect. */
  enabled: boolean;
  /** How often groups of lanes have reached it while time went forward. */
  hits: number;
}

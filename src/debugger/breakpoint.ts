import type { Expression } from "./expression/tree.ts";
import type { Location } from "./location.ts";

/** After how many hits a breakpoint stops. */
export interface HitCondition {
  readonly operator: "==" | ">=" | ">" | "<" | "<=" | "%";
  readonly count: number;
}

/** "5" (the fifth), ">= 5", "% 5" (every fifth); null for anything else. */
export function parseHitCondition(text: string): HitCondition | null {
  const [, operator = "==", count] = /^\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*$/.exec(text) ?? [];
  return count === undefined ? null : { operator: operator as HitCondition["operator"], count: Number(count) };
}

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

export interface BreakpointOptions {
  readonly condition?: Expression | null;
  readonly hitCondition?: HitCondition | null;
  /** Is printed instead of stopping; `{expression}` in it is replaced by a value. */
  readonly logMessage?: string | null;
  /** It is gone when it has been hit. */
  readonly temporary?: boolean;
}

/** Where lanes stop before they execute an instruction. */
export interface Breakpoint extends Required<BreakpointOptions> {
  readonly id: number;
  /** As the user wrote it. */
  readonly text: string;
  readonly locations: readonly Location[];
  enabled: boolean;
  /** How often lanes have come there while time went forward. */
  hits: number;
}

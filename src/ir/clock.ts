import type { Expr, SpecialName } from "../semantics/index.ts";

const clocks: readonly string[] = [
  "clock",
  "clock_hi",
  "clock64",
  "globaltimer",
  "globaltimer_lo",
  "globaltimer_hi",
] satisfies SpecialName[];

/** Whether a special register is a clock. */
export const isClock = (name: string): boolean => clocks.includes(name);

export const readsClock = (expr: Expr): boolean =>
  expr.kind === "special" ? isClock(expr.name) : expr.kind === "prim" && expr.args.some(readsClock);

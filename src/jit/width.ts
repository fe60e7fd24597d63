import { operandsOf } from "../ir/flow/accesses.ts";
import type { Instruction, IrFunction } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { isClock } from "./specials.ts";

/** How many times four lanes a chunk may have: up to a warp. */
export type Quads = 1 | 2 | 4 | 8;

/** Where lanes have nothing to do with each other: enough to hide what operations take, and few enough for the registers. */
export const defaultQuads: Quads = 2;

/**
 * How wide the chunks of a kernel are. `wanted` where nothing says that the lanes of a warp must run together. `named`: the
 * function that a direct call goes to.
 */
export function quadsOf(kernel: IrFunction, named: (name: string) => IrFunction | null, wanted: Quads): Quads {
  const seen = new Set([kernel]);
  for (const { instructions } of seen) {
    for (const instruction of instructions) {
      if (needsWarp(instruction)) return 8;
      const { op } = instruction;
      if (op.kind !== "call" || op.target.kind !== "direct") continue;
      const callee = named(op.target.function);
      // What the launcher does, it does for a warp: prints in the order of its lanes.
      if (callee === null || callee.external) return 8;
      seen.add(callee);
    }
  }
  return wanted;
}

/** Whether an instruction tells if the lanes of a warp run together, or is better off when they do. */
function needsWarp({ op }: Instruction): boolean {
  switch (op.kind) {
    case "warp":
    case "activemask":
      return true;
    case "call":
      return op.target.kind === "indirect";
    case "barrier":
      // Arrivals count by warp.
      return op.count !== null || op.id.kind !== "const" || op.mode === "arrive";
    default:
      return operandsOf(op).some(readsClock);
  }
}

/** Lanes of a warp read the same time. */
function readsClock(expr: Expr): boolean {
  if (expr.kind === "prim") return expr.args.some(readsClock);
  return expr.kind === "special" && isClock(expr.name);
}

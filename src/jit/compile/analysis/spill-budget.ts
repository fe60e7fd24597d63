import type { OwnMemory } from "../../../wasm/index.ts";
import type { PreparedCode } from "./code/prepared-code.ts";

/** The most locals times blocks: the host's first tier takes note of each local at each block. */
const maxNotes = 2e6;

/** The fewest locals that are worth a spill area. */
const fewLocals = 256;

/**
 * Spill budget: the most wasm locals a function may declare, and the bytes of spill space for the registers and pending
 * masks beyond them (0 if everything fits). There are never fewer than some hundred locals, nor more than hosts take.
 * `spins`: it has spin loops, and so no code for converged lanes. Where ways meet in the code for any lanes, V8 copies
 * most locals from one place of its stack to another, each round: then there are as few as may be.
 */
export function spillBudgetOf(
  { ir: { registers }, graph: { blocks } }: PreparedCode,
  quads: number,
  spins: boolean,
): Pick<OwnMemory, "mostLocals" | "bytes"> {
  const mostLocals = spins ? fewLocals : Math.max(fewLocals, Math.min(20_000, Math.round(maxNotes / blocks.length)));
  const needed = registers.reduce((sum, r) => sum + (r.class === "b64" ? 2 * quads : quads + 1), blocks.length * quads);
  return { mostLocals, bytes: needed < mostLocals ? 0 : 16 * needed };
}

import type { OwnMemory } from "../../../wasm/index.ts";
import type { PreparedCode } from "./code/prepared-code.ts";

/** The most locals times blocks: the host's first tier takes note of each local at each block. */
const maxNotes = 2e6;

/**
 * Spill budget: the most wasm locals a function may declare, and the bytes of spill space for the registers and pending
 * masks beyond them (0 if everything fits). There are never fewer than some hundred locals, nor more than hosts take.
 */
export function spillBudgetOf(
  { ir: { registers }, graph: { blocks } }: PreparedCode,
  quads: number,
): Pick<OwnMemory, "mostLocals" | "bytes"> {
  const mostLocals = Math.max(256, Math.min(20_000, Math.round(maxNotes / blocks.length)));
  const needed = registers.reduce((sum, r) => sum + (r.class === "b64" ? 2 * quads : quads + 1), blocks.length * quads);
  return { mostLocals, bytes: needed < mostLocals ? 0 : 16 * needed };
}

import type { OwnMemory } from "../../../wasm/index.ts";
import type { PreparedCode } from "./code/prepared-code.ts";

/** Locals times blocks at most, of which the host's first tier makes as many notes. */
const maxNotes = 2e6;

/**
 * How many locals there may be, and the bytes for all registers and masks of waiting lanes in memory, where they are
 * more: none where all of them may be locals. There are always some hundreds, and never so many that hosts refuse them.
 */
export function spillBudgetOf(
  { ir: { registers }, graph: { blocks } }: PreparedCode,
  quads: number,
): Pick<OwnMemory, "mostLocals" | "bytes"> {
  const mostLocals = Math.max(256, Math.min(20_000, Math.round(maxNotes / blocks.length)));
  const most = registers.reduce((sum, r) => sum + (r.class === "b64" ? 2 * quads : quads + 1), blocks.length * quads);
  return { mostLocals, bytes: most < mostLocals ? 0 : 16 * most };
}

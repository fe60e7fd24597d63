import type { Instruction } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { bothMasks, fullMask } from "../lanes/mask.ts";
import type { Chunk } from "./chunk.ts";

/** The lanes that an instruction of control flow moves. */
export interface RuleLanes {
  readonly condition: Wasm | null;
  readonly lanes: readonly Wasm[];
  /** The lane whose bit and operands decide for all; null if each has its own. */
  readonly decider: number | null;
}

/** The lanes of a block that an instruction moves. */
function ruleLanes(chunk: Chunk, block: number, { guard, lanes: rule }: Instruction): RuleLanes {
  const here = chunk.analysis.isPartial(block)
    ? chunk.active.map((local) => wasm.local("v128", local))
    : fullMask(chunk.quads);
  if (rule?.uniform === true) {
    const condition = guard === null ? null : chunk.guardOfLane(guard, rule.first);
    return { condition, lanes: here, decider: rule.first };
  }
  const moved = chunk.movedMask(guard);
  if (moved === null) {
    return { condition: guard === null ? null : chunk.guardScalar(guard), lanes: here, decider: null };
  }
  const lanes = bothMasks(here, moved)!;
  return { condition: anyOf(lanes), lanes, decider: null };
}

/** Writes what an instruction does, under the condition that it moves any lanes. `write` gets them in locals. */
export function forRuleLanes(
  chunk: Chunk,
  block: number,
  instruction: Instruction,
  write: (moved: Omit<RuleLanes, "condition">) => void,
): void {
  const w = chunk.writer;
  const { condition, lanes, decider } = ruleLanes(chunk, block, instruction);
  const locals = lanes.map(() => w.local("v128"));
  w.assign(locals.map((local, q) => ({ local, value: lanes[q]! })));
  const moved = { lanes: locals.map((local) => wasm.local("v128", local)), decider };
  if (condition === null) write(moved);
  else {
    w.value(condition);
    w.if(() => write(moved));
  }
  for (const local of locals) w.release(local);
}

import { readsOf, writesOf } from "../../../ir/flow/accesses.ts";
import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../ir/flow/loops.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { SuspensionPoints } from "./suspension-points.ts";

/** Vector registers of the machine. */
const machineVectors = 16;

/** Times that a register is read and written in a block, at most: each is a load or a store. */
const most = { reads: 3, writes: 1 };

/**
 * Registers that lie in the state of their chunk from the start: vectors that are needed after barriers, where those
 * are more than the machine has. Between two barriers most are used once or twice. In locals all of them would be
 * loaded first, and V8 would move them from one place in memory to another, and back.
 */
export function stateRegistersOf(
  analysis: UniformityAnalysis,
  { barriers }: SuspensionPoints,
  quads: number,
): readonly number[] {
  const { graph, liveness } = analysis.code;
  const kept = new Set<number>();
  let mostAtOnce = 0;
  for (const after of new Set(barriers.values())) {
    let count = 0;
    liveness.liveIn(after).forEach((r) => {
      if (!isWordVector(analysis, r)) return;
      kept.add(r);
      count++;
    });
    mostAtOnce = Math.max(mostAtOnce, count);
  }
  // Registers that hold one value after the other share locals, but not their places in memory.
  if (mostAtOnce * quads < machineVectors || kept.size > 2 * mostAtOnce) return [];
  const looping = loopingBlocks(loopsOf(graph), barriers);
  for (const block of graph.blocks) for (const r of busyIn(analysis, block, looping.has(block.index))) kept.delete(r);
  return [...kept];
}

/** Whether a register holds a 32-bit word for each lane. */
export function isWordVector(analysis: UniformityAnalysis, register: number): boolean {
  const { class: of, bits } = analysis.code.ir.registers[register]!;
  return of === "b32" && bits === 32 && analysis.register(register).kind === "vector";
}

/** Blocks of loops in which no lane comes to a barrier. */
function loopingBlocks(loops: readonly LoopRange[], barriers: SuspensionPoints["barriers"]): ReadonlySet<number> {
  const found = new Set<number>();
  const visit = ({ start, end, inner }: LoopRange): void => {
    const blocks = Array.from({ length: end - start + 1 }, (_, i) => start + i);
    if (blocks.some((block) => barriers.has(block))) inner.forEach(visit);
    else for (const block of blocks) found.add(block);
  };
  loops.forEach(visit);
  return found;
}

/** The registers that a block uses often, which in a loop are all of them. */
function busyIn({ code }: UniformityAnalysis, { start, end }: FlowBlock, isLooping: boolean): readonly number[] {
  const uses = new Map<number, { reads: number; writes: number }>();
  const note = (kind: "reads" | "writes") => (r: number) => {
    const use = uses.get(r) ?? { reads: 0, writes: 0 };
    use[kind]++;
    uses.set(r, use);
  };
  const [read, write] = [note("reads"), note("writes")];
  for (let i = start; i < end; i++) {
    readsOf(code.instructions[i]!, { register: read });
    writesOf(code.instructions[i]!, write);
  }
  return [...uses].flatMap(([r, { reads, writes }]) =>
    isLooping || reads > most.reads || writes > most.writes ? [r] : [],
  );
}

import { readsOf } from "../ir/flow/accesses.ts";
import type { Wasm } from "../wasm/index.ts";
import { everywhere, testOf } from "./branch-test.ts";
import type { Chunk } from "./chunk.ts";
import type { Hoisted } from "./hoisting.ts";
import type { Phase } from "./phase.ts";

/**
 * An `i32` that is 1 only if a chunk has nothing to do in a phase: the first branch takes all of its lanes to the barrier at the
 * end. Computed from what is hoisted alone; null where there is no such branch. In a tree over the threads of a block that is what most
 * chunks do.
 */
export function idleTest(
  chunk: Chunk,
  { start }: Phase,
  barriers: ReadonlyMap<number, number>,
  hoisted: Hoisted,
): Wasm | null {
  const { graph, instructions } = chunk.analysis.code;
  const block = graph.blocks[start]!;
  const { op, guard } = instructions[block.end - 1]!;
  if (op.kind !== "branch" || guard === null || guard.collapse !== undefined) return null;
  const target = graph.blocks[graph.blockAt(op.target)];
  if (target === undefined || !barriers.has(target.index) || target.end - target.start > 1) return null;
  const test = testOf(chunk, start, block.end - 1, (i) => hoisted.has(i));
  const predicates = test?.predicates ?? new Map();
  let isKnown = predicates.has(guard.register) || hoisted.registers.has(guard.register);
  for (let i = block.start; i < block.end - 1; i++) {
    if (hoisted.has(i)) continue;
    if (!test?.instructions.includes(i)) return null;
    readsOf(instructions[i]!, { register: (r) => (isKnown &&= predicates.has(r) || hoisted.registers.has(r)) });
  }
  if (!isKnown) return null;
  chunk.begin();
  return everywhere(chunk, predicates, { kind: "reg", ty: "pred", reg: guard.register }, !guard.negate);
}

import { readsOf } from "../../../ir/flow/accesses.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { Wasm } from "../../../wasm/index.ts";
import type { BarrierRegion } from "../analysis/flow/barrier-regions.ts";
import { branchConditionOf } from "../analysis/flow/branch-condition.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import { type RowStride, isKnown } from "../analysis/values/row-strides.ts";
import { everywhere } from "../control/uniform-branch.ts";
import type { Chunk } from "../emit/chunk.ts";

/** Whether a chunk can be passed over in a phase: two `i32` that are 0 or 1. */
export interface Idle {
  /** It has nothing to do. */
  readonly alone: Wasm;
  /** Nor has any chunk behind it, if the block is one row; null where that cannot be told. */
  readonly toTheEnd: Wasm | null;
}

/**
 * Tells of chunks that have nothing to do in a phase: the first branch takes all lanes to the barrier at the end, or out of the
 * kernel. Computed from what is hoisted alone; null where there is no such branch. In a tree over the threads of a block that is
 * what most chunks do. `along`: how what is hoisted goes on in the chunks behind; `lastLane`: the number (i64), counted from the chunk's first, of the last lane of the block.
 */
export function idleTest(
  chunk: Chunk,
  { start }: BarrierRegion,
  barriers: ReadonlyMap<number, number>,
  hoisted: Invariants,
  along: (expr: Expr) => RowStride,
  lastLane: Wasm,
): Idle | null {
  const { code, isDeparture } = chunk.analysis;
  const { graph, instructions } = code;
  const block = graph.blocks[start]!;
  const { op, guard } = instructions[block.end - 1]!;
  if (op.kind !== "branch" || guard === null || guard.collapse !== undefined) return null;
  const to = graph.blockAt(op.target);
  const target = graph.blocks[to];
  const meets = target !== undefined && barriers.has(to) && target.end - target.start === 1;
  if (!meets && target !== undefined && !isDeparture[to]) return null;
  const test = branchConditionOf(chunk.analysis, chunk.recalled, start, block.end - 1, (i) => hoisted.has(i));
  const predicates = test?.predicates ?? new Map();
  let isReady = predicates.has(guard.register) || hoisted.registers.has(guard.register);
  for (let i = block.start; i < block.end - 1; i++) {
    if (hoisted.has(i)) continue;
    if (!test?.instructions.includes(i)) return null;
    readsOf(instructions[i]!, { register: (r) => (isReady &&= predicates.has(r) || hoisted.registers.has(r)) });
  }
  if (!isReady) return null;
  chunk.begin();
  const predicate = { kind: "reg", ty: "pred", reg: guard.register } as const;
  const alone = everywhere(chunk, predicates, predicate, !guard.negate);
  if (alone === null) return null;
  const goesOn = isKnown(predicate, predicates, along);
  const toTheEnd = goesOn ? everywhere(chunk, predicates, predicate, !guard.negate, { from: 0, to: lastLane }) : null;
  return { alone, toTheEnd };
}

import { readsOf } from "../../../ir/flow/accesses.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { Wasm } from "../../../wasm/index.ts";
import type { BarrierRegion } from "../analysis/flow/barrier-regions.ts";
import { branchConditionOf } from "../analysis/flow/branch-condition.ts";
import { chunkInvariantsFor, type Invariants } from "../analysis/values/invariant-code.ts";
import { type RowStride, isKnown } from "../analysis/values/row-strides.ts";
import { everywhere } from "../control/uniform-branch.ts";
import type { Chunk } from "../emit/chunk.ts";

/** Whether a chunk can skip a barrier region: two `i32` that are 0 or 1. */
export interface IdleTest {
  /** The invariant instructions that compute what the tests ask. */
  readonly invariants: readonly number[];
  /** It has nothing to do. */
  readonly alone: Wasm;
  /** Nor has any chunk after it, if the block is one row; null where that cannot be told. */
  readonly toTheEnd: Wasm | null;
}

/** The facts about chunks that are known before they run. */
interface KnownBefore {
  readonly invariants: Invariants;
  /** Whether all chunks share the value of a register. */
  readonly isShared: (register: number) => boolean;
  /** How an invariant value changes from one chunk of the row to the next. */
  readonly strides: (expr: Expr) => RowStride;
  /** The number (i64), counted from the chunk's first lane, of the last lane of the block. */
  readonly lastLane: Wasm;
}

/**
 * Detects chunks that can skip a barrier region: their first branch sends every lane straight to the closing barrier or
 * to the exit. The test is computed from invariants alone; null where there is no such branch. In a tree reduction over
 * the threads of a block most chunks are idle in most regions.
 */
export function idleTest(
  chunk: Chunk,
  { start }: BarrierRegion,
  barriers: ReadonlyMap<number, number>,
  { invariants, isShared, strides, lastLane }: KnownBefore,
): IdleTest | null {
  const { code, isDeparture } = chunk.analysis;
  const { graph, instructions } = code;
  const block = graph.blocks[start]!;
  const { op, guard } = instructions[block.end - 1]!;
  if (op.kind !== "branch" || guard === null || guard.collapse !== undefined) return null;
  const to = graph.blockAt(op.target);
  const target = graph.blocks[to];
  const isBarrier = target !== undefined && barriers.has(to) && target.end - target.start === 1;
  if (!isBarrier && target !== undefined && !isDeparture[to]) return null;
  const test = branchConditionOf(chunk.analysis, chunk.rematerialized, start, block.end - 1, (i) => invariants.has(i));
  const predicates = test?.predicates ?? new Map();
  const isKnownBefore = (r: number): boolean => predicates.has(r) || invariants.registers.has(r) || isShared(r);
  let isReady = isKnownBefore(guard.register);
  for (let i = block.start; i < block.end - 1; i++) {
    if (invariants.has(i)) continue;
    if (!test?.instructions.includes(i)) return null;
    readsOf(instructions[i]!, { register: (r) => (isReady &&= isKnownBefore(r)) });
  }
  if (!isReady) return null;
  chunk.begin();
  const predicate = { kind: "reg", ty: "pred", reg: guard.register } as const;
  const alone = everywhere(chunk, predicates, predicate, !guard.negate);
  if (alone === null) return null;
  const isLinear = isKnown(predicate, predicates, strides);
  const toTheEnd = isLinear ? everywhere(chunk, predicates, predicate, !guard.negate, { from: 0, to: lastLane }) : null;
  const asked = [guard.register];
  for (const i of test?.instructions ?? []) readsOf(instructions[i]!, { register: (r) => asked.push(r) });
  return { invariants: chunkInvariantsFor(code, invariants, asked), alone, toTheEnd };
}

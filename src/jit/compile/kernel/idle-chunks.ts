import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { BarrierRegion } from "../analysis/flow/barrier-regions.ts";
import { idleWaysOf } from "../analysis/flow/idle-ways.ts";
import { chunkInvariantsFor, type Invariants } from "../analysis/values/invariant-code.ts";
import { type RowStride, isKnown } from "../analysis/values/row-strides.ts";
import { everywhere } from "../control/uniform-branch.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { LeavingBranch } from "../regions/idle-blocks.ts";

/** Whether a chunk can skip a barrier region: two `i32` that are 0 or 1. */
export interface IdleTest {
  /** The invariant instructions that compute what the tests ask. */
  readonly invariants: readonly number[];
  /** The block of `scalars`. */
  readonly block: number;
  /** The instructions before the branch that compute what all threads share, which chunks that are skipped execute. */
  readonly scalars: readonly number[];
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
 * Detects chunks that can skip a barrier region: their first branch sends every lane to the closing barrier or to the
 * exit on a way on which nothing is done that counts afterwards. The test is computed from invariants and values that
 * all chunks share; null where there is no such branch. In a tree reduction over the threads of a block most chunks are
 * idle in most regions.
 */
export function idleTest(
  chunk: Chunk,
  { start }: BarrierRegion,
  barriers: ReadonlyMap<number, number>,
  { invariants, isShared, strides, lastLane }: KnownBefore,
): IdleTest | null {
  const { analysis, rematerialized } = chunk;
  for (const way of idleWaysOf(analysis, start, { barriers, invariants, rematerialized, isShared })) {
    chunk.begin();
    const predicate = { kind: "reg", ty: "pred", reg: way.predicate } as const;
    const alone = everywhere(chunk, way.predicates, predicate, way.holds);
    if (alone === null) continue;
    const isLinear = isKnown(predicate, way.predicates, strides);
    const toTheEnd = isLinear
      ? everywhere(chunk, way.predicates, predicate, way.holds, { from: 0, to: lastLane })
      : null;
    const needed = chunkInvariantsFor(analysis.code, invariants, way.asked);
    return { invariants: needed, block: start, scalars: way.scalars, alone, toTheEnd };
  }
  return null;
}

/**
 * Whether (an `i32`) all threads from the first one of a chunk on leave, in a block of one row, at one of the kernel's
 * first branches; null where that cannot be told from the chunk's invariants.
 */
export function leavesToTheEnd(
  chunk: Chunk,
  branches: readonly LeavingBranch[],
  { strides, lastLane }: Pick<KnownBefore, "strides" | "lastLane">,
): Wasm | null {
  const tests = branches.flatMap(({ guard, condition, holds }) => {
    if (guard.collapse !== undefined) return [];
    const predicates = condition?.predicates ?? chunk.rematerialized;
    const predicate = { kind: "reg", ty: "pred", reg: guard.register } as const;
    if (!isKnown(predicate, predicates, strides)) return [];
    return everywhere(chunk, predicates, predicate, holds, { from: 0, to: lastLane }) ?? [];
  });
  return tests.length === 0 ? null : tests.reduce((a, b) => wasm.op("i32.or", a, b));
}

import type { Instruction, Op } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Faults } from "../emit/faults.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { bothMasks, type Mask } from "../lanes/mask.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import type { Reconvergence } from "./reconvergence.ts";

type IndexedBranchOp = Extract<Op, { kind: "branch-indexed" }>;

/** A branch to one of several blocks, which an index selects. */
export interface IndexedBranch {
  readonly block: number;
  readonly index: number;
  readonly instruction: Instruction;
  readonly op: IndexedBranchOp;
  /** The blocks in the order of the list. */
  readonly targets: readonly number[];
  /** Whether a jump to a block goes round a spin loop, in which lanes yield to others once their patience has ended. */
  readonly mayYield: (to: number) => boolean;
  /** Writes a jump that goes round a spin loop, and what lanes do instead that yield. */
  readonly branchOrYield: (branch: () => void, yieldTurn: () => void) => void;
}

/** The index of a branch for the lanes that execute it. */
interface Selection {
  readonly value: Value;
  /** The lanes that branch; null: all. */
  readonly lanes: Mask;
  /** The lanes in which the guard holds; null: there is no guard. */
  readonly guard: Mask;
}

/** Writes an indexed branch whose guard, if it has one, differs between lanes. */
export function writeIndexedBranch(chunk: Chunk, flow: Reconvergence, faults: Faults, branch: IndexedBranch): void {
  const { block, index, targets, op, instruction } = branch;
  const { guard } = instruction;
  const value = chunk.value(op.index);
  const guardMask = guard === null ? null : chunk.guardMask(guard);
  const lanes = bothMasks(chunk.activeMask(block), guardMask);
  if (value.kind !== "uniform") {
    branchApart(chunk, flow, faults, branch, { value, lanes, guard: guardMask });
    return;
  }
  const { writer } = chunk;
  const isOutside = wasm.op("i32.ge_u", value.scalar, wasm.i32(targets.length));
  writer.value(guardMask === null ? isOutside : wasm.op("i32.and", isOutside, anyOf(lanes!)));
  writer.expect(false);
  writer.if(() => faults.raise(index, lanes, value));
  branchTogether(chunk, value.scalar, targets, (to) => {
    const jump = (): void => {
      if (guard === null || guardMask === null) flow.jump(block, to);
      else flow.branch(block, to, guard);
    };
    if (branch.mayYield(to)) branch.branchOrYield(jump, () => flow.suspend("loop", block, to, guardMask));
    else jump();
  });
}

/**
 * For an index that is the same in all lanes: a jump table. A jump to the next block falls through to the end of it.
 */
function branchTogether(chunk: Chunk, index: Wasm, targets: readonly number[], jump: (to: number) => void): void {
  const { writer } = chunk;
  const blocks = [...new Set(targets)];
  const done = writer.begin("block");
  const labels = new Map([...blocks].reverse().map((to) => [to, writer.begin("block")]));
  writer.value(index);
  writer.brTable(
    targets.map((to) => labels.get(to)!),
    labels.get(targets.at(-1)!)!,
  );
  for (const to of blocks) {
    writer.end();
    jump(to);
    writer.br(done);
  }
  writer.end();
}

/** For an index that differs between lanes: a mask for each target. */
function branchApart(
  chunk: Chunk,
  flow: Reconvergence,
  faults: Faults,
  { block, index, targets, mayYield, branchOrYield }: IndexedBranch,
  { value, lanes, guard }: Selection,
): void {
  const { writer, quads } = chunk;
  const parts = vectorOf(value, quads).quads.flat();
  const count = wasm.i32x4(targets.length);
  const outside = bothMasks(
    parts.map((part) => wasm.op("i32x4.ge_u", part, count)),
    lanes,
  )!;
  writer.value(anyOf(outside));
  writer.expect(false);
  writer.if(() => faults.raise(index, outside, value));
  const indices = new Map<number, number[]>();
  targets.forEach((to, i) => {
    const known = indices.get(to);
    if (known === undefined) indices.set(to, [i]);
    else known.push(i);
  });
  const choices = [...indices].map(([to, chosen]) => {
    const mask = parts.map((part) =>
      chosen.map((i) => wasm.op("i32x4.eq", part, wasm.i32x4(i))).reduce((a, b) => wasm.op("v128.or", a, b)),
    );
    return { to, mask: bothMasks(mask, lanes)! };
  });
  if (guard !== null) {
    const others = guard.map((part) => wasm.op("v128.not", part));
    choices.push({ to: block + 1, mask: bothMasks(others, chunk.activeMask(block))! });
  }
  const scatter = (): void => flow.scatter(block, choices);
  const yielding = choices.filter(({ to }) => mayYield(to));
  if (yielding.length === 0) scatter();
  else {
    branchOrYield(scatter, () => {
      for (const { to, mask } of yielding) flow.suspend("loop", block, to, mask);
      flow.scatter(
        block,
        choices.filter((choice) => !yielding.includes(choice)),
      );
    });
  }
}

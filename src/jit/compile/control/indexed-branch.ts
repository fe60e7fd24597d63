import type { Instruction, Op } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Faults } from "../emit/faults.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { bothMasks, type Mask } from "../lanes/mask.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import type { Reconvergence } from "./reconvergence.ts";

type IndexedBranchOp = Extract<Op, { kind: "branch-indexed" }>;

/** An instruction that goes to one of several blocks. */
export interface IndexedBranch {
  readonly block: number;
  readonly index: number;
  readonly instruction: Instruction;
  readonly op: IndexedBranchOp;
  /** The blocks in the order of the list. */
  readonly targets: readonly number[];
}

/** The guard is a vector, or there is none. */
export function writeIndexedBranch(chunk: Chunk, flow: Reconvergence, faults: Faults, branch: IndexedBranch): void {
  const { block, index, targets, op, instruction } = branch;
  const { guard } = instruction;
  const value = chunk.value(op.index);
  const guardMask = guard === null ? null : chunk.guardMask(guard);
  const lanes = bothMasks(chunk.activeMask(block), guardMask);
  if (value.kind === "uniform") {
    const { writer } = chunk;
    const beyond = wasm.op("i32.ge_u", value.scalar, wasm.i32(targets.length));
    writer.value(guardMask === null ? beyond : wasm.op("i32.and", beyond, anyOf(lanes!)));
    writer.expect(false);
    writer.if(() => faults.raise(index, lanes, value));
    goTogether(chunk, value.scalar, targets, (to) => {
      if (guard === null || guardMask === null) flow.jump(block, to);
      else flow.branch(block, to, guard);
    });
  } else goApart(chunk, flow, faults, branch, value, lanes, guardMask);
}

/** A table of the ways; one that ends where the table does falls through. */
function goTogether(chunk: Chunk, index: Wasm, targets: readonly number[], go: (to: number) => void): void {
  const { writer } = chunk;
  const ways = [...new Set(targets)];
  const done = writer.begin("block");
  const labels = new Map([...ways].reverse().map((to) => [to, writer.begin("block")]));
  writer.value(index);
  writer.brTable(
    targets.map((to) => labels.get(to)!),
    labels.get(targets.at(-1)!)!,
  );
  for (const to of ways) {
    writer.end();
    go(to);
    writer.br(done);
  }
  writer.end();
}

function goApart(
  chunk: Chunk,
  flow: Reconvergence,
  faults: Faults,
  { block, index, targets }: IndexedBranch,
  value: Value,
  lanes: Mask,
  guardMask: Mask,
): void {
  const { writer, quads } = chunk;
  const parts = vectorOf(value, quads).quads.flat();
  const all = wasm.i32x4(targets.length);
  const beyond = bothMasks(
    parts.map((part) => wasm.op("i32x4.ge_u", part, all)),
    lanes,
  )!;
  writer.value(anyOf(beyond));
  writer.expect(false);
  writer.if(() => faults.raise(index, beyond, value));
  const choices = [...new Set(targets)].map((to) => {
    const chosen = targets.flatMap((target, i) => (target === to ? [i] : []));
    const mask = parts.map((part) =>
      chosen.map((i) => wasm.op("i32x4.eq", part, wasm.i32x4(i))).reduce((a, b) => wasm.op("v128.or", a, b)),
    );
    return { to, mask: bothMasks(mask, lanes)! };
  });
  if (guardMask !== null) {
    const others = guardMask.map((part) => wasm.op("v128.not", part));
    choices.push({ to: block + 1, mask: bothMasks(others, chunk.activeMask(block))! });
  }
  flow.scatter(block, choices);
}

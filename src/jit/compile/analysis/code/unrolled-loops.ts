import type { FlowBlock, FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction } from "../../../../ir/index.ts";

/** Longer loops are left as they are. */
const maxInstructions = 400;

/**
 * The blocks of `for (; i < n; i += s)` as compilers unroll it. Those that are absent have nothing to do.
 *
 *     before:         c = rounds & 3; if (c == 0) goto between
 *     beforeSingle:   computes addresses
 *     single:         one round; c -= 1; if (c != 0) goto single
 *     between:        if (rounds < 4) goto after
 *     beforeUnrolled: computes addresses
 *     unrolled:       four rounds; i += 4 * s; if (i < n) goto unrolled
 *     after:
 */
export interface UnrolledLoop {
  readonly before: FlowBlock;
  readonly beforeSingle: FlowBlock | null;
  readonly single: FlowBlock;
  readonly between: FlowBlock;
  readonly beforeUnrolled: FlowBlock | null;
  readonly unrolled: FlowBlock;
  readonly after: number;
}

/** Whether an instruction is a branch for the lanes in which a predicate says so. */
export const isConditional = ({ op, guard, lanes }: Instruction): boolean =>
  op.kind === "branch" && guard !== null && guard.collapse === undefined && lanes === undefined;

/** The loop whose single rounds a block has; null if it is no such block. */
export function unrolledLoopAt(
  instructions: readonly Instruction[],
  { blocks, blockAt }: FlowGraph,
  single: FlowBlock,
): UnrolledLoop | null {
  const lastOf = ({ end }: FlowBlock): Instruction => instructions[end - 1]!;
  const isSelfLoop = (block: FlowBlock): boolean => {
    const last = lastOf(block);
    return last.op.kind === "branch" && isConditional(last) && last.op.target === block.start;
  };
  const entryOf = (loop: FlowBlock): number | null => {
    const others = loop.predecessors.filter((p) => p !== loop.index);
    return others.length === 1 && loop.predecessors.length === 2 ? others[0]! : null;
  };
  /** A block that only leads from one to the next; null if there is none between them. */
  const link = (from: FlowBlock): FlowBlock | null =>
    from.predecessors.length === 1 && from.successors.length === 1 && lastOf(from).op.kind !== "branch" ? from : null;
  if (!isSelfLoop(single) || single.end - single.start > maxInstructions) return null;
  const entry = entryOf(single);
  const between = blocks[blockAt(single.end)];
  if (entry === null || between === undefined || between.index === single.index) return null;
  const beforeSingle = link(blocks[entry]!);
  const before = beforeSingle === null ? blocks[entry]! : blocks[beforeSingle.predecessors[0]!]!;
  const skip = lastOf(before);
  if (skip.op.kind !== "branch" || !isConditional(skip) || skip.op.target !== between.start) return null;
  if (blockAt(before.end) !== (beforeSingle ?? single).index || between.predecessors.length !== 2) return null;
  const pass = lastOf(between);
  const next = blocks[blockAt(between.end)];
  if (pass.op.kind !== "branch" || !isConditional(pass) || next === undefined) return null;
  const beforeUnrolled = link(next);
  const unrolled = beforeUnrolled === null ? next : blocks[beforeUnrolled.successors[0]!];
  if (unrolled === undefined || unrolled.index === single.index || !isSelfLoop(unrolled)) return null;
  if (entryOf(unrolled) !== (beforeUnrolled ?? between).index) return null;
  if (unrolled.end - unrolled.start > 16 * maxInstructions) return null;
  const after = blockAt(unrolled.end);
  if (after >= blocks.length || after !== blockAt(pass.op.target)) return null;
  const parts = [before.index, single.index, between.index, unrolled.index, after];
  if (new Set(parts).size !== parts.length) return null;
  return { before, beforeSingle, single, between, beforeUnrolled, unrolled, after };
}

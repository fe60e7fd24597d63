import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { controlOf, type Instruction, isLanewise, type Op } from "../../../ir/index.ts";
import { type Item, itemAt, itemsOf, type Layout, layoutOf, type Scope } from "../analysis/flow/block-layout.ts";
import { exchanges } from "../analysis/access/participants.ts";
import type { KnownLanes } from "../analysis/values/known-lanes.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { Chunk } from "../emit/chunk.ts";
import { areInGroups } from "../sync/own-groups.ts";
import type { Reconvergence } from "./reconvergence.ts";
import type { WriteBlock } from "./structured-code.ts";

/** The most instructions from barrier to barrier that are written for converged lanes besides the code for any. */
export const maxConvergedInstructions = 400;

/** The same, in a row of such stretches of which none is a barrier region of its own. */
const maxConvergedInRow = 5 * maxConvergedInstructions;

/** Blocks that have code for converged lanes. */
export interface ConvergedBlocks {
  readonly blocks: ReadonlySet<number>;
  /** Whether they are so many that the code for any lanes had better be short. */
  readonly areMany: boolean;
}

const noBlocks: ConvergedBlocks = { blocks: new Set(), areMany: false };

/**
 * The blocks that converged lanes may reach before anything that only the code for any lanes does; none if such code is
 * not worth its size. Barriers that are left out, as in blocks of one chunk, count as if they ended regions.
 * `isUniformBarrier`: whether a block does not end with a barrier at which only some lanes arrive. `isForWarp`: whether
 * all lanes of a chunk perform an operation of warps together, of which none waits for others where all have arrived.
 */
export function convergedBlocks(
  analysis: UniformityAnalysis,
  { blocks, start }: Layout,
  isUniformBarrier: (block: number) => boolean,
  isForWarp: (block: number, instruction: Instruction) => boolean,
): ConvergedBlocks {
  const { instructions } = analysis.code;
  const canConverge = (block: FlowBlock): boolean =>
    instructions
      .slice(block.start, block.end)
      .every((instruction) => runsConverged(instruction, (i) => isForWarp(block.index, i))) &&
    (instructions[block.end - 1]!.op.kind !== "barrier" || isUniformBarrier(block.index));
  const found = new Set<number>();
  let size = 0;
  let stretches = 1;
  const todo = [start];
  for (let index = todo.pop(); index !== undefined; index = todo.pop()) {
    const block = blocks[index];
    if (block === undefined || found.has(index) || !canConverge(block)) continue;
    found.add(index);
    size += block.end - block.start;
    // Nearly all instructions that do nothing are barriers that are left out.
    for (let i = block.start; i < block.end; i++) if (instructions[i]!.op.kind === "nothing") stretches++;
    if (size > maxConvergedInRow) return noBlocks;
    todo.push(...block.successors);
  }
  if (size > stretches * maxConvergedInstructions) return noBlocks;
  const isWorth = [...found].some((block) => analysis.isPartial(block));
  return isWorth ? { blocks: found, areMany: size > maxConvergedInstructions } : noBlocks;
}

/** Whether the code for converged lanes has an instruction; an indexed branch may send each lane elsewhere. */
const runsConverged = (instruction: Instruction, isForWarp: (instruction: Instruction) => boolean): boolean => {
  const { op, lanes } = instruction;
  if (lanes !== undefined) return false;
  if (op.kind === "warp") return isForWarp(instruction);
  return isLanewise(op) || controlOf(op) === "leave" || others.has(op.kind);
};

/** Whether an operation is for all lanes of a warp, none of which waits for others where all have arrived. */
export const isForWholeWarp = (instruction: Instruction, known: KnownLanes): boolean => {
  const { op, guard } = instruction;
  if (op.kind !== "warp" || !exchanges.has(op.warp.op) || guard !== null) return false;
  const namesAll = op.mask?.kind === "const" && (Number(op.mask.value) | 0) === -1;
  return namesAll || areInGroups(op.mask, known);
};

/** What else has converged code. */
const others: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>(["branch", "barrier", "fence"]);

/**
 * Code without masks for the lanes of a chunk as long as they are converged, before the code for any lanes. Where they
 * diverge, or reach something that only the other code does, they continue there with the same registers.
 */
export class ConvergedPath {
  readonly #blocks: ReadonlySet<number>;
  readonly #chunk: Chunk;
  readonly #flow: Reconvergence;
  readonly #layout: Layout;
  #scope: Scope;

  constructor(chunk: Chunk, flow: Reconvergence, blocks: ReadonlySet<number>) {
    this.#blocks = blocks;
    this.#chunk = chunk;
    this.#flow = flow;
    // Lanes that resume in the middle of a loop do so in the other code.
    this.#layout = layoutOf(flow.layout, { start: flow.layout.start, entries: [], waiting: [] });
    this.#scope = this.#layout.root;
  }

  /** `writeBlock`: writes a block's instructions, and its end by way of `jump`. */
  write(writeBlock: WriteBlock): void {
    this.#chunk.whileConverged(() => this.#writeScope(this.#layout.root, writeBlock));
  }

  /** Whether there is code for converged lanes of a block. */
  has(block: number): boolean {
    return this.#blocks.has(block);
  }

  /** All lanes jump to a block; the number of blocks stands for the end. */
  jump(from: number, to: number): void {
    const { writer } = this.#chunk;
    if (this.#flow.leaves(to)) {
      this.#flow.leaveConverged(from);
      return;
    }
    let scope: Scope | null = this.#scope;
    if (to <= from && this.#blocks.has(to)) {
      while (scope !== null && (scope.start !== to || scope.again === null)) scope = scope.around;
      if (scope === null) throw new Error(`no loop begins at block ${to}`);
      writer.br(scope.again!);
      return;
    }
    while (to < scope.start || to > scope.end) scope = scope.around!;
    // Only the other code can be entered in the middle of a loop.
    if (!this.#blocks.has(to) || itemAt(scope, to) !== to) this.#flow.continueAt(to);
    else if (to !== from + 1) writer.br(scope.labels.get(to)!);
  }

  #writeScope(scope: Scope, writeBlock: WriteBlock): void {
    const { writer } = this.#chunk;
    const outer = this.#scope;
    this.#scope = scope;
    if (scope.around !== null) scope.again = writer.begin("loop");
    const items = itemsOf(scope);
    const labelled = items.filter(({ start }) => start !== scope.start && this.#layout.targets.has(start));
    for (const { start } of [...labelled].reverse()) scope.labels.set(start, writer.begin("block"));
    for (const item of items) this.#writeItem(scope, item, writeBlock);
    if (scope.around !== null) writer.end();
    this.#scope = outer;
  }

  #writeItem(scope: Scope, { start, scope: inner }: Item, writeBlock: WriteBlock): void {
    const { writer } = this.#chunk;
    if (scope.labels.has(start)) {
      writer.end();
      scope.labels.delete(start);
    }
    if (inner !== null) this.#writeScope(inner, writeBlock);
    else if (this.#blocks.has(start)) writeBlock(this.#layout.blocks[start]!);
  }
}

import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import type { Instruction } from "../../../ir/index.ts";
import { type Item, itemAt, itemsOf, type Layout, layoutOf, type Scope } from "../analysis/flow/block-layout.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Reconvergence } from "./reconvergence.ts";
import type { WriteBlock } from "./structured-code.ts";

/** Instructions at most of which there is code for lanes in step besides the other. */
export const maxConvergedInstructions = 400;

/**
 * The blocks that lanes in step go through, as long as there is nothing for which they may have to wait. `isMeeting`: whether
 * all lanes of a chunk come together to the barrier at the end of a block. None where that is not worth it.
 */
export function convergedBlocks(
  analysis: UniformityAnalysis,
  { blocks, start }: Layout,
  isMeeting: (block: number) => boolean,
): ReadonlySet<number> {
  const { instructions } = analysis.code;
  const isPlain = (block: FlowBlock): boolean =>
    instructions.slice(block.start, block.end).every((instruction) => runsConverged(instruction)) &&
    (instructions[block.end - 1]!.op.kind !== "barrier" || isMeeting(block.index));
  const found = new Set<number>();
  let size = 0;
  const todo = [start];
  for (let index = todo.pop(); index !== undefined; index = todo.pop()) {
    const block = blocks[index];
    if (block === undefined || found.has(index) || !isPlain(block)) continue;
    found.add(index);
    size += block.end - block.start;
    if (size > maxConvergedInstructions) return new Set();
    todo.push(...block.successors);
  }
  return [...found].some((block) => analysis.isPartial(block)) ? found : new Set();
}

function runsConverged({ op, lanes }: Instruction): boolean {
  if (lanes !== undefined) return false;
  switch (op.kind) {
    case "pure":
    case "load":
    case "store":
    case "branch":
    case "return":
    case "exit":
    case "barrier":
    case "nothing":
      return true;
    default:
      return false;
  }
}

/**
 * Code for the lanes of a chunk as long as all go the same way, ahead of the code for any: it has no masks. Where they part, or
 * come to what only the other code does, they go on there, with the same registers.
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
    // In the middle of a loop lanes begin elsewhere.
    this.#layout = layoutOf(flow.layout, { start: flow.layout.start, entries: [], waiting: [] });
    this.#scope = this.#layout.root;
  }

  /** `writeBlock`: writes a block's instructions, and its end by way of `jump`. */
  write(writeBlock: WriteBlock): void {
    this.#chunk.whileConverged(() => this.#writeScope(this.#layout.root, writeBlock));
  }

  /** All lanes go to a block, or (the number of blocks) to the end. */
  jump(from: number, to: number): void {
    const { writer } = this.#chunk;
    if (this.#flow.leaves(to)) {
      this.#flow.leaveTogether(from);
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
    // In the middle of a loop only the other code can begin.
    if (!this.#blocks.has(to) || itemAt(scope, to) !== to) this.#flow.goOnAt(to);
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

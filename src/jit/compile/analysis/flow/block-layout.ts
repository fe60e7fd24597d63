import type { FlowBlock } from "../../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import type { Label } from "../../../../wasm/index.ts";

/** Blocks that follow each other in the layout, some of them in loops. */
export interface Scope {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
  readonly around: Scope | null;
  readonly inner: Scope[];
  /** Where branches to a block or a loop of this scope go, while that lies ahead. */
  readonly labels: Map<number, Label>;
  /** The loop's beginning. */
  again: Label | null;
}

/** Blocks by number, of `count` that there are: all of them, or those of a phase. */
export interface BlockGraph {
  readonly blocks: Readonly<Record<number, FlowBlock>>;
  readonly count: number;
}

/** How the blocks of a graph are written. */
export interface Layout extends BlockGraph {
  /** The block with which a turn begins. */
  readonly start: number;
  readonly root: Scope;
  /** Blocks to which something jumps. */
  readonly targets: ReadonlySet<number>;
  readonly reachable: ReadonlySet<number>;
  /** Blocks in the middle of the function at which a turn may begin. */
  readonly entries: readonly number[];
  /** Blocks at which lanes may wait, in order. */
  readonly waiting: readonly number[];
  readonly mayWaitAt: ReadonlySet<number>;
  /** Whether anything goes into the middle of a loop, or a turn may begin in the middle. */
  readonly needsEntry: boolean;
  /** Whether anything else than a beginning turn goes into the middle of a loop. */
  readonly entersLoops: boolean;
  isInsideLoop(block: number): boolean;
}

/** Where in a function lanes begin, wait and go on. */
export interface LayoutNeeds {
  /** The block with which a turn begins. */
  readonly start: number;
  /** Others with which it may. */
  readonly entries: readonly number[];
  /** Blocks at which lanes may wait. */
  readonly waiting: readonly number[];
}

/** The work is in proportion to the blocks that are reached: a kernel may have as many phases as blocks. */
export function layoutOf({ blocks, count }: BlockGraph, { start, entries, waiting }: LayoutNeeds): Layout {
  const reachable = reachableBlocks(blocks, start);
  const reached = [...reachable]
    .sort((a, b) => a - b)
    .flatMap((index) => {
      const block = blocks[index];
      return block === undefined ? [] : [block];
    });
  const [first, last] = [reached[0]?.index ?? 0, reached.at(-1)?.index ?? -1];
  const root = scopeOf({ start: first, end: last, inner: loopsOf({ blocks: reached }) }, null);
  const targets = new Set<number>(waiting);
  for (const { index, successors } of reached) {
    for (const s of successors) if (s > index + 1 && s < count) targets.add(s);
  }
  if (start > 0) targets.add(start);
  const isInsideLoop = (block: number): boolean => itemAt(root, block) !== block;
  const entersLoops = [...targets].some(isInsideLoop);
  for (const entry of entries) targets.add(entry);
  const needsEntry = entries.length > 0 || entersLoops;
  return {
    blocks,
    count,
    start,
    root,
    targets,
    reachable,
    entries,
    waiting,
    mayWaitAt: new Set(waiting),
    needsEntry,
    entersLoops,
    isInsideLoop,
  };
}

function reachableBlocks(blocks: BlockGraph["blocks"], start: number): ReadonlySet<number> {
  const reachable = new Set([start]);
  for (const block of reachable) for (const s of blocks[block]?.successors ?? []) reachable.add(s);
  return reachable;
}

/** A block, or a loop. */
export interface Item {
  readonly start: number;
  readonly end: number;
  readonly scope: Scope | null;
}

/** The blocks and loops of a scope, in order. */
export function itemsOf(scope: Scope): Item[] {
  const items: Item[] = [];
  let inner = 0;
  for (let b = scope.start; b <= scope.end; b++) {
    const loop = scope.inner[inner];
    if (loop !== undefined && loop.start === b) {
      items.push({ start: b, end: loop.end, scope: loop });
      b = loop.end;
      inner++;
    } else items.push({ start: b, end: b, scope: null });
  }
  return items;
}

/** The first block of the item of a scope that contains a block. */
export function itemAt({ inner }: Scope, block: number): number {
  let [low, high] = [0, inner.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (inner[middle]!.end < block) low = middle + 1;
    else high = middle;
  }
  const loop = inner[low];
  return loop !== undefined && loop.start <= block ? loop.start : block;
}

function scopeOf({ start, end, inner }: LoopRange, around: Scope | null): Scope {
  const scope: Scope = { start, end, around, inner: [], labels: new Map(), again: null };
  for (const range of inner) scope.inner.push(scopeOf(range, scope));
  return scope;
}

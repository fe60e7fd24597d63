import { type FlowBlock, reachableBlocks } from "../../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import type { Label } from "../../../../wasm/index.ts";

/** Consecutive blocks of the layout, some of them in loops: the whole function, or one loop. */
export interface Scope {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
  readonly around: Scope | null;
  readonly inner: Scope[];
  /** By block, or first block of a loop, of this scope, the label of branches to it, until it is written. */
  readonly labels: Map<number, Label>;
  /** The label at the start of the loop. */
  again: Label | null;
}

/** Blocks by number, out of `count`: all of them, or those of a barrier region. */
export interface BlockGraph {
  readonly blocks: Readonly<Record<number, FlowBlock>>;
  readonly count: number;
}

/** The order and nesting in which the blocks of a graph are written. */
export interface Layout extends BlockGraph {
  /** The block with which a turn begins. */
  readonly start: number;
  readonly root: Scope;
  /** Blocks that are the targets of branches forward, or at which lanes may wait. */
  readonly targets: ReadonlySet<number>;
  readonly reachable: ReadonlySet<number>;
  /** Blocks in the middle of the function at which a turn may begin. */
  readonly entries: readonly number[];
  /** Blocks at which lanes may wait, in order. */
  readonly waiting: readonly number[];
  readonly mayWaitAt: ReadonlySet<number>;
  /** Whether a local has to say with which block to go on: where `entersLoops`, or a turn may begin in the middle. */
  readonly needsEntry: boolean;
  /** Whether a branch, from inside of the loop too, or lanes that have waited go to the middle of a loop. */
  readonly entersLoops: boolean;
  isInsideLoop(block: number): boolean;
}

/** The blocks of a function at which lanes begin, wait and resume. */
export interface LayoutNeeds {
  /** The block with which a turn begins. */
  readonly start: number;
  /** Other blocks with which a turn may begin. */
  readonly entries: readonly number[];
  /** Blocks at which lanes may wait. */
  readonly waiting: readonly number[];
}

/** Takes time in proportion to the blocks that are reached: a kernel may have as many barrier regions as blocks. */
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

/** One block, whose scope is null, or a loop. */
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

import type { FlowBlock, FlowGraph } from "../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../ir/flow/loops.ts";
import type { Label } from "../wasm/index.ts";

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

/** How blocks are written: all of them, or those of a phase. */
export interface Layout {
  readonly blocks: readonly FlowBlock[];
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

export function layoutOf(graph: Pick<FlowGraph, "blocks">, { start, entries, waiting }: LayoutNeeds): Layout {
  const { blocks } = graph;
  const scopes: Scope[] = [];
  const reachable = reachableBlocks(blocks, start);
  const [first, last] = rangeOf(reachable, blocks.length);
  const inner = loopsOf(graph).filter((loop) => loop.end >= first && loop.start <= last);
  const root = scopeOf({ start: first, end: last, inner }, null, scopes);
  const targets = new Set<number>(waiting);
  for (const { index, successors } of blocks) {
    for (const s of successors) if (s > index + 1 && s < blocks.length) targets.add(s);
  }
  if (start > 0) targets.add(start);
  const isInsideLoop = (block: number): boolean =>
    scopes.some((s) => s.around !== null && block > s.start && block <= s.end);
  const entersLoops = [...targets].some(isInsideLoop);
  for (const entry of entries) targets.add(entry);
  const needsEntry = entries.length > 0 || entersLoops;
  return {
    blocks,
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

function reachableBlocks(blocks: readonly FlowBlock[], start: number): ReadonlySet<number> {
  const reachable = new Set([start]);
  for (const block of reachable) for (const s of blocks[block]?.successors ?? []) reachable.add(s);
  return reachable;
}

/** The lowest and the highest of some blocks of a function. */
function rangeOf(some: ReadonlySet<number>, count: number): readonly [number, number] {
  let [first, last] = [count - 1, 0];
  for (const block of some) {
    if (block >= count) continue;
    first = Math.min(first, block);
    last = Math.max(last, block);
  }
  return [first, last];
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
export function itemAt(scope: Scope, block: number): number {
  const loop = scope.inner.find((s) => block >= s.start && block <= s.end);
  return loop?.start ?? block;
}

function scopeOf({ start, end, inner }: LoopRange, around: Scope | null, all: Scope[]): Scope {
  const scope: Scope = { start, end, around, inner: [], labels: new Map(), again: null };
  all.push(scope);
  for (const range of inner) scope.inner.push(scopeOf(range, scope, all));
  return scope;
}

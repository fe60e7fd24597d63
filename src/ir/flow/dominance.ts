import type { FlowGraph } from "./flow-graph.ts";

/**
 * By block, its immediate dominator: the last other block through which every path from the entry leads. -1 for the
 * entry, and for unreachable blocks.
 */
export function dominatorsOf({ blocks }: FlowGraph): Int32Array {
  const next = blocks.map((b) => b.successors.filter((s) => s < blocks.length));
  const before = blocks.map((b) => b.predecessors);
  if (blocks.length === 0) return new Int32Array(0);
  return immediateDominators(0, next, before);
}

/**
 * By block, its immediate post-dominator: the first other block through which every path to the end leads; the number
 * of blocks stands for the end. A block that cannot reach the end counts as if it had an edge to it.
 */
export function postDominatorsOf({ blocks }: FlowGraph): Int32Array {
  const end = blocks.length;
  const before = blocks.map((b) => [...b.successors]);
  const after = [...blocks.map((b): number[] => [...b.predecessors]), []] as number[][];
  for (const b of blocks) if (b.successors.includes(end)) after[end]!.push(b.index);
  const reaches = reachedFrom(end, after);
  for (const b of blocks) {
    if (reaches[b.index] === 1) continue;
    before[b.index]!.push(end);
    after[end]!.push(b.index);
  }
  return immediateDominators(end, after, [...before, []]).subarray(0, end);
}

function reachedFrom(root: number, next: Edges): Uint8Array {
  const seen = new Uint8Array(next.length);
  const todo = [root];
  seen[root] = 1;
  for (let x = todo.pop(); x !== undefined; x = todo.pop()) {
    for (const s of next[x]!) {
      if (seen[s] === 1) continue;
      seen[s] = 1;
      todo.push(s);
    }
  }
  return seen;
}

/**
 * Lengauer, Tarjan: A fast algorithm for finding dominators in a flowgraph (1979), with path compression: O(m log n)
 * for any graph. -1 for the root and for nodes that it does not reach. All arrays but the result are indexed by
 * depth-first number.
 */
function immediateDominators(root: number, next: Edges, before: Edges): Int32Array {
  const { nodes, parent, number } = searchDepthFirst(root, next);
  const semi = nodes.map((_, i) => i);
  const label = nodes.map((_, i) => i);
  const ancestor = new Int32Array(nodes.length).fill(-1);
  const immediate = new Int32Array(nodes.length).fill(-1);
  /** The node with the least semidominator on the path up to the root of its tree, the root excluded. */
  const least = (node: number): number => {
    if (ancestor[node]! < 0) return node;
    const path: number[] = [];
    for (let x = node; ancestor[ancestor[x]!]! >= 0; x = ancestor[x]!) path.push(x);
    for (const x of path.reverse()) {
      const above = ancestor[x]!;
      if (semi[label[above]!]! < semi[label[x]!]!) label[x] = label[above]!;
      ancestor[x] = ancestor[above]!;
    }
    return label[node]!;
  };
  const buckets: number[][] = nodes.map(() => []);
  for (let x = nodes.length - 1; x > 0; x--) {
    for (const p of before[nodes[x]!]!) {
      if (number[p]! >= 0) semi[x] = Math.min(semi[x]!, semi[least(number[p]!)]!);
    }
    buckets[semi[x]!]!.push(x);
    const above = parent[x]!;
    ancestor[x] = above;
    for (const y of buckets[above]!) {
      const u = least(y);
      immediate[y] = semi[u]! < semi[y]! ? u : above;
    }
    buckets[above] = [];
  }
  const result = new Int32Array(next.length).fill(-1);
  for (let x = 1; x < nodes.length; x++) {
    if (immediate[x] !== semi[x]) immediate[x] = immediate[immediate[x]!]!;
    result[nodes[x]!] = nodes[immediate[x]!]!;
  }
  return result;
}

type Edges = readonly (readonly number[])[];

/** Nodes in depth-first order; by depth-first number, the parent's; by node, its depth-first number or -1. */
function searchDepthFirst(root: number, next: Edges): { nodes: number[]; parent: number[]; number: Int32Array } {
  const nodes: number[] = [];
  const parent: number[] = [];
  const number = new Int32Array(next.length).fill(-1);
  const taken = new Int32Array(next.length);
  const path: number[] = [];
  const discover = (x: number): void => {
    parent.push(path.length === 0 ? -1 : number[path[path.length - 1]!]!);
    number[x] = nodes.push(x) - 1;
    path.push(x);
  };
  discover(root);
  while (path.length > 0) {
    const x = path[path.length - 1]!;
    const s = next[x]![taken[x]!++];
    if (s === undefined) path.pop();
    else if (number[s]! < 0) discover(s);
  }
  return { nodes, parent, number };
}

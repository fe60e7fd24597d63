import { type Block, type Graph, isOnlyBetween, type Node } from "./graph.ts";
import { isEffect } from "./passes.ts";

/**
 * Drops tests whether some vectors have NaNs at all, before which NaNs are not replaced: where there are masks, that
 * takes no longer than the test. What comes after the test can then be computed together with what comes before it.
 * Afterwards some phis have one operand.
 */
export function dropNanTests({ blocks }: Graph): void {
  for (const block of blocks) {
    const test = nanTestOf(block);
    if (test === null) continue;
    const { replacing, join, from, beside } = test;
    for (const node of replacing.nodes) (node as { block: Block }).block = block;
    block.nodes.push(...replacing.nodes);
    replacing.nodes = [];
    for (const phi of join.phis) {
      phi.args[beside] = phi.args[from]!;
      phi.args.splice(from, 1);
    }
    join.predecessors.splice(from, 1);
    replacing.predecessors.length = 0;
    replacing.successors.length = 0;
    replacing.end = { kind: "unreachable" };
    block.end = { kind: "goto" };
    block.successors.shift();
  }
}

/** A branch to a block that replaces NaNs, where some vectors have any. */
interface NanTest {
  readonly on: Node;
  readonly replacing: Block;
  readonly join: Block;
  /** The predecessors of `join` where NaNs have been replaced and where there are none. */
  readonly from: number;
  readonly beside: number;
  /** The vectors whose NaNs are replaced. */
  readonly vectors: readonly Node[];
}

/** How a block ends, if with a test that may also find what is no NaN. */
function nanTestOf(block: Block): NanTest | null {
  const sum = testedSum(block);
  if (sum === null) return null;
  const [replacing, otherwise] = block.successors as [Block, Block];
  const join = joinOf(block, replacing, otherwise);
  if (join === null || replacing.nodes.some(isEffect)) return null;
  const from = join.predecessors.indexOf(replacing);
  const beside = join.predecessors.indexOf(otherwise === join ? block : otherwise);
  const summands = new Set(leavesOf(sum));
  if (!join.phis.every(({ args }) => isReplaced(args[from]!, args[beside]!, summands))) return null;
  const replaced = join.phis.filter(({ args }) => args[from] !== args[beside]);
  const vectors = [...new Set(replaced.map(({ args }) => args[beside]!))].sort((a, b) => a.id - b.id);
  return { on: (block.end as { readonly on: Node }).on, replacing, join, from, beside, vectors };
}

/** Tests whether vectors have NaNs, by the value that is nothing else, and those vectors. */
export function nanTestsOf({ blocks }: Graph): ReadonlyMap<Node, readonly Node[]> {
  const found = new Map<Node, readonly Node[]>();
  const refused = new Set<Node>();
  for (const block of blocks) {
    for (const { args } of [...block.phis, ...block.nodes]) for (const arg of args) refused.add(arg);
    const { end } = block;
    const test = nanTestOf(block);
    if (test !== null && !found.has(test.on)) found.set(test.on, test.vectors);
    else if (end.kind === "branch" || end.kind === "table") refused.add(end.on);
    else if (end.kind === "return") for (const value of end.values) refused.add(value);
  }
  for (const node of refused) found.delete(node);
  return found;
}

/** The sum of vectors, if a block ends with a branch to its first successor where that is a NaN. */
function testedSum({ end }: Block): Node | null {
  if (end.kind !== "branch" || end.likely !== false) return null;
  const test = /^(i32x4|i64x2)\.bitmask$/.test(end.on.op) ? end.on.args[0]! : null;
  const [a, b] = test?.args ?? [];
  return test !== null && /^(f32x4|f64x2)\.ne$/.test(test.op) && a === b ? a! : null;
}

/** Where both successors of a block lead without another way to them, if nothing is done on the second. */
function joinOf(block: Block, first: Block, second: Block): Block | null {
  const [join] = first.successors;
  if (first === second || join === undefined || !isOnlyBetween(first, block, join)) return null;
  return second === join || (isOnlyBetween(second, block, join) && second.nodes.length === 0) ? join : null;
}

/**
 * Whether one value is the other where no summand is a NaN. If there is no NaN among them, the test may find one all
 * the same: a sum of infinities.
 */
function isReplaced(value: Node, plain: Node, summands: ReadonlySet<Node>): boolean {
  if (value === plain) return true;
  const [kept, , mask] = value.args;
  return (
    value.op === "v128.bitselect" &&
    kept === plain &&
    summands.has(plain) &&
    /^(f32x4|f64x2)\.eq$/.test(mask!.op) &&
    mask!.args.every((arg) => arg === plain)
  );
}

function leavesOf(sum: Node): readonly Node[] {
  const leaves: Node[] = [];
  const work = [sum];
  for (let node = work.pop(); node !== undefined; node = work.pop()) {
    // A summand may be a sum itself: both count.
    leaves.push(node);
    if (node.op === "f32x4.add" || node.op === "f64x2.add") work.push(...node.args);
  }
  return leaves;
}

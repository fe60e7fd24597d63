import { type Block, type Graph, isOnlyBetween, type Node } from "./graph.ts";
import { isEffect } from "./passes.ts";

/**
 * Drops tests whether some vectors have NaNs at all, before which NaNs are not replaced: where there are masks, that
 * takes no longer than the test. What comes after the test can then be computed together with what comes before it.
 * Afterwards some phis have one operand.
 */
export function dropNanTests({ blocks }: Graph): void {
  for (const block of blocks) {
    const sum = testedSum(block);
    if (sum === null) continue;
    const [replacing, otherwise] = block.successors as [Block, Block];
    const join = joinOf(block, replacing, otherwise);
    if (join === null || replacing.nodes.some(isEffect)) continue;
    const from = join.predecessors.indexOf(replacing);
    const beside = join.predecessors.indexOf(otherwise === join ? block : otherwise);
    const summands = new Set(leavesOf(sum));
    if (!join.phis.every(({ args }) => isReplaced(args[from]!, args[beside]!, summands))) continue;
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

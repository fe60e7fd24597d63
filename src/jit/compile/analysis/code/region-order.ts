import { dominatorsOf } from "../../../../ir/flow/dominance.ts";
import { type FlowBlock, type FlowGraph, flowGraphOf, targetsOf } from "../../../../ir/flow/flow-graph.ts";
import { type Instruction, isLanewise, leadsBack, onlyComputes } from "../../../../ir/index.ts";
import { retargeted } from "../../../../ir/retarget.ts";
import { isBarrier, type SourceCode } from "./source-code.ts";

/** Whether a block is on every way to another one that can be reached. */
type Dominates = (a: number, b: number) => boolean;

/**
 * Lays out the blocks of a kernel such that each barrier region is straight code, but for loops that have no barrier: a
 * block comes after those that lead to it, where no barrier lies between. Compilers write the end of a loop before its
 * beginning, or a loop around a barrier as it is: there a region would lead from the end of the layout back to its
 * beginning, and lanes that come to a barrier on several ways would not reconverge, since those at the lowest place run
 * first. Code whose loops can be entered in several places stays as it is; so does code whose results depend on
 * the order in which lanes that are apart take their turns, which is the same in both engines.
 */
export function inRegionOrder(code: SourceCode): SourceCode {
  return code.ir.instructions.some(isBarrier) ? inOrderOfRegions(code, isBarrier) : code;
}

/** Integer operations of which any order gives the same sum. */
const commutes: ReadonlySet<string> = new Set(["add", "and", "or", "xor"].flatMap((op) => [`i32.${op}`, `i64.${op}`]));

/** Whether what an instruction does may depend on which lanes have had their turns. A function may do anything. */
function dependsOnTurns({ op, dst }: Instruction): boolean {
  if (op.kind === "atomic") {
    const adds = op.combine.every((value) => value.kind === "prim" && commutes.has(value.prim));
    return !adds || dst.some((result) => result !== null);
  }
  const waitsForOthers = op.kind === "barrier" || (op.kind === "warp" && op.mask !== null);
  return !waitsForOthers && op.kind !== "fence" && !onlyComputes(op) && !isLanewise(op);
}

/** The same where barriers are nothing: only the ends of loops lead backwards. */
export const inLoopOrder = (code: SourceCode): SourceCode => inOrderOfRegions(code, () => false);

/** `endsRegion`: at which instructions regions end. */
function inOrderOfRegions(code: SourceCode, endsRegion: (instruction: Instruction) => boolean): SourceCode {
  const { instructions } = code.ir;
  if (!instructions.some(leadsBack)) return code;
  if (instructions.some(dependsOnTurns)) return code;
  const whole = flowGraphOf(instructions, { endsBlock: endsRegion });
  const passes = (block: number): boolean => endsRegion(instructions[whole.blocks[block]!.end - 1]!);
  const graph = withoutPassages(whole, passes);
  const begins = new Set([0]);
  for (const { index, successors } of whole.blocks) if (passes(index)) for (const s of successors) begins.add(s);
  begins.delete(whole.blocks.length);
  const dominates = dominanceIn(graph, begins);
  const isMisplaced = ({ index, successors }: FlowBlock): boolean =>
    dominates(index, index) && successors.some((s) => s <= index && !dominates(s, index));
  if (!graph.blocks.some(isMisplaced)) return code;
  const order = orderOf(graph, begins, dominates);
  return order === null ? code : inOrder(code, whole, order);
}

/** The graph without the edges that pass barriers. */
function withoutPassages({ blocks, blockAt }: FlowGraph, passes: (block: number) => boolean): FlowGraph {
  const cut = blocks.map((block) => ({
    ...block,
    successors: passes(block.index) ? [] : block.successors,
    predecessors: block.predecessors.filter((p) => !passes(p)),
  }));
  return { blocks: cut, blockAt };
}

/**
 * `begins`: the blocks with which the code begins, and goes on after barriers. Blocks are counted from 1 on: 0 is
 * before.
 */
function dominanceIn({ blocks }: FlowGraph, begins: ReadonlySet<number>): Dominates {
  const root = { index: 0, start: 0, end: 0, successors: [...begins].map((b) => b + 1), predecessors: [] };
  const shifted = blocks.map((block) => ({
    ...block,
    index: block.index + 1,
    successors: block.successors.map((s) => s + 1),
    predecessors: [...(begins.has(block.index) ? [0] : []), ...block.predecessors.map((p) => p + 1)],
  }));
  const dominates = subtreesOf(dominatorsOf({ blocks: [root, ...shifted], blockAt: () => 0 }));
  return (a, b) => dominates(a + 1, b + 1);
}

/** Numbers the tree of dominators depth first: a block dominates those with the numbers of its subtree. */
function subtreesOf(immediate: Int32Array): Dominates {
  const below: number[][] = Array.from(immediate, () => []);
  for (let block = 0; block < immediate.length; block++) below[immediate[block]!]?.push(block);
  const first = new Int32Array(immediate.length).fill(-1);
  const last = new Int32Array(immediate.length);
  let count = 0;
  const path = [0];
  while (path.length > 0) {
    const block = path.at(-1)!;
    if (first[block]! < 0) first[block] = count++;
    const next = below[block]!.pop();
    if (next !== undefined) path.push(next);
    else last[path.pop()!] = count;
  }
  return (a, b) => first[a]! >= 0 && first[a]! <= first[b]! && first[b]! < last[a]!;
}

/** A loop without a barrier: all blocks that lead back to its first one, which is on every way to them. */
interface Loop {
  readonly blocks: ReadonlySet<number>;
  /** How many of them have no place yet. */
  left: number;
}

function loopsIn({ blocks }: FlowGraph, dominates: Dominates): readonly Loop[] {
  const loops: Loop[] = [];
  for (const { index: header, predecessors } of blocks) {
    const ends = predecessors.filter((p) => dominates(header, p));
    if (ends.length === 0) continue;
    const found = new Set([header, ...ends]);
    for (const block of found) {
      if (block === header) continue;
      for (const p of blocks[block]!.predecessors) if (dominates(p, p)) found.add(p);
    }
    loops.push({ blocks: found, left: found.size });
  }
  return loops;
}

/**
 * The order in which each block comes after those that lead to it, back edges left out, and the blocks of a loop lie
 * together; the order of the code decides where that leaves a choice. Null if there is none, or if it does not begin
 * with the code's first block.
 */
function orderOf(graph: FlowGraph, begins: ReadonlySet<number>, dominates: Dominates): readonly number[] | null {
  const { blocks } = graph;
  const loops = loopsIn(graph, dominates);
  /** By block, the loops that contain it, the outermost first. */
  const around = blocks.map(({ index }) =>
    loops.filter((loop) => loop.blocks.has(index)).sort((a, b) => b.blocks.size - a.blocks.size),
  );
  const isReached = blocks.map(({ index }) => dominates(index, index));
  const waitsFor = blocks.map(
    ({ index, predecessors }) => predecessors.filter((p) => isReached[p]! && !dominates(index, p)).length,
  );
  const ready = new Set([...begins].filter((block) => waitsFor[block] === 0));
  const order: number[] = [];
  /** The loops that have been begun and not ended, the innermost last. */
  const open: Loop[] = [];
  for (;;) {
    while (open.at(-1)?.left === 0) open.pop();
    const inside = open.at(-1);
    let next = -1;
    for (const b of ready) if ((inside === undefined || inside.blocks.has(b)) && (next < 0 || b < next)) next = b;
    if (next < 0) break;
    ready.delete(next);
    order.push(next);
    for (const loop of around[next]!) {
      loop.left--;
      if (!open.includes(loop)) open.push(loop);
    }
    for (const s of blocks[next]!.successors) {
      if (s < blocks.length && !dominates(s, next) && --waitsFor[s]! === 0) ready.add(s);
    }
  }
  const unreached = blocks.flatMap(({ index }) => (isReached[index] ? [] : [index]));
  return order[0] === 0 && order.length + unreached.length === blocks.length ? [...order, ...unreached] : null;
}

/** The code with its blocks in another order. Where a block no longer stands before the next one, it branches there. */
function inOrder({ ir, origins }: SourceCode, { blocks, blockAt }: FlowGraph, order: readonly number[]): SourceCode {
  const end = ir.instructions.length;
  const moved: Instruction[] = [];
  const from: number[] = [];
  const add = (instruction: Instruction, at: number): void => {
    moved.push(instruction);
    from.push(origins?.[at] ?? at);
  };
  const placeOf = new Int32Array(blocks.length + 1);
  order.forEach((block, i) => {
    const { start, end: next } = blocks[block]!;
    placeOf[block] = moved.length;
    for (let at = start; at < next; at++) add(ir.instructions[at]!, at);
    const last = ir.instructions[next - 1]!;
    const isFollowed = (order[i + 1] ?? blocks.length) === block + 1;
    if (isFollowed || !targetsOf(last, next, end).includes(next)) return;
    const { span, location } = last;
    const op = { kind: "branch", target: next, uniform: false } as const;
    add({ guard: null, op, dst: [], undefinedCases: [], span, location }, next - 1);
  });
  placeOf[blocks.length] = moved.length;
  const instructions = moved.map((instruction) => retargeted(instruction, (target) => placeOf[blockAt(target)]!));
  return { ir: { ...ir, instructions }, origins: from };
}

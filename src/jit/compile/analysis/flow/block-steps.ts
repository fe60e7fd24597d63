import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import { postDominatorsOf } from "../../../../ir/flow/dominance.ts";
import type { Instruction, Op } from "../../../../ir/index.ts";
import { BlockUniform } from "../values/block-uniform.ts";
import type { Invariants } from "../values/invariant-code.ts";
import { type SharedPredicates, sharedPredicatesOf } from "../values/shared-predicates.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";
import { type BarrierRegion, isUniformBarrier, maxGrowth, reductionIn, regionFrom } from "./barrier-regions.ts";
import { WarpWaitBlocks } from "./warp-wait-blocks.ts";

/**
 * What the threads of a block do one after the other: barrier regions, each for all chunks, and between them scalar
 * blocks, which are executed once for all threads. A step is named by its first basic block.
 */
export interface BlockSteps {
  /** In layout order. With the first one the block begins. */
  readonly steps: readonly BlockStep[];
  /** The regions in which chunks begin: the first step, or those of which it, a scalar block, chooses one. */
  readonly beginnings: ReadonlySet<number>;
  /** Registers that have one value in all threads and are needed from step to step: chunks do not keep them. */
  readonly shared: ReadonlySet<number>;
  readonly predicates: SharedPredicates;
}

export interface BlockStep {
  readonly start: number;
  /** Null: a scalar block. */
  readonly region: BarrierRegion | null;
  /**
   * The steps that may come next; null stands for the end of the kernel. Of a scalar block: if it branches, and if not.
   */
  readonly next: readonly (number | null)[];
}

/** Blocks up to which the analysis is made, since it takes more time than in proportion to them. */
const maxBlocks = 1000;

/**
 * The steps of a kernel all of whose barriers chunks reach as a whole; null where it cannot be told that all chunks of
 * a block go the same way from step to step. `barriers`: by block that ends with one, the block after it.
 */
export function blockStepsOf(
  analysis: UniformityAnalysis,
  barriers: ReadonlyMap<number, number>,
  invariants: Invariants,
): BlockSteps | null {
  const { code } = analysis;
  const { graph, instructions, liveness } = code;
  if (barriers.size === 0 || graph.blocks.length > maxBlocks) return null;
  const uniform = new BlockUniform(code);
  const isShared = (r: number): boolean =>
    uniform.has(r) && analysis.register(r).kind === "uniform" && !liveness.acrossLanes.has(r);
  for (const block of barriers.keys()) {
    const result = reductionIn(code, block)?.dst[0];
    if (typeof result === "number" && !isShared(result)) return null;
  }
  const predicates = sharedPredicatesOf(analysis, invariants, barriers.values(), isShared);
  const isElsewhere = (i: number): boolean => invariants.has(i) || predicates.instructions.has(i);
  const beginnings = beginningsOf(code, (block) => isScalarBlock(code, block, isShared, isElsewhere));
  const ways = new RegionWays(code, uniform, barriers);
  let left = maxGrowth * instructions.length;
  const steps = new Map<number, BlockStep>();
  const todo = [0];
  for (let start = todo.pop(); start !== undefined; start = todo.pop()) {
    if (steps.has(start)) continue;
    const isFirst = start === 0 || beginnings.has(start);
    const isScalar = isFirst ? !beginnings.has(start) : isScalarBlock(code, start, isShared, isElsewhere);
    const region = isScalar ? null : regionFrom(graph, start, barriers);
    const next = region === null ? scalarSuccessors(code, start) : ways.exitsOf(region);
    if (next === null) return null;
    for (const block of region?.blocks ?? []) left -= graph.blocks[block]!.end - graph.blocks[block]!.start;
    if (left < 0) return null;
    steps.set(start, { start, region, next });
    for (const to of next) if (to !== null) todo.push(to);
  }
  const shared = new Set(predicates.operands);
  for (const start of steps.keys()) {
    liveness.liveIn(start).forEach((r) => {
      if (isShared(r)) shared.add(r);
    });
  }
  return { steps: [...steps.values()].sort((a, b) => a.start - b.start), beginnings, shared, predicates };
}

/**
 * The blocks with which chunks begin. Where the first one only decides for all threads which way they go, these are the
 * blocks after it, if nothing else leads to them, and no register holds a zero that is read.
 */
function beginningsOf({ graph, liveness }: Code, isScalar: (block: number) => boolean): ReadonlySet<number> {
  const { blocks } = graph;
  const { successors, predecessors } = blocks[0]!;
  const chooses = successors.length === 2 && predecessors.length === 0 && liveness.liveIn(0).isEmpty;
  const follow = (block: number): boolean => block < blocks.length && blocks[block]!.predecessors.length === 1;
  return new Set(chooses && successors.every(follow) && isScalar(0) ? successors : [0]);
}

/** Where chunks wait. */
interface Waits {
  readonly barriers: ReadonlyMap<number, number>;
  readonly spins: ReadonlySet<number>;
  readonly calls: ReadonlySet<number>;
  readonly isCounted: boolean;
}

/** Whether chunks only wait at barriers, at which all lanes of each arrive together. */
export function arrivesTogether(analysis: UniformityAnalysis, { barriers, spins, calls, isCounted }: Waits): boolean {
  if (isCounted || spins.size > 0 || calls.size > 0) return false;
  return (
    [...barriers.keys()].every((barrier) => isUniformBarrier(analysis, barrier)) &&
    new WarpWaitBlocks(analysis).all.length === 0
  );
}

type Code = UniformityAnalysis["code"];

/** What may stand in code that is executed once for a block. */
const scalarKinds: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>(["pure", "nothing", "fence"]);

/**
 * Whether a block only computes values that are the same in all threads, and sends all of them the same way.
 * `isElsewhere`: whether an instruction is executed at other places.
 */
function isScalarBlock(
  { graph, instructions }: Code,
  block: number,
  isShared: (register: number) => boolean,
  isElsewhere: (instruction: number) => boolean,
): boolean {
  const { start, end } = graph.blocks[block]!;
  for (let i = start; i < end; i++) {
    if (isElsewhere(i)) continue;
    const instruction = instructions[i]!;
    const { op, lanes, guard } = instruction;
    const isJump = op.kind === "branch" && i === end - 1 && guard?.collapse === undefined;
    if (lanes !== undefined || (!isJump && !scalarKinds.has(op.kind))) return false;
    if (!touchesOnly(instruction, isShared)) return false;
  }
  return true;
}

function touchesOnly(instruction: Instruction, isShared: (register: number) => boolean): boolean {
  let holds = true;
  const touch = (r: number): void => {
    holds &&= isShared(r);
  };
  readsOf(instruction, { register: touch });
  writesOf(instruction, touch);
  return holds && instruction.dst.every((to) => to === null || typeof to === "number");
}

/** Where threads go after a scalar block: if it branches, and if it does not. */
function scalarSuccessors({ graph, instructions }: Code, block: number): readonly (number | null)[] {
  const { op, guard } = instructions[graph.blocks[block]!.end - 1]!;
  const step = (to: number): number | null => (to < graph.blocks.length ? to : null);
  if (op.kind !== "branch") return [step(block + 1)];
  const to = step(graph.blockAt(op.target));
  return guard === null ? [to] : [to, step(block + 1)];
}

/** The ways from the beginning of a region to the barriers that come next, and to the end of the kernel. */
class RegionWays {
  readonly #code: Code;
  readonly #uniform: BlockUniform;
  readonly #barriers: ReadonlyMap<number, number>;
  readonly #meeting: Int32Array;

  constructor(code: Code, uniform: BlockUniform, barriers: ReadonlyMap<number, number>) {
    this.#code = code;
    this.#uniform = uniform;
    this.#barriers = barriers;
    this.#meeting = postDominatorsOf(code.graph);
  }

  /** The steps after a region, of which all threads go to the same one; null where that cannot be told. */
  exitsOf({ start, blocks }: BarrierRegion): readonly (number | null)[] | null {
    const exits = this.#reachedFrom([start], -1);
    if (exits.size <= 1) return [...exits];
    for (const block of blocks) {
      const { successors } = this.#code.graph.blocks[block]!;
      if (successors.length < 2 || this.#barriers.has(block) || this.#uniform.decides(block)) continue;
      // Threads that go different ways here must not have left the region when they meet again, or have one way out.
      const apart = this.#reachedFrom(successors, this.#meeting[block]!);
      if (apart.size > 0 && this.#reachedFrom(successors, -1).size > 1) return null;
    }
    return [...exits].sort((a, b) => (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY));
  }

  /** The steps to which threads come from some blocks, not beyond a further one. */
  #reachedFrom(from: readonly number[], until: number): ReadonlySet<number | null> {
    const { graph, instructions } = this.#code;
    const exits = new Set<number | null>();
    const seen = new Set(from.filter((block) => block !== until));
    for (const block of seen) {
      if (block >= graph.blocks.length) {
        exits.add(null);
        continue;
      }
      const after = this.#barriers.get(block);
      const { successors, end } = graph.blocks[block]!;
      if (after !== undefined) exits.add(after);
      const { op, guard } = instructions[end - 1]!;
      // A trap ends the launch.
      if (after !== undefined || (op.kind === "trap" && guard === null)) continue;
      if (op.kind === "exit") exits.add(null);
      for (const s of successors) if (s !== until) seen.add(s);
    }
    return exits;
  }
}

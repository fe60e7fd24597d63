import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { accessesOf, type Instruction, isLanewise } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { maxLoopInstructions } from "../analysis/flow/loops-before-exchange.ts";
import { LaneArithmetic } from "../analysis/values/lane-arithmetic.ts";
import type { Chunk } from "../emit/chunk.ts";
import { MaskLocals } from "../emit/mask-locals.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { narrowMaskOf } from "../lanes/narrow.ts";
import { splat } from "../lanes/value.ts";
import { isSelfLoop } from "./check-free-loop.ts";
import { everywhere } from "./uniform-branch.ts";

/** The most instructions of if-converted blocks, since they are written several times: of one block, and of several. */
const maxInstructions = { one: 24, several: 40, withLoops: maxLoopInstructions };

/** The most blocks that are if-converted together. */
const maxBlocks = 8;

/** The numbers of quads for which a single if-converted block is written, besides that for all lanes. */
const narrowQuads: readonly number[] = [1, 4];

/**
 * Blocks between a branch and the place where all lanes are together again, with no way out, and none back but from the
 * end of a block to its beginning.
 */
export interface ConvertedRegion {
  readonly blocks: readonly FlowBlock[];
  /** Those of them that are loops. */
  readonly loops: ReadonlySet<FlowBlock>;
  /** The block after them. */
  readonly join: number;
  /** The block to which the branch leads. */
  readonly to: number;
}

/** How an if-converted block is written for a few lanes. */
interface NarrowVersion {
  /** The expressions of the predicates on which the branch depends. */
  readonly predicates: ReadonlyMap<number, Expr>;
  /** Evaluates the condition in each lane. */
  readonly evaluate: () => void;
  /** Jumps to the block at which all lanes reconverge. */
  readonly join: () => void;
}

/**
 * If-conversion: blocks between a branch and the place where its lanes are together again are written with masks in the
 * code for converged lanes. They stay converged whichever of them execute these blocks.
 */
export class IfConversion {
  readonly #chunk: Chunk;
  readonly #arithmetic: LaneArithmetic;
  /** The last instruction for a warp before which loops are written with masks; -1 if there is none. */
  readonly #lastExchange: number;
  /** Writes the instructions of a block. */
  readonly #instructions: (block: FlowBlock, isAlone: boolean) => void;

  /** `maskedRounds`: see `LaunchShape`. */
  constructor(chunk: Chunk, maskedRounds: boolean, instructions: (block: FlowBlock, isAlone: boolean) => void) {
    this.#chunk = chunk;
    this.#arithmetic = new LaneArithmetic(chunk.analysis);
    this.#instructions = instructions;
    const { instructions: all } = chunk.analysis.code;
    this.#lastExchange = maskedRounds ? all.findLastIndex(({ op }) => op.kind === "warp") : -1;
  }

  /**
   * Returns the blocks after a branch that can be if-converted; null where its lanes have to part. `mayLoop`: whether
   * they may be loops of one block each.
   */
  regionAfter(block: FlowBlock, to: number, mayLoop: boolean): ConvertedRegion | null {
    const { graph, instructions, edgeCopies } = this.#chunk.analysis.code;
    if (instructions[block.end - 1]!.op.kind !== "branch" || to <= block.index + 1) return null;
    for (let i = block.start; i < block.end; i++) if (edgeCopies.has(i)) return null;
    const blocks: FlowBlock[] = [];
    const loops = new Set<FlowBlock>();
    const most = mayLoop ? maxInstructions.withLoops : maxInstructions.several;
    let join = to;
    let size = 0;
    for (let index = block.index + 1; index < join; index++) {
      const inner = graph.blocks[index];
      if (inner === undefined || inner.successors.length === 0) return null;
      const isLoop = mayLoop && this.#isLoop(inner);
      if (isLoop) loops.add(inner);
      if (!this.#fits(inner, isLoop) || (!isLoop && inner.successors.some((s) => s <= index))) return null;
      join = Math.max(join, ...inner.successors);
      size += inner.end - inner.start;
      blocks.push(inner);
      if (blocks.length > maxBlocks || size > most) return null;
    }
    const isOne = blocks.length === 1;
    if (isOne && size > maxInstructions.one) return null;
    if (!isOne && loops.size === 0) {
      if (size > maxInstructions.several || blocks.some((inner) => this.#isScattered(inner))) return null;
    }
    return join >= graph.blocks.length ? null : { blocks, loops, join, to };
  }

  /** Whether lanes execute all of a block without others, and its end is no more than a branch. */
  #fits({ index, start, end }: FlowBlock, isLoop: boolean): boolean {
    const { analysis } = this.#chunk;
    const { instructions, edgeCopies } = analysis.code;
    for (let i = start; i < end; i++) {
      const { op, guard, lanes } = instructions[i]!;
      const isJump = op.kind === "branch" && i === end - 1 && guard?.collapse === undefined;
      const isComplete = op.kind === "warp" && op.mask !== null && analysis.isComplete(index);
      if (lanes !== undefined || !(isLanewise(op) || isJump || isComplete)) return false;
      if (edgeCopies.has(i) && !isLoop) return false;
    }
    return true;
  }

  /** Whether a block is a loop of which lanes can make rounds with masks, and that is worth its code. */
  isLoop(block: FlowBlock): boolean {
    return block.end - block.start <= maxInstructions.withLoops && this.#isLoop(block) && this.#fits(block, true);
  }

  /**
   * Whether a block is a loop that lanes leave one by one, after which lanes of a warp have to be together again:
   * elsewhere the code for any lanes does as well.
   */
  #isLoop(block: FlowBlock): boolean {
    if (block.end > this.#lastExchange || !isSelfLoop(this.#chunk, block)) return false;
    return this.#chunk.guardMask(this.#chunk.analysis.code.instructions[block.end - 1]!.guard!) !== null;
  }

  /**
   * Writes the further rounds of a loop of one block, at whose end converged lanes diverge: those in `staying` go on.
   * `copy`: writes the copies of lanes that leave and of lanes that do not.
   */
  writeRounds(block: FlowBlock, staying: readonly Wasm[], copy: () => void): void {
    const rounds = new MaskLocals(this.#chunk, null);
    this.#chunk.writer.assign(rounds.assigned(staying));
    copy();
    this.#writeLoop(block, rounds);
    rounds.release();
  }

  /** Writes a loop of one block for the lanes of a mask, of which there are some. In the end there are none in it. */
  #writeLoop(block: FlowBlock, rounds: MaskLocals): void {
    const { analysis, writer } = this.#chunk;
    const { guard } = analysis.code.instructions[block.end - 1]!;
    writer.loop((again) => {
      const lanes = rounds.value;
      this.#chunk.forSome(lanes, () => this.#instructions(block, block.end - block.start <= maxInstructions.one));
      this.#chunk.begin();
      const taken = this.#chunk.guardMask(guard!) ?? lanes.map(() => splat("pred", this.#chunk.guardScalar(guard!)));
      writer.assign(rounds.assigned(lanes.map((lane, q) => wasm.op("v128.and", lane, taken[q]!))));
      writer.value(anyOf(rounds.value));
      writer.brIf(again);
    });
  }

  /** Whether a block begins with an operation of a warp. */
  #exchanges({ start }: FlowBlock): boolean {
    return this.#chunk.analysis.code.instructions[start]!.op.kind === "warp";
  }

  /** Whether each lane accesses memory at a place that follows from loaded values. */
  #isScattered({ start, end }: FlowBlock): boolean {
    const accesses = this.#chunk.analysis.code.instructions.slice(start, end).flatMap(({ op }) => accessesOf(op));
    return accesses.some(({ place }) => place.kind === "address" && !this.#arithmetic.is(place.address));
  }

  /** Writes the blocks after a branch, given as the last instruction of its block, for the converged lanes. */
  write({ blocks, loops, join, to }: ConvertedRegion, { guard }: Instruction): void {
    const { writer } = this.#chunk;
    const passing = this.#chunk.guardMask({ ...guard!, negate: !guard!.negate })!;
    const like = this.#chunk.narrow.isUsed ? (narrowMaskOf(passing)?.bits ?? 8) : null;
    const masks = (): MaskLocals => new MaskLocals(this.#chunk, like);
    const now = masks();
    // The blocks may change the predicate.
    writer.assign(now.assigned(passing));
    /** By block, the lanes that wait there for those at lower places. */
    const waiting = new Map<number, MaskLocals>();
    if (to < join) waiting.set(to, masks());
    for (const { index, successors } of blocks) {
      for (const s of successors) if (s > index + 1 && s < join && !waiting.has(s)) waiting.set(s, masks());
    }
    for (const [index, mask] of waiting) {
      writer.assign(mask.assigned(now.value.map((n) => (index === to ? wasm.op("v128.not", n) : wasm.i32x4(0)))));
    }
    for (const block of blocks) {
      const arrived = waiting.get(block.index)?.value;
      if (arrived !== undefined)
        writer.assign(now.assigned(now.value.map((n, q) => wasm.op("v128.or", n, arrived[q]!))));
      const write = (): void => {
        if (loops.has(block)) {
          const rounds = masks();
          writer.assign(rounds.assigned(now.value));
          this.#writeLoop(block, rounds);
          rounds.release();
          return;
        }
        this.#chunk.forSome(now.value, () => this.#instructions(block, blocks.length === 1));
        this.#leave(block, now, waiting);
      };
      if (block === blocks[0]) write();
      else {
        writer.value(anyOf(now.value));
        writer.if(write);
      }
    }
    for (const mask of [now, ...waiting.values()]) mask.release();
  }

  /** Lanes branch at the end of a block: those that do wait where they arrive. */
  #leave({ index, end }: FlowBlock, now: MaskLocals, waiting: ReadonlyMap<number, MaskLocals>): void {
    const { analysis, writer } = this.#chunk;
    const { graph, instructions } = analysis.code;
    const { op, guard } = instructions[end - 1]!;
    if (op.kind !== "branch" || graph.blockAt(op.target) === index + 1) return;
    this.#chunk.begin();
    const lanes = now.value;
    const taken =
      guard === null
        ? null
        : (this.#chunk.guardMask(guard) ?? lanes.map(() => splat("pred", this.#chunk.guardScalar(guard))));
    const there = waiting.get(graph.blockAt(op.target));
    const leaving = taken === null ? lanes : lanes.map((n, q) => wasm.op("v128.and", n, taken[q]!));
    const arriving = there?.assigned(there.value.map((t, q) => wasm.op("v128.or", t, leaving[q]!))) ?? [];
    const staying = lanes.map((n, q) => (taken === null ? wasm.i32x4(0) : wasm.op("v128.andnot", n, taken[q]!)));
    writer.assign([...arriving, ...now.assigned(staying)]);
  }

  /**
   * Writes versions of a single block for the case that only a few of the first lanes execute it: they have code for
   * these alone.
   */
  writeNarrow(region: ConvertedRegion, last: Instruction, { predicates, evaluate, join }: NarrowVersion): void {
    const [only] = region.blocks;
    if (region.blocks.length > 1 || region.loops.size > 0 || this.#exchanges(only!)) return;
    const chunk = this.#chunk;
    const { register, negate } = last.guard!;
    const predicate = { kind: "reg", ty: "pred", reg: register } as const;
    for (const quads of narrowQuads) {
      if (quads >= chunk.quads) continue;
      const rest = { from: 4 * quads, to: wasm.i64(BigInt(chunk.lanes - 1)) };
      const taken = everywhere(chunk, predicates, predicate, !negate, rest);
      if (taken === null) return;
      chunk.writer.value(taken);
      chunk.writer.if(() => {
        chunk.narrowed(quads, () => {
          evaluate();
          this.write(region, last);
        });
        join();
      });
    }
  }
}

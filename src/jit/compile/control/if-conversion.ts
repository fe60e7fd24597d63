import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { accessesOf, type Instruction, isLanewise } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { wasm } from "../../../wasm/index.ts";
import { LaneArithmetic } from "../analysis/values/lane-arithmetic.ts";
import type { Chunk } from "../emit/chunk.ts";
import { MaskLocals } from "../emit/mask-locals.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { narrowMaskOf } from "../lanes/narrow.ts";
import { splat } from "../lanes/value.ts";
import { everywhere } from "./uniform-branch.ts";

/** The most instructions of if-converted blocks, since they are written several times: of one block, and of several. */
const maxInstructions = { one: 24, several: 40 };

/** The most blocks that are if-converted together. */
const maxBlocks = 8;

/** The numbers of quads for which a single if-converted block is written, besides that for all lanes. */
const narrowQuads: readonly number[] = [1, 4];

/** Blocks between a branch and the place where all lanes are together again, with no way back and none out. */
export interface ConvertedRegion {
  readonly blocks: readonly FlowBlock[];
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
  /** Writes the instructions of a block. */
  readonly #instructions: (block: FlowBlock, isAlone: boolean) => void;

  constructor(chunk: Chunk, instructions: (block: FlowBlock, isAlone: boolean) => void) {
    this.#chunk = chunk;
    this.#arithmetic = new LaneArithmetic(chunk.analysis);
    this.#instructions = instructions;
  }

  /** Returns the blocks after a branch that can be if-converted; null where its lanes have to part. */
  regionAfter(block: FlowBlock, to: number): ConvertedRegion | null {
    const { graph, instructions, edgeCopies } = this.#chunk.analysis.code;
    if (instructions[block.end - 1]!.op.kind !== "branch" || to <= block.index + 1) return null;
    for (let i = block.start; i < block.end; i++) if (edgeCopies.has(i)) return null;
    const blocks: FlowBlock[] = [];
    let join = to;
    let size = 0;
    for (let index = block.index + 1; index < join; index++) {
      const inner = graph.blocks[index];
      if (inner === undefined || inner.successors.length === 0 || !this.#fits(inner)) return null;
      if (inner.successors.some((s) => s <= index)) return null;
      join = Math.max(join, ...inner.successors);
      size += inner.end - inner.start;
      blocks.push(inner);
      const isOne = blocks.length === 1 && join === index + 1;
      if (blocks.length > maxBlocks || size > (isOne ? maxInstructions.one : maxInstructions.several)) return null;
    }
    const isScattered = blocks.length > 1 && blocks.some((inner) => this.#isScattered(inner));
    return isScattered || join >= graph.blocks.length ? null : { blocks, join, to };
  }

  /** Whether lanes execute all of a block without others, and its end is no more than a branch. */
  #fits({ start, end }: FlowBlock): boolean {
    const { instructions, edgeCopies } = this.#chunk.analysis.code;
    for (let i = start; i < end; i++) {
      const { op, guard, lanes } = instructions[i]!;
      const isJump = op.kind === "branch" && i === end - 1 && guard?.collapse === undefined;
      if (lanes !== undefined || edgeCopies.has(i) || !(isLanewise(op) || isJump)) return false;
    }
    return true;
  }

  /** Whether each lane accesses memory at a place that follows from loaded values. */
  #isScattered({ start, end }: FlowBlock): boolean {
    const accesses = this.#chunk.analysis.code.instructions.slice(start, end).flatMap(({ op }) => accessesOf(op));
    return accesses.some(({ place }) => place.kind === "address" && !this.#arithmetic.is(place.address));
  }

  /** Writes the blocks after a branch, given as the last instruction of its block, for the converged lanes. */
  write({ blocks, join, to }: ConvertedRegion, { guard }: Instruction): void {
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
    if (region.blocks.length > 1) return;
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

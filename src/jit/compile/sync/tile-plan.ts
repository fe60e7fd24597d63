import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { fragmentOf, type Instruction, type MatrixProduct } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Tile, tileOf } from "../../../tiles/index.ts";
import { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";

/** The number of matrices that are kept widened. */
export const tileSlots = { left: 4, right: 8 } as const;

export type Side = keyof typeof tileSlots;

/** A place for a widened matrix. `isFilled`: another product has widened it before. */
interface TileSlot {
  readonly number: number;
  readonly isFilled: boolean;
}

/** Where a product's matrices are. */
export type TileSlots = Readonly<Record<Side, TileSlot>>;

/** The matrices of one side that lie widened in the context, in the order in which they were. */
class Kept {
  readonly #slots: number;
  /** By slot, the registers that are the matrix; empty: none is kept. */
  #matrices: (readonly number[])[] = [];
  #next = 0;
  /** What has been widened: other formats need slots of other sizes. */
  #format = "";

  constructor(slots: number) {
    this.#slots = slots;
  }

  forget(): void {
    this.#matrices = [];
    this.#next = 0;
  }

  written(registers: ReadonlySet<number>): void {
    this.#matrices = this.#matrices.map((matrix) => (matrix.some((r) => registers.has(r)) ? [] : matrix));
  }

  slot(format: string, operands: readonly Expr[]): TileSlot {
    if (format !== this.#format) this.forget();
    this.#format = format;
    const registers = operands.flatMap((operand) => (operand.kind === "reg" ? [operand.reg] : []));
    const isKept = registers.length === operands.length;
    const found = this.#matrices.findIndex((matrix) => isKept && matrix.join() === registers.join());
    if (found >= 0) return { number: found, isFilled: true };
    const number = this.#next;
    this.#next = (number + 1) % this.#slots;
    this.#matrices[number] = isKept ? registers : [];
    return { number, isFilled: false };
  }
}

/**
 * Which products find matrices that products before them have widened, by instruction. It does not depend on the
 * version of a block's code: lanes that leave one for another find the same matrices. Products are for all lanes of a
 * warp, so that nothing else runs on the way from a block to its only successor, if that has no other predecessor.
 */
export class TilePlan {
  readonly #slots = new Map<number, TileSlots>();
  readonly #analysis: UniformityAnalysis;
  readonly #waits: WarpWaitBlocks;
  readonly #kept: Readonly<Record<Side, Kept>> = { left: new Kept(tileSlots.left), right: new Kept(tileSlots.right) };

  constructor(analysis: UniformityAnalysis) {
    this.#analysis = analysis;
    this.#waits = new WarpWaitBlocks(analysis);
    const { graph } = analysis.code;
    for (const block of graph.blocks) if (this.#continues(block) === null) this.#follow(block);
  }

  /** Where the matrices of a product are; those of a conditional one are its own. */
  of(instruction: number): TileSlots {
    return this.#slots.get(instruction) ?? alone;
  }

  /** The block from which alone another is reached, at once. */
  #continues({ index, predecessors }: FlowBlock): FlowBlock | null {
    const { blocks } = this.#analysis.code.graph;
    const before = blocks[predecessors[0]!];
    const isOnly = index !== 0 && predecessors.length === 1 && before!.successors.length === 1;
    return isOnly && !this.#waits.has(index) && before !== blocks[index] ? before! : null;
  }

  /** Goes through a block and those that continue it. */
  #follow(first: FlowBlock): void {
    const { graph, instructions } = this.#analysis.code;
    this.#forget();
    for (let block: FlowBlock | undefined = first; block !== undefined; ) {
      for (let i = block.start; i < block.end; i++) this.#pass(instructions[i]!, i);
      const next: FlowBlock | undefined = graph.blocks[block.successors[0]!];
      block = next !== undefined && this.#continues(next) === block ? next : undefined;
    }
  }

  #pass({ op, dst, guard }: Instruction, index: number): void {
    if (!keepsTiles[op.kind] || (op.kind === "warp" && op.mask !== null && op.warp.op !== "align")) {
      this.#forget();
      return;
    }
    if (op.kind === "warp" && op.warp.op === "multiply") {
      const { product, operands } = op.warp;
      const tile = tileOf(product);
      if (guard !== null) this.#forget();
      else if (tile !== null) this.#slots.set(index, this.#find(tile, product, operands));
    }
    const written = new Set(dst.flatMap((d) => (typeof d === "number" ? [d] : [])));
    for (const kept of Object.values(this.#kept)) kept.written(written);
  }

  #find({ a, b, k }: Tile, product: MatrixProduct, operands: readonly Expr[]): TileSlots {
    const afterA = fragmentOf(product, "a").registers;
    const afterB = afterA + fragmentOf(product, "b").registers;
    const { left, right } = this.#kept;
    return {
      left: left.slot(`${a} ${k}`, operands.slice(0, afterA)),
      right: right.slot(`${b} ${k}`, operands.slice(afterA, afterB)),
    };
  }

  #forget(): void {
    for (const kept of Object.values(this.#kept)) kept.forget();
  }
}

const alone: TileSlots = { left: { number: 0, isFilled: false }, right: { number: 0, isFilled: false } };

/** Operations during which no other code runs that multiplies matrices. */
const keepsTiles: Readonly<Record<Instruction["op"]["kind"], boolean>> = {
  pure: true,
  load: true,
  store: true,
  atomic: true,
  copy: true,
  warp: true,
  activemask: true,
  fence: true,
  "commit-copies": true,
  "await-copies": true,
  "order-products": true,
  unit: true,
  nothing: true,
  breakpoint: true,
  sleep: false,
  call: false,
  "file-call": false,
  "subroutine-call": false,
  alloca: false,
  "stack-save": false,
  "stack-restore": false,
  barrier: false,
  "cluster-barrier": false,
  "cluster-poll": false,
  branch: false,
  "branch-indexed": false,
  return: false,
  exit: false,
  trap: false,
  unsupported: false,
};

import type { Instruction } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";

/** A matrix that lies widened in the context, as long as the registers have the same values. */
interface Kept {
  /** The operands. */
  readonly key: string;
  readonly registers: readonly number[];
}

/** A place for a widened matrix. `isFilled`: it has been widened before. */
export interface TileSlot {
  readonly number: number;
  readonly isFilled: boolean;
}

/** The number of matrices that are kept. */
export const tileSlots = { left: 4, right: 8 } as const;

export type Side = keyof typeof tileSlots;

/**
 * Which matrices have been widened by the code of a block so far, so that products with the same matrix widen it once.
 * Instructions are noted in the order in which they are written; where that is not the order of the block, the code is
 * another version of it, which knows nothing of this one.
 */
export class TileCache {
  readonly #kept: Record<Side, Map<number, Kept>> = { left: new Map(), right: new Map() };
  readonly #next: Record<Side, number> = { left: 0, right: 0 };
  /** The functions that have widened what is kept: others need slots of other sizes. */
  readonly #widened: Record<Side, string> = { left: "", right: "" };
  #block = -1;
  #index = -1;

  /** Begins an instruction of a block. */
  begin(block: number, index: number): void {
    if (block !== this.#block || index <= this.#index) this.forget();
    this.#block = block;
    this.#index = index;
  }

  /** The instruction that has begun is written. */
  end({ op, dst }: Instruction): void {
    if (!keepsTiles[op.kind]) {
      this.forget();
      return;
    }
    for (const kept of Object.values(this.#kept)) {
      for (const [slot, { registers }] of kept) {
        if (dst.some((d) => typeof d === "number" && registers.includes(d))) kept.delete(slot);
      }
    }
  }

  forget(): void {
    for (const kept of Object.values(this.#kept)) kept.clear();
  }

  /** A slot for a matrix; if there is no other one, that of the matrix that was widened first. */
  slot(side: Side, widened: string, operands: readonly Expr[]): TileSlot {
    if (widened !== this.#widened[side]) this.#kept[side].clear();
    this.#widened[side] = widened;
    const registers = operands.flatMap((operand) => (operand.kind === "reg" ? [operand.reg] : []));
    const key = registers.length === operands.length ? registers.join() : null;
    for (const [number, kept] of this.#kept[side]) if (kept.key === key) return { number, isFilled: true };
    const number = this.#next[side];
    this.#next[side] = (number + 1) % tileSlots[side];
    this.#kept[side].delete(number);
    if (key !== null) this.#kept[side].set(number, { key, registers });
    return { number, isFilled: false };
  }
}

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
  branch: false,
  "branch-indexed": false,
  return: false,
  exit: false,
  trap: false,
  unsupported: false,
};

import type { Restore } from "../../../machine/memory/checkpoint.ts";
import type { FaultDetails } from "../../../machine/faults/fault.ts";
import type { Site } from "../../../machine/state/code.ts";
import type { Warp } from "../../../machine/state/launch-state.ts";

/** Lanes and columns of the tensor memory of a block (section 9.7.16.1). */
export const tensorLanes = 128;
export const tensorColumns = 512;

/** Columns are allocated by this many. */
export const columnUnit = 32;

/** Columns that a block has allocated. */
export interface TensorAllocation {
  readonly column: number;
  readonly columns: number;
  readonly by: TensorAllocator;
}

/** The instruction and the warp that allocated columns. */
export interface TensorAllocator {
  readonly site: Site;
  readonly warp: Warp;
  readonly lanes: number;
  readonly stack: NonNullable<FaultDetails["stack"]>;
}

/** A warp that performs an operation with one of the other block of its pair. */
export interface PairRequest {
  readonly warp: Warp;
  readonly columns: number;
  readonly by: TensorAllocator;
  /** The column that both blocks have allocated; null: the other has not come, or no columns are free. */
  granted: number | null;
}

/** A cell of tensor memory as addresses give it: the lane in the upper half, the column in the lower. */
export interface TensorAddress {
  readonly lane: number;
  readonly column: number;
}

export const tensorAddress = (address: number): TensorAddress => ({ lane: address >>> 16, column: address & 0xffff });

/** The tensor memory of a block: 128 lanes by 512 columns of 32 bits, and which columns are allocated. */
export class TensorMemory {
  /** By lane, then by column. */
  readonly words = new Int32Array(tensorLanes * tensorColumns);
  #allocations: readonly TensorAllocation[] = [];
  /** Whether the block has given up the right to allocate. */
  relinquished = false;
  /** Allocations of the pair that warps of the block wait for, in the order in which they came. */
  requests: readonly PairRequest[] = [];
  /** The warps that have freed columns, and wait for the other block of the pair to free its own. */
  freeing: readonly Warp[] = [];

  get allocations(): readonly TensorAllocation[] {
    return this.#allocations;
  }

  /** Allocates columns, the lowest that are free, at a multiple of their number; null if there are none. */
  allocate(columns: number, by: TensorAllocator): number | null {
    const column = freeColumns([this], columns);
    if (column !== null) this.take(column, columns, by);
    return column;
  }

  /** Allocates columns that are free. */
  take(column: number, columns: number, by: TensorAllocator): void {
    this.#allocations = [...this.#allocations, { column, columns, by }];
  }

  /** Frees the allocation that begins at a column; false if there is none with this number of columns. */
  free(column: number, columns: number): boolean {
    const rest = this.#allocations.filter((one) => one.column !== column || one.columns !== columns);
    if (rest.length === this.#allocations.length) return false;
    this.#allocations = rest;
    return true;
  }

  /** The first of some columns that is not allocated, or null. */
  unallocated(column: number, columns: number): number | null {
    for (let at = column; at < column + columns; ) {
      const found = this.#allocations.find((one) => one.column <= at && at < one.column + one.columns);
      if (found === undefined) return at;
      at = found.column + found.columns;
    }
    return null;
  }

  get stateBytes(): number {
    return this.words.byteLength;
  }

  checkpoint(): Restore {
    const words = this.words.slice();
    const allocations = this.#allocations;
    const { relinquished, freeing } = this;
    const requests = this.requests.map((one) => ({ ...one }));
    return () => {
      this.words.set(words);
      this.#allocations = allocations;
      this.relinquished = relinquished;
      this.freeing = freeing;
      this.requests = requests.map((one) => ({ ...one }));
    };
  }
}

/** The lowest columns that are free in all memories, at a multiple of their number; null if there are none. */
export function freeColumns(memories: readonly TensorMemory[], columns: number): number | null {
  const taken = memories.flatMap(({ allocations }) => allocations);
  for (let column = 0; column + columns <= tensorColumns; column += columns) {
    if (!taken.some((one) => column < one.column + one.columns && one.column < column + columns)) return column;
  }
  return null;
}

import { TensorMemory, tensorAddress, tensorColumns, tensorLanes } from "../../program/units/tensor/tensor-memory.ts";
import type { Cta } from "../../machine/state/launch-state.ts";

/** Columns of tensor memory that a block has allocated. */
export interface AllocatedColumns {
  readonly column: number;
  readonly columns: number;
  /** The number of the warp that allocated them. */
  readonly warp: number;
}

/** Returns the columns that a block has allocated; null if it has used no tensor memory. */
export function tensorAllocations(cta: Cta): readonly AllocatedColumns[] | null {
  const memory = cta.units.existing(TensorMemory);
  return memory?.allocations.map(({ column, columns, by }) => ({ column, columns, warp: by.warp.index })) ?? null;
}

/** Returns words of tensor memory: by lane, `columns` from an address on, as far as there are any. */
export function tensorWords(cta: Cta, address: number, lanes: number, columns: number): readonly Int32Array[] {
  const memory = cta.units.existing(TensorMemory);
  if (memory === null) return [];
  const { lane, column } = tensorAddress(address);
  const rows: Int32Array[] = [];
  for (let at = lane; at < Math.min(tensorLanes, lane + lanes); at++) {
    const start = at * tensorColumns;
    rows.push(
      memory.words.slice(start + Math.min(column, tensorColumns), start + Math.min(column + columns, tensorColumns)),
    );
  }
  return rows;
}

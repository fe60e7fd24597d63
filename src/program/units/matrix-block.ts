import { elementPlace, type MatrixBlock, matrixBlockBytes, type UnitOpOf } from "../../ir/index.ts";
import { parts } from "../../machine/memory/address-space.ts";
import { forEachLane } from "./lanes.ts";
import type { Range, UnitCall } from "./unit-call.ts";

/** The part of a row of a block that lies in the matrix: from column `first` of the block on. */
interface RowPart {
  readonly block: number;
  readonly row: number;
  readonly first: number;
  readonly count: number;
  readonly range: Range;
}

/** Visits the rows of all blocks; elements outside the matrix belong to none. */
function forEachRow(
  block: MatrixBlock,
  call: UnitCall,
  lane: number,
  effect: "load" | "store",
  visit: (part: RowPart) => void,
): void {
  const { size, width, height } = block;
  const { high, low } = call.address(0, lane);
  const base = (BigInt(high) << 32n) | BigInt(low);
  // The sizes are those of the message: less 1.
  const [columns, rows, pitch] = [1, 2, 3].map((n) => (call.word(n, lane) >>> 0) + 1) as [number, number, number];
  const [x, y] = [call.word(4, lane), call.word(5, lane)];
  for (let row = Math.max(0, -y); row < height && y + row < rows; row++) {
    for (let index = 0; index < block.blocks; index++) {
      const from = x + index * width;
      const first = Math.max(0, -from);
      const count = Math.min(width, Math.floor(columns / size) - from) - first;
      if (count <= 0) continue;
      const at = base + BigInt((y + row) * pitch + (from + first) * size);
      const address = parts(BigInt.asUintN(64, at));
      const range = call.range({ lane, effect, space: "global", address, bytes: count * size, align: 1 });
      visit({ block: index, row, first, count, range });
    }
  }
}

/** Loads a block of a matrix: zeros outside it (`lsc_load_block2d`). */
export const loadBlock = ({ block }: UnitOpOf<"block-load">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const { size } = block;
    const registers = new Uint8Array(matrixBlockBytes(block));
    forEachRow(block, call, lane, "load", ({ block: index, row, first, count, range }) => {
      const { u8 } = range.views;
      for (let i = 0; i < count; i++) {
        const from = range.at + i * size;
        registers.set(u8.subarray(from, from + size), elementPlace(block, index, first + i, row));
      }
    });
    giveBytes(call, lane, registers);
  });

/** Stores a block of a matrix: nothing outside it (`lsc_store_block2d`). */
export const storeBlock = ({ block }: UnitOpOf<"block-store">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const { size } = block;
    const registers = takeBytes(call, lane, 6, matrixBlockBytes(block));
    forEachRow(block, call, lane, "store", ({ block: index, row, first, count, range }) => {
      for (let i = 0; i < count; i++) {
        const from = elementPlace(block, index, first + i, row);
        range.views.u8.set(registers.subarray(from, from + size), range.at + i * size);
      }
    });
  });

/** Gives the bytes of registers as results of 32 bits. */
export function giveBytes(call: UnitCall, lane: number, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer);
  for (let i = 0; 4 * i < bytes.length; i++) call.give(i, lane, view.getInt32(4 * i, true));
}

/** The bytes of registers, which are operands of 32 bits from the n-th on. */
export function takeBytes(call: UnitCall, lane: number, n: number, bytes: number): Uint8Array {
  const registers = new Uint8Array(bytes);
  const view = new DataView(registers.buffer);
  for (let i = 0; 4 * i < bytes; i++) view.setInt32(4 * i, call.word(n + i, lane), true);
  return registers;
}

import type { TensorCopy, UnitOpOf } from "../../../ir/index.ts";
import { chunkBytes, tensorLayoutOf } from "../../../ir/index.ts";
import { lanesIn } from "../../../ir/lane-mask.ts";
import type { UnitCall } from "../unit-call.ts";
import { issueUncounted } from "../effect.ts";
import { checkCells } from "./access.ts";
import { blocksOf, type TensorBlock } from "./blocks.ts";
import { tensorFault } from "./fault.ts";
import { unpackBytes } from "./packing.ts";
import { findChunks, tensorChunkAddress } from "./shared-chunks.ts";
import { type TensorAddress, tensorAddress, tensorColumns, tensorLanes, type TensorMemory } from "./tensor-memory.ts";

/**
 * The lanes that get a row of the source, counted from the lane of the address (section 9.7.16.9.2). With 32 or 64 rows
 * a row goes to two or four quarters; of 4 rows each goes to one, in which it is the row to be replaced.
 */
function copiedLanes({ rows, multicast }: TensorCopy, row: number): readonly number[] {
  if (rows === 4) return [32 * row];
  switch (multicast) {
    case null:
      return [row];
    case "all":
      return [row, row + 32, row + 64, row + 96];
    case "02_13":
      return [row, row + 64];
    case "01_23":
      return row < 32 ? [row, row + 32] : [row + 32, row + 64];
  }
}

const words = new Int32Array(8);
const bytes = new Uint8Array(words.buffer);

/** Copies the rows of a matrix in shared memory to tensor memory, for each lane that asks; in each block its own. */
export function copyToTensor({ copy }: UnitOpOf<"tensor-copy">, call: UnitCall): void {
  for (const lane of lanesIn(call.lanes)) {
    const to = tensorAddress(call.word(0, lane));
    const { low, high } = call.address(1, lane);
    const layout = tensorLayoutOf(low, high);
    if (typeof layout === "string") {
      throw tensorFault(call, "tcgen05-bad-descriptor", `the descriptor of the matrix: ${layout}`, {}, lane);
    }
    const chunks = copy.bytes / chunkBytes;
    const addresses = Int32Array.from({ length: copy.rows * chunks }, (_, i) =>
      tensorChunkAddress(layout, true, Math.floor(i / chunks), i % chunks),
    );
    const parts = blocksOf(call, copy.pair, lane).map((block) => {
      checkTarget(call, block, copy, { to, lane });
      const read = findChunks(call, lane, block, addresses);
      return () => copyRows(copy, read(), addresses, { memory: block.memory, to });
    });
    const perform = (): void => {
      for (const part of parts) part();
    };
    issueUncounted(call, "tensor", perform, lane);
  }
}

function checkTarget(
  call: UnitCall,
  block: TensorBlock,
  { rows, bytes: size }: TensorCopy,
  { to, lane }: { readonly to: TensorAddress; readonly lane: number },
): void {
  const { lane: first, column } = to;
  if (rows !== 4 && first !== 0) {
    const message = `the copy begins at lane ${first} of tensor memory, and must at lane 0`;
    throw tensorFault(call, "tcgen05-out-of-bounds", message, {}, lane);
  }
  checkCells(
    call,
    { block, what: "the destination", effect: "store", asking: lane },
    { lane: first, lanes: rows === 4 ? 97 : tensorLanes, column, columns: size / 4 },
  );
}

interface Target {
  readonly memory: TensorMemory;
  readonly to: TensorAddress;
}

function copyRows(copy: TensorCopy, source: Uint8Array, addresses: Int32Array, { memory, to }: Target): void {
  const chunks = copy.bytes / chunkBytes;
  for (let row = 0; row < copy.rows; row++) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      const at = addresses[row * chunks + chunk]!;
      if (copy.unpacked === null) bytes.set(source.subarray(at, at + chunkBytes), chunk * chunkBytes);
      else unpackBytes(copy.unpacked, source, at, bytes, chunk * chunkBytes);
    }
    for (const lane of copiedLanes(copy, row)) {
      memory.words.set(words.subarray(0, copy.bytes / 4), (to.lane + lane) * tensorColumns + to.column);
    }
  }
}

/** Columns of 32 bits that a shift moves, and rows. */
const shiftedColumns = 8;
const shiftedLanes = 32;

/**
 * Moves 32 bytes of each lane to the lane before it, in the 32 lanes from that of the address on; the last one keeps
 * its own, which `tcgen05.cp` with a shape of 4 rows then replaces (sections 9.7.16.9.3 and 9.7.16.6.2).
 */
export function shiftTensor({ pair }: UnitOpOf<"tensor-shift">, call: UnitCall): void {
  for (const asking of lanesIn(call.lanes)) {
    const { lane, column } = tensorAddress(call.word(0, asking));
    if (lane % shiftedLanes !== 0) {
      const message = `the shift begins at lane ${lane} of tensor memory, and must at a multiple of 32`;
      throw tensorFault(call, "tcgen05-out-of-bounds", message, {}, asking);
    }
    const blocks = blocksOf(call, pair, asking);
    for (const block of blocks) {
      checkCells(
        call,
        { block, what: "what is shifted", effect: "store", asking },
        { lane, lanes: shiftedLanes, column, columns: shiftedColumns },
      );
    }
    const perform = (): void => {
      for (const { memory } of blocks) {
        for (let row = lane; row < lane + shiftedLanes - 1; row++) {
          const next = (row + 1) * tensorColumns + column;
          memory.words.copyWithin(row * tensorColumns + column, next, next + shiftedColumns);
        }
      }
    };
    issueUncounted(call, "tensor", perform, asking);
  }
}

import { lanesIn } from "../../../ir/lane-mask.ts";
import type { TensorCells } from "../../../machine/events.ts";
import type { FaultDetails } from "../../../machine/faults/fault.ts";
import type { UnitCall } from "../unit-call.ts";
import type { TensorBlock } from "./blocks.ts";
import type { DataPaths } from "./data-paths.ts";
import { tensorFault } from "./fault.ts";
import { type TensorAddress, tensorColumns, tensorLanes } from "./tensor-memory.ts";

/** The value of an operand that all lanes of the warp must give alike. */
export function sameWord(call: UnitCall, n: number, what: string): number {
  const [first, ...others] = lanesIn(call.lanes);
  const word = call.word(n, first!);
  const other = others.find((lane) => call.word(n, lane) !== word);
  if (other === undefined) return word;
  throw tensorFault(
    call,
    "tcgen05-divergent-operand",
    `the lanes of the warp give different ${what}: ${word >>> 0} in lane ${first} and ${call.word(n, other) >>> 0} in lane ${other}`,
  );
}

/** An access to cells of a block, on behalf of one lane or, by default, of all for which the unit acts. */
export interface CellsAccess {
  readonly block: TensorBlock;
  /** The matrix, for messages. */
  readonly what: string;
  /** Null: it is only checked that they are there. */
  readonly effect: "load" | "store" | null;
  readonly asking?: number | undefined;
}

/**
 * Checks that cells exist and that their columns are allocated, and lets observers know of the access.
 *
 * @throws Fault if they do not, or are not
 */
export function checkCells(call: UnitCall, { block, what, effect, asking }: CellsAccess, cells: TensorCells): void {
  const { lane, lanes, column, columns } = cells;
  const fail = (message: string, details: FaultDetails = {}): never => {
    throw tensorFault(call, "tcgen05-out-of-bounds", message, details, asking);
  };
  const range = `columns ${column} to ${column + columns - 1}`;
  if (lane + lanes > tensorLanes) fail(`${what} is in lanes ${lane} to ${lane + lanes - 1}, and there are 128`);
  if (column + columns > tensorColumns) fail(`${what} is in ${range}, and there are 512`);
  const missing = block.memory.unallocated(column, columns);
  if (missing === null) {
    if (effect !== null) call.touch(asking === undefined ? call.lanes : 1 << asking, effect, cells, block.cta);
    return;
  }
  const allocated = block.memory.allocations.map((one) => `${one.column} to ${one.column + one.columns - 1}`);
  const whose = block.cta === call.x.warp.cta ? "the block" : "the other block of the pair";
  fail(`${what} is in ${range} of tensor memory, and column ${missing} is not allocated`, {
    notes: [
      allocated.length === 0 ? `${whose} has allocated no columns` : `allocated are columns ${allocated.join(", ")}`,
    ],
  });
}

/**
 * Checks the columns of a matrix whose rows are as those of D: in all lanes from that of its address on, or in 16 of
 * each 32.
 *
 * @throws Fault if it cannot begin at that lane, or is not in allocated columns
 */
export function checkMatrix(
  call: UnitCall,
  access: CellsAccess,
  { half }: DataPaths,
  { lane, column }: TensorAddress,
  columns: number,
): void {
  if (lane !== 0 && !(half && lane === 16)) {
    const message = `${access.what} begins at lane ${lane} of tensor memory, and must at lane 0${half ? " or 16" : ""}`;
    throw tensorFault(call, "tcgen05-out-of-bounds", message, {}, access.asking);
  }
  if (!half) checkCells(call, access, { lane, lanes: tensorLanes, column, columns });
  else
    for (let at = lane; at < tensorLanes; at += 32) checkCells(call, access, { lane: at, lanes: 16, column, columns });
}

import { lanesIn } from "../../../ir/lane-mask.ts";
import { Fault, type FaultDetails } from "../../../machine/faults/fault.ts";
import type { UnitCall } from "../unit-call.ts";
import { type TensorAddress, tensorColumns, tensorLanes, TensorMemory } from "./tensor-memory.ts";

/** The fault of the lanes for which a unit acts, or of one of them. */
export function tensorFault(
  { x, site, lanes }: UnitCall,
  code: string,
  message: string,
  details: FaultDetails & { readonly lane?: number } = {},
): Fault {
  const { lane, ...rest } = details;
  return new Fault(code, message, { site, activation: x, lanes: lane === undefined ? lanes : 1 << lane }, rest);
}

export const tensorMemoryOf = ({ states }: UnitCall): TensorMemory => states.of(TensorMemory);

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

/** Cells of tensor memory: these columns of these lanes. */
export interface TensorCells {
  readonly lane: number;
  readonly lanes: number;
  readonly column: number;
  readonly columns: number;
}

/**
 * Checks that cells exist and that their columns are allocated.
 *
 * @throws Fault if they do not, or are not
 */
export function checkCells(call: UnitCall, what: string, cells: TensorCells): void {
  const { lane, lanes, column, columns } = cells;
  const fail = (message: string, details: FaultDetails = {}): never => {
    throw tensorFault(call, "tcgen05-out-of-bounds", message, details);
  };
  const range = `columns ${column} to ${column + columns - 1}`;
  if (lane + lanes > tensorLanes) fail(`${what} is in lanes ${lane} to ${lane + lanes - 1}, and there are 128`);
  if (column + columns > tensorColumns) fail(`${what} is in ${range}, and there are 512`);
  const memory = tensorMemoryOf(call);
  const missing = memory.unallocated(column, columns);
  if (missing === null) return;
  const allocated = memory.allocations.map((one) => `${one.column} to ${one.column + one.columns - 1}`).join(", ");
  fail(`${what} is in ${range} of tensor memory, and column ${missing} is not allocated`, {
    notes: [allocated === "" ? "the block has allocated no columns" : `allocated are columns ${allocated}`],
  });
}

/** The cell at an offset from another. */
export const cellAt = ({ lane, column }: TensorAddress, lanes: number, columns: number): TensorAddress => ({
  lane: lane + lanes,
  column: column + columns,
});

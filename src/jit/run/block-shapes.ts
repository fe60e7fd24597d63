import type { Instruction } from "../../ir/index.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { anyShape, isRow, type LaunchShape, type Quads } from "../abi/launch-shape.ts";

/** The shape of which only the size of the blocks is known, besides the width of chunks. */
export function blockShape(block: Dim3, quads: Quads, shared: boolean): LaunchShape {
  const [x, y, z] = block;
  const lanes = 4 * quads;
  const rows = isRow(block) || x % lanes === 0;
  const isInLayer = z === 1 || (x * y) % lanes === 0;
  return {
    ...anyShape(quads),
    rows,
    rowLength: rows || !isInLayer ? null : x,
    full: (x * y * z) % lanes === 0,
    single: x * y * z <= lanes,
    shared,
  };
}

/** The shape of threads each of which is a chunk. */
export const scalarShape = (shared: boolean): LaunchShape => ({
  ...anyShape(1),
  ...{ scalar: true, rows: true, full: true, shared },
});

/**
 * The shape of hardware threads (vISA), each of which is a chunk. A chunk has more lanes than the thread where
 * instructions without a mask are for more; these lanes are never active.
 */
export function threadShape(
  instructions: readonly Instruction[],
  [x, y, z]: Dim3,
  width: number,
  shared: boolean,
): LaunchShape {
  const lanes = instructions.reduce(
    (most, { lanes }) => Math.max(most, (lanes?.first ?? 0) + (lanes?.count ?? 0)),
    width,
  );
  const quads = ([1, 2, 4, 8] as const).find((q) => 4 * q >= lanes)!;
  const full = width === 4 * quads && (x * y * z) % width === 0;
  return { ...anyShape(quads), rows: true, full, width, shared };
}

/** Whether warps have threads of several rows of a block, of which code for blocks of any shape knows nothing. */
export const hasMixedWarps = (block: Dim3): boolean => !isRow(block) && block[0] % 32 !== 0;

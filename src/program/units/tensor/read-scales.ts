import { type Scale, scaleOf } from "../../../numeric/tensor-blocks.ts";
import { checkCells, tensorFault, tensorMemoryOf } from "./access.ts";
import type { OperandSource } from "./read-lines.ts";
import { scaleColumns, scaleLayout, scalePlace } from "./scale-factors.ts";
import { type TensorAddress, tensorColumns, tensorLanes } from "./tensor-memory.ts";

/** Quarters of the lanes: each computes 32 rows of D, and has scales of its own for them and for all columns. */
const quarters = 4;

/**
 * Reads the scales of A, by row, or of B: by quarter and column.
 *
 * @throws Fault if they are not in allocated columns, or cannot be where the descriptor says
 */
export function readScales(source: OperandSource, name: "A" | "B", from: TensorAddress): Scale[][] {
  const { call, lane: asking, op, product } = source;
  const layout = scaleLayout(op.scales!, product, name === "A" ? product.scaleA : product.scaleB);
  if (typeof layout === "string") {
    throw tensorFault(call, "tcgen05-bad-descriptor", `the scales of ${name}: ${layout}`, { lane: asking });
  }
  const lines = name === "A" ? product.m : product.n;
  const cells = { lane: from.lane, lanes: tensorLanes, column: from.column, columns: scaleColumns(layout, lines) };
  checkCells(call, { what: `the scales of ${name}`, effect: "load", asking }, cells);
  const { words } = tensorMemoryOf(call);
  return Array.from({ length: name === "A" ? lines : quarters * lines }, (_, line) => {
    const own = line % lines;
    const quarter = name === "A" ? own >> 5 : Math.floor(line / lines);
    return Array.from({ length: layout.count }, (_, index) => {
      const { lane, column, byte } = scalePlace(layout, lines, own, index);
      const word = words[(32 * quarter + lane) * tensorColumns + from.column + column]!;
      return scaleOf(product.scale, (word >>> (8 * byte)) & 0xff);
    });
  });
}

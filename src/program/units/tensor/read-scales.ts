import { blockScale } from "../../../numeric/block-scale.ts";
import type { GroupScales } from "../../../numeric/tensor.ts";
import { checkCells, tensorFault, tensorMemoryOf } from "./access.ts";
import { type OperandSource, storedElements } from "./read-lines.ts";
import { scaleColumns, scaleLayout, scalePlace } from "./scale-factors.ts";
import { type TensorAddress, tensorColumns, tensorLanes } from "./tensor-memory.ts";

/** Quarters of the lanes: each computes 32 rows of D, and has scales of its own for them and for all columns. */
const quarters = 4;

/** Elements that have the same scale, at least. */
const groupElements = 16;

/** The scales of the lines of an operand, group by group of 16 elements. */
export class ScaleLines implements GroupScales {
  at = 0;
  /** Groups of a line. */
  groups = 0;
  significands = new Float64Array(0);
  exponents = new Int32Array(0);

  reset(lines: number, groups: number): void {
    this.groups = groups;
    if (this.significands.length >= lines * groups) return;
    this.significands = new Float64Array(lines * groups);
    this.exponents = new Int32Array(lines * groups);
  }
}

/**
 * Reads the scales of A, by row, or of B: by quarter and column.
 *
 * @throws Fault if they are not in allocated columns, or cannot be where the descriptor says
 */
export function readScales(source: OperandSource, name: "A" | "B", from: TensorAddress, to: ScaleLines): void {
  const { call, lane: asking, op, product } = source;
  const layout = scaleLayout(op.scales!, product, name === "A" ? product.scaleA : product.scaleB);
  if (typeof layout === "string") {
    throw tensorFault(call, "tcgen05-bad-descriptor", `the scales of ${name}: ${layout}`, { lane: asking });
  }
  const lines = name === "A" ? product.m : product.n;
  const cells = { lane: from.lane, lanes: tensorLanes, column: from.column, columns: scaleColumns(layout, lines) };
  checkCells(call, { what: `the scales of ${name}`, effect: "load", asking }, cells);
  const groups = Math.max(storedElements(product) / groupElements, layout.count);
  const copies = name === "A" ? 1 : quarters;
  to.reset(lines * copies, groups);
  const { words } = tensorMemoryOf(call);
  for (let line = 0; line < lines * copies; line++) {
    const own = line % lines;
    const quarter = name === "A" ? own >> 5 : Math.floor(line / lines);
    for (let group = 0; group < groups; group++) {
      const { lane, column, byte } = scalePlace(layout, lines, own, Math.floor((group * layout.count) / groups));
      const word = words[(32 * quarter + lane) * tensorColumns + from.column + column]!;
      const { significand, exponent } = blockScale(product.scale, (word >>> (8 * byte)) & 0xff);
      to.significands[line * groups + group] = significand;
      to.exponents[line * groups + group] = exponent;
    }
  }
}

import { blockScale } from "../../../numeric/block-scale.ts";
import type { GroupScales } from "../../../numeric/tensor.ts";
import { checkCells } from "./access.ts";
import { tensorFault } from "./fault.ts";
import { type OperandSource, type Read, storedElements } from "./read-lines.ts";
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
 * Finds the scales of A, by the rows that the block has, or of B: by quarter and column. Where the columns of D are in
 * parts, a quarter has the scales of its part.
 *
 * @throws Fault if they are not in allocated columns, or cannot be where the descriptor says
 */
export function findScales(source: OperandSource, name: "A" | "B", from: TensorAddress, to: ScaleLines): Read {
  const { call, lane: asking, op, product, paths, block } = source;
  const layout = scaleLayout(op.scales!, product, name === "A" ? product.scaleA : product.scaleB);
  if (typeof layout === "string") {
    throw tensorFault(call, "tcgen05-bad-descriptor", `the scales of ${name}: ${layout}`, {}, asking);
  }
  const inPart = name === "A" ? paths.rows : product.n / paths.parts;
  const cells = { lane: from.lane, lanes: tensorLanes, column: from.column, columns: scaleColumns(layout, inPart) };
  checkCells(call, { block, what: `the scales of ${name}`, effect: "load", asking }, cells);
  const groups = Math.max(storedElements(product) / groupElements, layout.count);
  const lines = name === "A" ? inPart : product.n;
  const copies = name === "A" ? 1 : quarters;
  return () => {
    to.reset(lines * copies, groups);
    const { words } = block.memory;
    for (let copy = 0; copy < copies; copy++) {
      const part = name === "A" ? 0 : Math.floor((copy * paths.parts) / quarters);
      for (let own = 0; own < inPart; own++) {
        const quarter = name === "A" ? paths.lane(own) >> 5 : copy;
        const line = copy * lines + part * inPart + own;
        for (let group = 0; group < groups; group++) {
          const { lane, column, byte } = scalePlace(layout, inPart, own, Math.floor((group * layout.count) / groups));
          const word = words[(32 * quarter + lane) * tensorColumns + from.column + column]!;
          const { significand, exponent } = blockScale(product.scale, (word >>> (8 * byte)) & 0xff);
          to.significands[line * groups + group] = significand;
          to.exponents[line * groups + group] = exponent;
        }
      }
    }
  };
}

import {
  type FragmentMap,
  fragmentOf,
  lanesOfMetadata,
  type MatrixName,
  type MatrixProduct,
  scaleLaneOfColumn,
  scaleLaneOfRow,
} from "../../ir/index.ts";
import type { LaneShades } from "./state.ts";
import type { Shade } from "./shade.ts";

interface Operands {
  /** The operand of this number. */
  numbered(operand: number): LaneShades;
}

/** The undefined bits of the registers of D. */
interface UndefinedProducts {
  of(register: number, lane: number): Shade;
}

/** The numbers of the operands that are the first registers of A, B and C; null: it is in no registers. */
type FirstOperands = Readonly<Record<Exclude<MatrixName, "d">, number | null>>;

/** A, B and C in the registers of a warp follow each other. */
function inOrder(product: MatrixProduct): FirstOperands {
  const [a, b] = [fragmentOf(product, "a").registers, fragmentOf(product, "b").registers];
  return { a: 0, b: a, c: a + b };
}

/**
 * Elements of D are undefined where an element of the row of A, of the column of B, or of C is, or where the metadata
 * or a scale of the row or column is. By matrix, the elements or rows or columns with an origin.
 */
export function undefinedProducts(
  product: MatrixProduct,
  operands: Operands,
  first: FirstOperands = inOrder(product),
): UndefinedProducts {
  const [rows, columns, cells] = [new Map<number, number>(), new Map<number, number>(), new Map<number, number>()];
  const look = (
    name: keyof FirstOperands,
    found: Map<number, number>,
    keyOf: (element: number, map: FragmentMap) => number,
  ): void => {
    const at = first[name];
    if (at === null) return;
    const map = fragmentOf(product, name);
    for (let register = 0; register < map.registers; register++) {
      eachUndefined(map, register, operands.numbered(at + register), (element, origin) => {
        found.set(keyOf(element, map), origin);
      });
    }
  };
  look("a", rows, (element, map) => Math.floor(element / map.columns));
  look("b", columns, (element, map) => columnOf(element, map));
  look("c", cells, (element) => element);
  const at = (first.c ?? 0) + fragmentOf(product, "c").registers;
  const lines = undefinedLines(product, (operand) => operands.numbered(at + operand));
  for (const [row, origin] of lines.rows) rows.set(row, origin);
  for (const [column, origin] of lines.columns) columns.set(column, origin);
  const map = fragmentOf(product, "d");
  return {
    of(register, lane) {
      const shade = { low: 0, high: 0, origin: 0 };
      if (rows.size + columns.size + cells.size === 0) return shade;
      eachPart(map, register, lane, (element, part) => {
        const origin =
          rows.get(Math.floor(element / map.columns)) ?? columns.get(columnOf(element, map)) ?? cells.get(element);
        if (origin === undefined) return;
        shade.low |= maskOf(map) << (part * map.bits);
        shade.high |= map.bits === 64 ? -1 : 0;
        shade.origin = origin;
      });
      return shade;
    },
  };
}

/** The rows and columns whose metadata or scales have undefined bits. `operand`: those after C. */
function undefinedLines(product: MatrixProduct, operand: (number: number) => LaneShades) {
  const { m, n, sparsity, scales } = product;
  const [rows, columns] = [new Map<number, number>(), new Map<number, number>()];
  let next = 0;
  const look = (found: Map<number, number>, count: number, lanesOf: (line: number) => readonly number[]) => {
    const shades = operand(next++);
    for (let line = 0; line < count; line++) {
      for (const lane of lanesOf(line)) {
        if (((shades.lanes >>> lane) & 1) !== 0) found.set(line, shades.of(lane).origin);
      }
    }
  };
  if (sparsity !== undefined) look(rows, m, (row) => lanesOfMetadata({ ...product, sparsity }, row));
  if (scales !== undefined) {
    // Which lanes have scales is known where the selector is a constant.
    const selected = ({ byte, thread }: (typeof scales)["a"], laneOf: (line: number, thread: number) => number) => {
      const skipped = Number(byte === null) + Number(thread === null);
      return { skipped, lanesOf: (line: number) => (thread === null ? [] : [laneOf(line, thread)]) };
    };
    const [a, b] = [selected(scales.a, scaleLaneOfRow), selected(scales.b, scaleLaneOfColumn)];
    look(rows, m, a.lanesOf);
    next += a.skipped;
    look(columns, n, b.lanesOf);
  }
  return { rows, columns };
}

const maskOf = ({ bits }: FragmentMap): number => (bits >= 32 ? -1 : (1 << bits) - 1);

/** The number of a column, where a warp has several matrices of the one before too. */
const columnOf = (element: number, { rows, columns }: FragmentMap): number =>
  Math.floor(element / (rows * columns)) * columns + (element % columns);

function eachPart(
  { bits, registerBits, elements }: FragmentMap,
  register: number,
  lane: number,
  show: (element: number, part: number) => void,
): void {
  const parts = registerBits / bits;
  for (let part = 0; part < parts; part++) show(elements[(register * 32 + lane) * parts + part]!, part);
}

function eachUndefined(
  map: FragmentMap,
  register: number,
  shades: LaneShades,
  show: (element: number, origin: number) => void,
): void {
  for (let lane = 0; lane < 32; lane++) {
    if (((shades.lanes >>> lane) & 1) === 0) continue;
    const { low, high, origin } = shades.of(lane);
    eachPart(map, register, lane, (element, part) => {
      if (((low >>> (part * map.bits)) & maskOf(map)) !== 0 || high !== 0) show(element, origin);
    });
  }
}

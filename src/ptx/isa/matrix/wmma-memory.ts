import { atAddress, type MatrixName, type MatrixProduct } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import type { OperandAccess, Step } from "../define.ts";
import { accessOf, patternOf } from "../memory/access.ts";
import { type ElementPlace, elementPlaces, type Tiling } from "./wmma-tiles.ts";
import { align } from "./steps.ts";

/** A matrix in memory: `[p]{, stride}` with its layout. */
export interface StoredMatrix {
  readonly address: Expr;
  /** Elements from a row, or column, to the next. */
  readonly stride: Expr;
  readonly isRowMajor: boolean;
  readonly ss: string | undefined;
  readonly bits: number;
}

/** Registers that each lane accesses at once, or parts of one. */
interface Piece {
  readonly register: number;
  /** The first part; null: whole registers. */
  readonly part: number | null;
  readonly registers: number;
  readonly place: ElementPlace;
}

const lane: Expr = { kind: "special", ty: "i32", name: "laneid" };
const group = kit.shr(lane, kit.i32(2), false);
const inGroup = kit.and(lane, kit.i32(3));

/** Number of the row or column, and place within it. */
const lineOf = ({ row, column }: ElementPlace, isRowMajor: boolean): readonly [line: number, at: number] =>
  isRowMajor ? [row, column] : [column, row];

/** Whether `b` follows `a` in memory, `distance` elements later. */
function follows(a: ElementPlace, b: ElementPlace, distance: number, isRowMajor: boolean): boolean {
  const [[line, at], [nextLine, next]] = [lineOf(a, isRowMajor), lineOf(b, isRowMajor)];
  return line === nextLine && next === at + distance;
}

/** The accesses of each lane: as large as the elements lie next to each other, up to two registers. */
function piecesOf(places: readonly (readonly ElementPlace[])[], isRowMajor: boolean): readonly Piece[] {
  const isWhole = (parts: readonly ElementPlace[]): boolean =>
    parts.every((place, i) => follows(parts[0]!, place, i, isRowMajor));
  const found: Piece[] = [];
  for (let register = 0; register < places.length; register++) {
    const parts = places[register]!;
    const [place] = parts as [ElementPlace];
    if (!isWhole(parts)) {
      found.push(...parts.map((each, part) => ({ register, part, registers: 1, place: each })));
      continue;
    }
    const next = places[register + 1];
    const pair = next !== undefined && isWhole(next) && follows(place, next[0]!, parts.length, isRowMajor);
    found.push({ register, part: null, registers: pair ? 2 : 1, place });
    if (pair) register++;
  }
  return found;
}

/** The address of an element: what all elements of a lane share comes first. */
function addressOf({ address, stride, isRowMajor, bits }: StoredMatrix, place: ElementPlace): Expr {
  const [line, at] = lineOf(place, isRowMajor);
  const linesByGroup = place.rowsByGroup === isRowMajor;
  const own = kit.mul(inGroup, kit.i32(place.step));
  const [ownLine, ownPlace] = linesByGroup ? [group, own] : [own, group];
  const wide = (value: Expr): Expr => (address.ty === "i64" ? kit.widen(value, false) : value);
  const bytes = (elements: Expr): Expr =>
    bits >= 8 ? kit.mul(elements, kit.int(elements, bits / 8)) : kit.shr(elements, kit.i32(bits === 4 ? 1 : 3), false);
  const lines = wide(stride);
  const start = kit.add(address, bytes(kit.add(kit.mul(lines, wide(ownLine)), wide(ownPlace))));
  if (line === 0 && at === 0) return start;
  const further = kit.add(kit.mul(lines, kit.int(lines, line)), kit.int(lines, at));
  return kit.add(start, bytes(further));
}

const accessTo = ({ ss, bits }: StoredMatrix, { part, registers }: Piece) =>
  accessOf({ type: `b${part === null && bits < 64 ? 32 : bits}`, ss, vec: registers === 2 ? "v2" : undefined });

/** Parts of a register that are loaded one by one, at most. */
const maxParts = 4;

/** The steps of wmma.load into the registers of `d`. */
export function loadTiles(
  matrix: StoredMatrix,
  [tiling, product, name]: readonly [Tiling, MatrixProduct, MatrixName],
  ops: OperandAccess,
): Step[] {
  const places = elementPlaces(tiling, product, name);
  const d = ops.destinations("d");
  // f16 multiplicands have eight registers in all shapes: those that are loaded, again and again.
  const repeats = d.length > places.length;
  const loaded = places.map((_, i) => ops.temporary(maxParts + i));
  const to = repeats ? loaded.map(({ register }) => register) : d;
  const steps: Step[] = [align];
  for (const piece of piecesOf(places, matrix.isRowMajor)) {
    const { register, part, registers } = piece;
    const dst = part === null ? to.slice(register, register + registers) : [ops.temporary(part).register];
    const place = atAddress(addressOf(matrix, piece.place));
    steps.push({ op: { kind: "load", access: accessTo(matrix, piece), place }, dst });
    if (part === null || part < 32 / matrix.bits - 1) continue;
    const value = Array.from({ length: part + 1 }, (_, i) =>
      kit.shl(ops.temporary(i).value, kit.i32(i * matrix.bits)),
    ).reduce((a, b) => kit.or(a, b));
    steps.push({ op: { kind: "pure", values: [value] }, dst: [to[register]!] });
  }
  if (!repeats) return steps;
  const values = d.map((_, i) => loaded[i % loaded.length]!.value);
  return [...steps, { op: { kind: "pure", values }, dst: d }];
}

/** The steps of wmma.store of the registers of `r`. */
export function storeTiles(
  matrix: StoredMatrix,
  [tiling, product, name]: readonly [Tiling, MatrixProduct, MatrixName],
  ops: OperandAccess,
): Step[] {
  const from = ops.vector("r").map(patternOf);
  const pieces = piecesOf(elementPlaces(tiling, product, name), matrix.isRowMajor);
  return [
    align,
    ...pieces.map((piece): Step => {
      const { register, part, registers } = piece;
      const whole = from.slice(register, register + registers);
      const values = part === null ? whole : [kit.shr(whole[0]!, kit.i32(part * matrix.bits), false)];
      const place = atAddress(addressOf(matrix, piece.place));
      return { op: { kind: "store", access: accessTo(matrix, piece), place, values }, dst: [] };
    }),
  ];
}

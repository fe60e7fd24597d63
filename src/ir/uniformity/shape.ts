import type { Expr, RegionLeaf } from "../../semantics/index.ts";
import { type LeafExpr, LinearQuestion, type PrimExpr } from "./linear-form.ts";

/**
 * How a value varies over the lanes of a chunk, which are counted from 0.
 *
 * * `uniform`: the same in all lanes.
 * * `affine`: an integer, `base + stride * lane`, modulo 2^32 or 2^64. `width`: the number of the chunk's lanes, where
 *   it is a thread or lane number, of which the base is a multiple of it, plus a constant (`above`; 0 by default).
 * * `indexed`: an i64, `base + extend(index) * scale` with an i32 index that is extended from 32 bits, signed or not.
 * The index
 *   is affine with `stride`, or (null) any vector. Addresses of array elements are of this kind.
 * * `vector`: anything. `rows`: an integer, `base + x * tid.x + y * tid.y`, where a chunk has threads of several rows.
 */
export type Shape =
  | { readonly kind: "uniform" }
  | { readonly kind: "affine"; readonly stride: number; readonly width?: number; readonly above?: number }
  | { readonly kind: "indexed"; readonly scale: number; readonly signed: boolean; readonly stride: number | null }
  | { readonly kind: "vector"; readonly rows?: RowSteps };

type Affine = Extract<Shape, { kind: "affine" }>;

/** Steps of a value along a row of the block, of `length` threads, and from row to row. */
interface RowSteps {
  readonly x: number;
  readonly y: number;
  readonly length: number;
}

export const uniform: Shape = { kind: "uniform" };
export const vector: Shape = { kind: "vector" };

/** The shape of thread and lane numbers: chunks begin at multiples of their width. */
export const numbers = (width: number): Shape => ({ kind: "affine", stride: 1, width });

/** Beyond this a stride times a lane would not be exact in a JavaScript number. */
const maxStride = 2 ** 46;
export const affine = (stride: number): Shape =>
  stride === 0 ? uniform : Math.abs(stride) <= maxStride ? { kind: "affine", stride } : vector;

/** `tid.x` or `tid.y` where rows of the block have `length` threads and chunks have threads of several rows. */
export const alongRows = (axis: "x" | "y", length: number): Shape => ({
  kind: "vector",
  rows: { x: axis === "x" ? 1 : 0, y: axis === "y" ? 1 : 0, length },
});

const sameRows = (a: RowSteps | undefined, b: RowSteps | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.x === b.x && a.y === b.y && a.length === b.length);

const sameSteps = (a: Affine, b: Affine): boolean =>
  a.stride === b.stride && a.width === b.width && aboveOf(a) === aboveOf(b);

export const sameShape = (a: Shape, b: Shape): boolean =>
  a.kind === b.kind &&
  (a.kind !== "vector" || sameRows(a.rows, (b as typeof a).rows)) &&
  (a.kind !== "affine" || sameSteps(a, b as typeof a)) &&
  (a.kind !== "indexed" ||
    (a.scale === (b as typeof a).scale && a.signed === (b as typeof a).signed && a.stride === (b as typeof a).stride));

/** The shape of a register that may hold a value of either shape. */
export function joinedShape(a: Shape, b: Shape): Shape {
  if (sameShape(a, b)) return a;
  return a.kind === "affine" && b.kind === "affine" && a.stride === b.stride ? affine(a.stride) : vector;
}

/** Whether a value is kept in a few scalars, from which that of any lane follows. */
export const isLinear = (shape: Shape): boolean =>
  shape.kind === "uniform" || shape.kind === "affine" || (shape.kind === "indexed" && shape.stride !== null);

/** The shapes of the leaves of expressions. */
export interface LeafShapes {
  /** Null as long as the shape of a register is unknown; then so is that of anything computed from it. */
  readonly register: (register: number) => Shape | null;
  readonly special: (leaf: Extract<Expr, { kind: "special" }>) => Shape;
}

/**
 * Asks how expressions vary from lane to lane. The answer is null as long as it depends on a
 * register of unknown shape.
 */
export class LaneQuestion extends LinearQuestion<Shape, number> {
  readonly #leaves: LeafShapes;

  constructor(leaves: LeafShapes) {
    super();
    this.#leaves = leaves;
  }

  protected leaf(expr: LeafExpr): Shape | null {
    switch (expr.kind) {
      case "const":
      case "symbol":
      case "frame":
      case "lane-word":
        return uniform;
      case "reg":
        return this.#leaves.register(expr.reg);
      case "special":
        return this.#leaves.special(expr);
      case "region":
        return regionShape(expr);
      case "indirect": {
        const address = this.of(expr.address);
        return address === null || address.kind === "uniform" ? address : vector;
      }
      default:
        return vector;
    }
  }

  protected sum(a: Shape, b: Shape, sign: 1 | -1, left: Expr, right: Expr): Shape {
    const moved = numbersAbove(a, right, sign) ?? (sign === 1 ? numbersAbove(b, left, 1) : null);
    if (moved !== null) return moved;
    const [own, other] = [strideOf(a), strideOf(b)];
    if (own !== null && other !== null) return affine(own + sign * other);
    if (a.kind === "indexed" && b.kind === "uniform") return a;
    if (b.kind === "indexed" && a.kind === "uniform" && sign === 1) return b;
    return sumOfRows(a, b, sign);
  }

  protected factorOf(operand: Expr): number | null {
    const value = numberOf(operand);
    return value !== null && Number.isSafeInteger(value) ? value : null;
  }

  protected power(exponent: number): number {
    return 2 ** exponent;
  }

  protected multiple(a: Shape, factor: number): Shape {
    const stride = strideOf(a);
    if (stride !== null) return affine(stride * factor);
    if (a.kind === "vector") return a.rows === undefined ? vector : multipleOfRows(a.rows, factor);
    if (a.kind !== "indexed" || factor === 0) return vector;
    const scale = a.scale * factor;
    return Math.abs(scale) < 2 ** 31 ? { ...a, scale } : vector;
  }

  protected extension(operand: Expr, signed: boolean): Shape | null {
    const index = this.of(operand);
    if (index === null || index.kind === "uniform") return index;
    return { kind: "indexed", scale: 1, signed, stride: index.kind === "affine" ? index.stride : null };
  }

  protected truncation(operand: Expr): Shape | null {
    const whole = this.of(operand);
    if (whole === null || whole.kind === "uniform") return whole;
    if (whole.kind === "affine") return affine(whole.stride | 0);
    return whole.kind === "indexed" && whole.stride !== null ? affine(Math.imul(whole.stride, whole.scale)) : vector;
  }

  protected other(expr: PrimExpr, operands: readonly Shape[]): Shape {
    for (let i = 0; i < operands.length; i++) {
      if (operands[i]!.kind !== "uniform") return ofNumbers(expr, operands[0]!, operands[1]!) ?? vector;
    }
    return uniform;
  }
}

/** `promoteFile` leaves no other regions that are the same in all lanes. */
const regionShape = ({ region: { vertical, width, horizontal } }: RegionLeaf): Shape =>
  vertical === 0 && (width === 1 || horizontal === 0) ? uniform : vector;

/** Steps from row to row beyond this would not be exact. */
const maxRowStep = 2 ** 30;

/** A value with these steps: as threads are counted row by row, it is affine where the rows continue each other. */
function shapeOfRows(x: number, y: number, length: number): Shape {
  if (y === x * length) return affine(x);
  return Math.abs(x) <= maxRowStep && Math.abs(y) <= maxRowStep ? { kind: "vector", rows: { x, y, length } } : vector;
}

const multipleOfRows = ({ x, y, length }: RowSteps, factor: number): Shape =>
  shapeOfRows(x * factor, y * factor, length);

function sumOfRows(a: Shape, b: Shape, sign: 1 | -1): Shape {
  const length = (a.kind === "vector" ? a.rows : b.kind === "vector" ? b.rows : undefined)?.length;
  if (length === undefined) return vector;
  const stepsOf = (shape: Shape): Omit<RowSteps, "length"> | undefined => {
    if (shape.kind === "vector") return shape.rows;
    const stride = strideOf(shape);
    return stride === null ? undefined : { x: stride, y: stride * length };
  };
  const [left, right] = [stepsOf(a), stepsOf(b)];
  if (left === undefined || right === undefined) return vector;
  return shapeOfRows(left.x + sign * right.x, left.y + sign * right.y, length);
}

const strideOf = (shape: Shape): number | null =>
  shape.kind === "uniform" ? 0 : shape.kind === "affine" ? shape.stride : null;

/** The most by which a number may be moved: its sums then are far from where 32 bits end. */
const maxAbove = 2 ** 30;

const aboveOf = ({ above = 0 }: Affine): number => above;

/** The shape of thread or lane numbers plus a constant; null for anything else. */
function numbersAbove(shape: Shape, operand: Expr, sign: 1 | -1): Shape | null {
  const by = numberOf(operand);
  if (shape.kind !== "affine" || shape.width === undefined || by === null || operand.ty !== "i32") return null;
  const above = aboveOf(shape) + sign * (by | 0);
  return Math.abs(above) <= maxAbove ? { ...shape, above } : null;
}

/** The width of numbers of which the lowest one in a chunk is a multiple of it; else null. */
const widthOf = (shape: Shape): number | null =>
  shape.kind === "affine" && shape.width !== undefined && aboveOf(shape) % shape.width === 0 ? shape.width : null;

/**
 * The shapes of what is computed from thread numbers otherwise than by sums and multiples: the numbers of warps and of
 * lanes within them, and comparisons with numbers between which and the next a whole chunk fits. With w lanes and a
 * base that is a multiple of w, a power of two, the lanes have the numbers base to base + w - 1: these agree in all
 * bits but the lowest, and a chunk is on one side of every multiple of w. Null where nothing follows.
 */
function ofNumbers({ prim, args }: PrimExpr, a: Shape, b: Shape): Shape | null {
  switch (prim) {
    case "i32.and":
      return maskedNumbers(a, args[1]!) ?? maskedNumbers(b, args[0]!);
    case "i32.shr_u":
    case "i32.shr_s": {
      const [width, count] = [widthOf(a), numberOf(args[1]!)];
      return width !== null && count !== null && count < 32 && 2 ** count >= width ? uniform : null;
    }
    case "i32.lt_u":
    case "i32.lt_s":
      return dividedNumbers(prim, a, args[1]!, 0) ?? dividedNumbers(prim, b, args[0]!, -1);
    case "i32.le_u":
    case "i32.le_s":
      return dividedNumbers(prim, a, args[1]!, -1) ?? dividedNumbers(prim, b, args[0]!, 0);
    default:
      return null;
  }
}

/** The shape of thread numbers and a mask: with all low bits it is that of the numbers, with none of them uniform. */
function maskedNumbers(shape: Shape, operand: Expr): Shape | null {
  const [width, mask] = [widthOf(shape), numberOf(operand)];
  if (width === null || mask === null) return null;
  const low = mask & (width - 1);
  if (low === 0) return uniform;
  // What has been added may have made other bits.
  return low === width - 1 && shape.kind === "affine" && aboveOf(shape) === 0 ? shape : null;
}

/**
 * The shape of a comparison of thread numbers with a bound, if that is `beyond` more than a multiple of the width. All
 * lanes must be on one side of where numbers without a sign begin anew: those to which a constant has been added that
 * is no multiple of the width may have passed it.
 */
function dividedNumbers(prim: string, shape: Shape, operand: Expr, beyond: 0 | -1): Shape | null {
  const bound = numberOf(operand);
  if (shape.kind !== "affine" || shape.width === undefined || bound === null) return null;
  const above = aboveOf(shape);
  if (prim.endsWith("_u") && above < 0 && widthOf(shape) === null) return null;
  const low = shape.width - 1;
  return ((bound - above) & low) === (beyond & low) ? uniform : null;
}

const numberOf = (expr: Expr): number | null =>
  expr.kind === "const" && typeof expr.value !== "boolean" ? Number(expr.value) : null;

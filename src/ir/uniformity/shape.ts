/**
 * How a value varies over the lanes of a chunk, which are counted from 0.
 *
 * * `uniform`: the same in all lanes. `alignment`: a power of two of which an integer is a multiple (1 by default).
 * * `affine`: an integer, `base + stride * lane`, modulo 2^32 or 2^64. `width`: the number of the chunk's lanes, where
 *   the stride is a power of two and the base a multiple of both, `width * stride`, plus a constant (`above`; 0 by
 *   default), as in thread and lane numbers and their multiples. That multiple is below `maxAbove`, unless it `isFar`:
 *   then it is any.
 * * `indexed`: an i64, `base + extend(index) * scale` with an i32 index that is extended from 32 bits, signed or not.
 *   The index is affine with `stride`, or (null) any vector; `rows`: one of the next kind. Addresses of array elements
 *   are of this kind.
 * * `rows`: an integer or a predicate, in a chunk of whole rows of the block: affine in each row, with a base for each.
 * * `vector`: anything. `rows`: an integer, `base + x * tid.x + y * tid.y`, where a chunk has threads of several rows.
 */
export type Shape =
  | { readonly kind: "uniform"; readonly alignment?: number }
  | {
      readonly kind: "affine";
      readonly stride: number;
      readonly width?: number;
      readonly above?: number;
      readonly isFar?: boolean;
    }
  | {
      readonly kind: "indexed";
      readonly scale: number;
      readonly signed: boolean;
      readonly stride: number | null;
      readonly rows?: RowSteps;
    }
  | { readonly kind: "rows"; readonly rows: RowSteps }
  | { readonly kind: "vector"; readonly rows?: RowSteps };

export type Affine = Extract<Shape, { kind: "affine" }>;

/**
 * Steps of a value along a row of the block, of `length` threads, and from row to row (null: not known). `lanes`: those
 * of the chunk, where the base is a multiple of their number. `areWhole`: chunks consist of whole rows.
 */
export interface RowSteps {
  readonly x: number;
  readonly y: number | null;
  readonly length: number;
  readonly lanes?: number;
  readonly areWhole: boolean;
}

export const uniform: Shape = { kind: "uniform" };
export const vector: Shape = { kind: "vector" };

/** The shape of what is read at a place: all lanes read the same where they agree on it. */
export const readAt = (place: Shape): Shape => (place.kind === "uniform" ? uniform : vector);

/** The largest stride of numbers: that of addresses of 16 bytes. */
const maxNumberStride = 16;

/** Alignments beyond the lanes of the widest chunk, at this stride, tell nothing more. */
const maxAlignment = 32 * maxNumberStride;

/** By the exponent of their alignment. */
const alignedShapes: readonly Shape[] = [
  uniform,
  ...[2, 4, 8, 16, 32, 64, 128, 256, maxAlignment].map((alignment): Shape => ({ kind: "uniform", alignment })),
];

/** The shape of a uniform integer that is a multiple of a power of two. */
export const aligned = (alignment: number): Shape => alignedShapes[Math.log2(Math.min(alignment, maxAlignment))]!;

/** The power of two of which a value is known to be a multiple. */
export const alignmentOf = (shape: Shape): number => (shape.kind === "uniform" ? (shape.alignment ?? 1) : 1);

/** The alignment of a number. */
export function alignmentOfNumber(value: number): number {
  let alignment = 1;
  while (alignment < maxAlignment && value % (2 * alignment) === 0) alignment *= 2;
  return alignment;
}

/** The shape of thread and lane numbers: chunks begin at multiples of their width. */
export const numbers = (width: number): Shape => ({ kind: "affine", stride: 1, width });

/** Beyond this a stride times a lane would not be exact in a JavaScript number. */
const maxStride = 2 ** 46;
export const affine = (stride: number): Shape =>
  stride === 0 ? uniform : Math.abs(stride) <= maxStride ? { kind: "affine", stride } : vector;

/** The shortest rows that a value is kept by: shorter ones would be as many scalars as there are vectors. */
const minRow = 8;

/**
 * `tid.x` or `tid.y` where rows of the block have `length` threads and chunks, of so many lanes, have threads of
 * several rows.
 */
export const alongRows = (axis: "x" | "y", length: number, lanes: number): Shape =>
  shapeOfRows({
    ...{ x: axis === "x" ? 1 : 0, y: axis === "y" ? 1 : 0, length, lanes },
    areWhole: length >= minRow && lanes % length === 0,
  });

/** The most by which a number may be moved: its sums then are far from where 32 bits end. */
export const maxAbove = 2 ** 30;

/** The constant that has been added to numbers. */
export const aboveOf = ({ above = 0 }: Affine): number => above;

/** Whether the multiple that numbers begin with may be any. */
export const isFar = (shape: Affine): boolean => shape.isFar ?? false;

/** The shape of numbers of which the base is any multiple of the chunk's lanes and the stride, plus a constant. */
export const farNumbers = (width: number, above: number, stride = 1): Shape => ({
  ...{ kind: "affine", stride, width, isFar: true },
  ...(above % (width * stride) === 0 ? {} : { above: above & (width * stride - 1) }),
});

/** The shape of a multiple of an affine value. */
export function multipleOf(shape: Affine, factor: number): Shape {
  if (factor === 1) return shape;
  const stride = shape.stride * factor;
  const isPower = factor > 0 && Number.isInteger(Math.log2(factor));
  const areNumbers = shape.width !== undefined && isPower && stride <= maxNumberStride;
  return areNumbers ? farNumbers(shape.width, aboveOf(shape) * factor, stride) : affine(stride);
}

const sameRows = (a: RowSteps | undefined, b: RowSteps | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.x === b.x && a.y === b.y && a.lanes === b.lanes);

/** The steps of a value from row to row, where they are known. */
const rowsOf = (shape: Shape): RowSteps | undefined =>
  shape.kind === "rows" || shape.kind === "vector" || shape.kind === "indexed" ? shape.rows : undefined;

const sameSteps = (a: Affine, b: Affine): boolean =>
  a.stride === b.stride && a.width === b.width && aboveOf(a) === aboveOf(b) && isFar(a) === isFar(b);

export const sameShape = (a: Shape, b: Shape): boolean =>
  a.kind === b.kind &&
  (a.kind !== "uniform" || alignmentOf(a) === alignmentOf(b)) &&
  sameRows(rowsOf(a), rowsOf(b)) &&
  (a.kind !== "affine" || sameSteps(a, b as typeof a)) &&
  (a.kind !== "indexed" ||
    (a.scale === (b as typeof a).scale && a.signed === (b as typeof a).signed && a.stride === (b as typeof a).stride));

/** The shape of a register that may hold a value of either shape. */
export function joinedShape(a: Shape, b: Shape): Shape {
  if (sameShape(a, b)) return a;
  if (a.kind === "uniform" && b.kind === "uniform") return aligned(Math.min(alignmentOf(a), alignmentOf(b)));
  if (a.kind === "indexed" && b.kind === "indexed") return joinedIndexes(a, b);
  return a.kind === "affine" && b.kind === "affine" && a.stride === b.stride ? joinedNumbers(a, b) : joinedRows(a, b);
}

type Indexed = Extract<Shape, { kind: "indexed" }>;

function joinedIndexes(a: Indexed, b: Indexed): Shape {
  const { scale, signed } = a;
  if (scale !== b.scale || signed !== b.signed) return vector;
  const index = joinedShape(indexShape(a), indexShape(b));
  return { kind: "indexed", scale, signed, stride: null, ...(index.kind === "rows" ? { rows: index.rows } : {}) };
}

/** The shape of an index that is not affine, or of one that is. */
function indexShape({ stride, rows }: Indexed): Shape {
  if (stride !== null) return affine(stride);
  return rows === undefined ? vector : { kind: "rows", rows };
}

/** Sums with multiples of the chunk's lanes, as in the rounds of a loop, stay numbers. */
function joinedNumbers(a: Affine, b: Affine): Shape {
  const areNumbers = a.width !== undefined && a.width === b.width;
  return areNumbers && (aboveOf(a) - aboveOf(b)) % (a.width * a.stride) === 0
    ? farNumbers(a.width, aboveOf(a), a.stride)
    : affine(a.stride);
}

function joinedRows(a: Shape, b: Shape): Shape {
  const known = rowsOf(a.kind === "indexed" ? b : a) ?? rowsOf(b);
  if (known === undefined || a.kind === "indexed" || b.kind === "indexed") return vector;
  const [left, right] = [stepsIn(known, a), stepsIn(known, b)];
  if (left === undefined || right === undefined || left.x !== right.x) return vector;
  const { x, length, areWhole } = left;
  return shapeOfRows({ x, y: left.y === right.y ? left.y : null, length, areWhole });
}

/** Whether a value is kept in a few scalars, from which that of any lane follows. */
export const isLinear = (shape: Shape): boolean =>
  shape.kind === "uniform" ||
  shape.kind === "affine" ||
  shape.kind === "rows" ||
  (shape.kind === "indexed" && (shape.stride !== null || shape.rows !== undefined));

/** Steps from row to row beyond this would not be exact. */
const maxRowStep = 2 ** 30;

/**
 * A value with these steps: as threads are counted row by row, it is affine where the rows continue each other. Chunks
 * lie in one layer of the block, and begin with a multiple of their lanes.
 */
function shapeOfRows({ x, y, length, lanes, areWhole }: RowSteps): Shape {
  if (y === x * length) return x === 1 && lanes !== undefined ? farNumbers(lanes, 0) : affine(x);
  if (Math.abs(x) > maxRowStep) return vector;
  const step = y === null || Math.abs(y) > maxRowStep ? null : y;
  const rows = { x, y: step, length, areWhole, ...(lanes === undefined ? {} : { lanes }) };
  if (areWhole) return { kind: "rows", rows };
  return step === null ? vector : { kind: "vector", rows };
}

export const multipleOfRows = ({ x, y, ...rest }: RowSteps, factor: number): Shape =>
  shapeOfRows({ x: x * factor, y: y === null ? null : y * factor, ...rest });

/** The steps of a value in the rows of which another one's are known. */
function stepsIn(known: RowSteps, shape: Shape): RowSteps | undefined {
  if (shape.kind === "vector" || shape.kind === "rows") return shape.rows;
  const stride = strideOf(shape);
  if (stride === null) return undefined;
  const { length, areWhole, lanes } = known;
  const isAligned = lanes !== undefined && alignmentOf(shape) >= lanes;
  return { x: stride, y: stride * length, length, areWhole, ...(isAligned ? { lanes } : {}) };
}

export function sumOfRows(a: Shape, b: Shape, sign: 1 | -1): Shape {
  if (a.kind === "indexed" || b.kind === "indexed") return vector;
  const known = rowsOf(a) ?? rowsOf(b);
  if (known === undefined) return vector;
  const [left, right] = [stepsIn(known, a), stepsIn(known, b)];
  if (left === undefined || right === undefined) return vector;
  const { length, areWhole } = known;
  const y = left.y === null || right.y === null ? null : left.y + sign * right.y;
  const sum = { x: left.x + sign * right.x, y, length, areWhole };
  return shapeOfRows(left.lanes !== undefined && left.lanes === right.lanes ? { ...sum, lanes: left.lanes } : sum);
}

/** The shape of what follows from values each of which is the same along each row; null for others. */
export function alikeInRows(shapes: readonly Shape[]): Shape | null {
  let known: RowSteps | null = null;
  for (const shape of shapes) {
    if (shape.kind === "rows" && shape.rows.x === 0) known = shape.rows;
    else if (shape.kind !== "uniform") return null;
  }
  return known && shapeOfRows({ x: 0, y: null, length: known.length, areWhole: true });
}

/** The low 32 bits of an index of rows, times a scale. */
export const truncatedRows = ({ x, y: _, lanes: _lanes, ...rest }: RowSteps, scale: number): Shape =>
  shapeOfRows({ x: Math.imul(x, scale), y: null, ...rest });

export const strideOf = (shape: Shape): number | null =>
  shape.kind === "uniform" ? 0 : shape.kind === "affine" ? shape.stride : null;

import type { TensorInstruction, TensorKind } from "../../../ir/index.ts";
import { powerOfTwo } from "../../../numeric/binary64-bits.ts";
import { type TensorFormat, type TensorSum, tensorSum } from "../../../numeric/tensor.ts";
import { addProducts } from "../../product-sums.ts";
import type { DataPaths } from "./data-paths.ts";
import { Lines } from "./lines.ts";
import { ScaleLines } from "./read-scales.ts";
import { tensorLanes } from "./tensor-memory.ts";

/** The architecture whose sums tcgen05 has: see numeric/tensor.ts. */
const sm = 100;

/** What is multiplied, when all operands have been read. */
export interface ProductRequest {
  readonly kind: TensorKind;
  readonly product: TensorInstruction;
  readonly paths: DataPaths;
  /** A has lines for each part of D, one part after the other. */
  readonly perPart: boolean;
  /** Sums of floats are exact and rounded once (`MatrixSums`). */
  readonly exact: boolean;
}

/** Lines that are multiplied by scales, from one on. */
interface Scaling {
  readonly from: Lines;
  readonly to: Lines;
  readonly at: number;
}

/** The products of rows of A and columns of B: filled for an instruction, then asked row by row. */
export class Products {
  readonly a = new Lines();
  readonly b = new Lines();
  readonly scalesA = new ScaleLines();
  readonly scalesB = new ScaleLines();
  /** By row of A, for each part of D, the places along k of its elements; null: all. */
  places: readonly (readonly number[])[] | null = null;
  #request!: ProductRequest;
  #sum!: TensorSum;
  /** The columns of B with their scales, for 32 rows, and the elements of columns that a sparse row has. */
  readonly #scaled = new Lines();
  readonly #gathered = new Lines();
  /** What the present row is multiplied by. */
  #right: Lines = this.b;
  /** The quarter of the lanes for whose rows B has been scaled. */
  #quarter = -1;

  /** All operands have been read. */
  begin(request: ProductRequest): void {
    const { kind, product } = request;
    this.#request = request;
    this.#quarter = -1;
    if (kind !== "i8") this.#sum = tensorSum(sm, product.a as TensorFormat, this.a.k, product.d === "f16");
    if (kind === "mxf8f6f4") this.#scaleA(request);
  }

  /** The next cells are those of a row, in one part of the columns. */
  row(row: number, part: number): void {
    const { kind, product, paths, perPart } = this.#request;
    const { n } = product;
    this.a.at = (perPart ? part * paths.rows + row : row) * this.a.k;
    this.scalesA.at = row * this.scalesA.groups;
    this.#right = this.b;
    const before = this.#quarter;
    this.#quarter = (paths.lane(row) + part * (tensorLanes / paths.parts)) >> 5;
    if (kind === "mxf8f6f4") {
      if (this.#quarter !== before)
        this.#scale({ from: this.b, to: this.#scaled, at: 0 }, this.scalesB, n, this.#quarter * n);
      this.#right = this.#scaled;
    }
    const inPart = n / paths.parts;
    if (this.places !== null) this.#gather(this.places[part * paths.rows + row]!, part * inPart, inPart);
  }

  /** The accumulator after the product of the present row and a column has been added to it. */
  cell(column: number, start: number): number {
    const { a } = this;
    const right = this.#right;
    const { kind, product, exact } = this.#request;
    right.at = column * right.k;
    switch (kind) {
      case "i8":
        return addProducts(a, right, a.k, start, { kind: "integer", saturates: product.saturates });
      case "mxf4":
      case "mxf4nvf4":
        this.scalesB.at = (this.#quarter * product.n + column) * this.scalesB.groups;
        return addProducts(a, right, a.k, start, { kind: exact ? "exact" : "groups" }, [this.scalesA, this.scalesB]);
      default:
        return addProducts(a, right, a.k, start, exact ? { kind: "exact" } : { kind: "sum", sum: this.#sum });
    }
  }

  /** Multiplies the rows of A by their scales: of A in tensor memory those of each part. */
  #scaleA({ paths, perPart }: ProductRequest): void {
    const copies = perPart ? paths.parts : 1;
    for (let copy = 0; copy < copies; copy++) {
      this.#scale({ from: this.a, to: this.a, at: copy * paths.rows }, this.scalesA, paths.rows, 0);
    }
  }

  /** Multiplies lines by their scales, which are powers of two. */
  #scale({ from, to, at: start }: Scaling, scales: ScaleLines, lines: number, first: number): void {
    const { k } = from;
    if (to !== from) to.reset(lines, k);
    for (let line = 0; line < lines; line++) {
      for (let i = (start + line) * k; i < (start + line + 1) * k; i++) {
        const at = (first + line) * scales.groups + Math.floor(((i - (start + line) * k) * scales.groups) / k);
        const exponent = scales.exponents[at]!;
        to.values[i] = from.values[i]! * scales.significands[at]! * powerOfTwo(exponent);
        to.exponents[i] = from.exponents[i]! + exponent;
      }
    }
  }

  /** Takes the elements of the columns of a part that a sparse row of A has. */
  #gather(places: readonly number[], firstColumn: number, count: number): void {
    const from = this.#right;
    const to = this.#gathered.reset(this.#request.product.n, places.length);
    for (let column = firstColumn; column < firstColumn + count; column++) {
      places.forEach((place, i) => {
        to.values[column * to.k + i] = from.values[column * from.k + place]!;
        to.exponents[column * to.k + i] = from.exponents[column * from.k + place]!;
      });
    }
    this.#right = to;
  }
}

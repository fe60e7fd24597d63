import type { ProductRule, TensorInstruction, TensorKind } from "../../../ir/index.ts";
import { type TensorFormat, tensorSum } from "../../../numeric/tensor.ts";
import { blockSum, type Scale } from "../../../numeric/tensor-blocks.ts";
import { addProducts } from "../../matrix-product.ts";
import type { DataPaths } from "./data-paths.ts";
import { Lines } from "./lines.ts";

/** The architecture whose sums tcgen05 has: see numeric/tensor.ts. */
const sm = 100;

/** What is multiplied, when all operands have been read. */
export interface ProductRequest {
  readonly kind: TensorKind;
  readonly product: TensorInstruction;
  readonly paths: DataPaths;
  /** A has lines for each part of D, one part after the other. */
  readonly perPart: boolean;
  /** Sums are exact, and rounded once. */
  readonly exact: boolean;
}

/** How the products of an element of D are added. */
function ruleOf({ kind, product, exact }: ProductRequest, count: number): ProductRule {
  if (kind === "i8") return { kind: "integer", saturates: product.saturates };
  if (exact) return { kind: "exact" };
  if (kind === "mxf4" || kind === "mxf4nvf4") return { kind: "blocks", sum: blockSum };
  return { kind: "sum", sum: tensorSum(sm, product.a as TensorFormat, count, product.d === "f16") };
}

/** The products of rows of A and columns of B: filled for an instruction, then asked row by row. */
export class Products {
  readonly a = new Lines();
  readonly b = new Lines();
  /** The scales of each row of A, and of each column of B: of all columns once for each 32 rows. */
  scalesA: readonly (readonly Scale[])[] = [];
  scalesB: readonly (readonly Scale[])[] = [];
  /** By row of A, for each part of D, the places along k of its elements; null: all. */
  places: readonly (readonly number[])[] | null = null;
  #request!: ProductRequest;
  #rule!: ProductRule;
  /** The number of the present row. */
  #row = 0;
  /** The columns of B with their scales, for 32 rows, and the elements of columns that a sparse row has. */
  readonly #scaled = new Lines();
  readonly #gathered = new Lines();
  /** What the present row is multiplied by. */
  #right: Lines = this.b;
  /** The rows, 32 of them, for which B has been scaled. */
  #quarter = -1;

  /** All operands have been read. */
  begin(request: ProductRequest): void {
    const { kind, product } = request;
    this.#request = request;
    this.#quarter = -1;
    this.#rule = ruleOf(request, this.a.k);
    if (kind === "mxf8f6f4") this.#scale(this.a, this.a, this.scalesA, product.m, 0);
  }

  /** The next cells are those of a row, in one part of the columns. */
  row(row: number, part: number): void {
    const { kind, product, paths, perPart } = this.#request;
    const { m, n } = product;
    this.a.at = (perPart ? part * m + row : row) * this.a.k;
    this.#row = row;
    this.#right = this.b;
    const before = this.#quarter;
    this.#quarter = row >> 5;
    if (kind === "mxf8f6f4") {
      if (this.#quarter !== before) this.#scale(this.b, this.#scaled, this.scalesB, n, this.#quarter * n);
      this.#right = this.#scaled;
    }
    const inPart = n / paths.parts;
    if (this.places !== null) this.#gather(this.places[part * m + row]!, part * inPart, inPart);
  }

  /** The accumulator after the product of the present row and a column has been added to it. */
  cell(column: number, start: number): number {
    const { a } = this;
    const right = this.#right;
    const { kind, product } = this.#request;
    right.at = column * right.k;
    const scaled = kind === "mxf4" || kind === "mxf4nvf4";
    const scales = scaled
      ? ([this.scalesA[this.#row]!, this.scalesB[this.#quarter * product.n + column]!] as const)
      : null;
    return addProducts(a, right, a.k, start, this.#rule, scales);
  }

  /** Multiplies lines by their scales, which are powers of two: one for each line. */
  #scale(from: Lines, to: Lines, scales: readonly (readonly Scale[])[], lines: number, first: number): void {
    const { k } = from;
    if (to !== from) to.reset(lines, k);
    for (let line = 0; line < lines; line++) {
      const { value, exponent } = scales[first + line]![0]!;
      for (let i = line * k; i < (line + 1) * k; i++) {
        to.values[i] = from.values[i]! * value;
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

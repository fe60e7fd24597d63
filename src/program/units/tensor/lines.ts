import type { ElementFormat } from "../../../ir/index.ts";
import { tensorExponent, type TensorFormat, type TensorLine, tensorValue } from "../../../numeric/tensor.ts";

/** Values of elements by their patterns, and the exponents by which they count in a sum. */
interface Values {
  readonly values: Float64Array;
  readonly exponents: Int32Array;
}

const tables = new Map<ElementFormat, Values>();

/** The values of a format of up to 16 bits, negated or not. */
function tableOf(format: ElementFormat): Values {
  let table = tables.get(format);
  if (table === undefined) {
    const size = format === "f16" || format === "bf16" ? 65536 : 256;
    table = { values: new Float64Array(size), exponents: new Int32Array(size) };
    for (let pattern = 0; pattern < size; pattern++) {
      const value = valueIn(format, pattern);
      table.values[pattern] = value;
      table.exponents[pattern] = exponentOf(format, value);
    }
    tables.set(format, table);
  }
  return table;
}

function valueIn(format: ElementFormat, pattern: number): number {
  if (format === "u8") return pattern;
  if (format === "s8") return (pattern << 24) >> 24;
  return tensorValue(format as TensorFormat, pattern);
}

const exponentOf = (format: ElementFormat, value: number): number =>
  format === "u8" || format === "s8" ? 0 : tensorExponent(format as TensorFormat, value);

/** Rows of A, or columns of B, one after the other, each with its elements along k. */
export class Lines implements TensorLine {
  at = 0;
  values: Float64Array;
  exponents: Int32Array;
  /** Elements of a line. */
  k = 0;

  constructor() {
    this.values = new Float64Array(0);
    this.exponents = new Int32Array(0);
  }

  /** Makes room for lines of zeros. */
  reset(lines: number, k: number): this {
    this.k = k;
    if (this.values.length < lines * k) {
      this.values = new Float64Array(lines * k);
      this.exponents = new Int32Array(lines * k);
    }
    return this;
  }

  /** Puts the element with a pattern at a place. */
  put(format: ElementFormat, pattern: number, place: number, negated: boolean): void {
    let value: number;
    if (format === "tf32") {
      value = valueIn(format, pattern);
      this.exponents[place] = exponentOf(format, value);
    } else {
      const table = tableOf(format);
      value = table.values[pattern]!;
      this.exponents[place] = table.exponents[pattern]!;
    }
    this.values[place] = negated ? -value : value;
  }

  /** Makes a line zero. */
  clear(line: number, format: ElementFormat): void {
    const from = line * this.k;
    this.values.fill(0, from, from + this.k);
    this.exponents.fill(exponentOf(format, 0), from, from + this.k);
  }
}

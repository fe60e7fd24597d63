import { type Wasm, wasm } from "../../wasm/index.ts";
import { byLastOperand } from "../constant-operand.ts";
import type { Form } from "../form.ts";

/** An element of a word: the bits above it are shifted out, then those below it. Counts are taken modulo 32, as by `eval`. */
function element({ singles: l }: Form, word: Wasm, field: number, index: number): Wasm {
  const count = (field >> 6) & 15;
  const above = 32 - count - (((field & 63) + index * count) & 31);
  const left = above === 0 ? word : l.shl(word, above);
  return field & 0x400 ? l.shrS(left, 32 - count) : l.shrU(left, 32 - count);
}

function dot(form: Form, fields: number, [sum, a, b]: readonly Wasm[]): Wasm | null {
  const [left, right] = [fields & 0x7ff, (fields >> 11) & 0x7ff];
  // Without a count elements are whole words, of which not all products are exact in `eval`.
  if (((left | right) & 0x3c0) === 0) return null;
  const products = Array.from({ length: (fields >> 22) & 15 }, (_, i) => {
    const [x, y] = [element(form, a!, left, i), element(form, b!, right, i)];
    return wasm.op(form.count === 1 ? "i32.mul" : "i32x4.mul", x, y);
  });
  return products.reduce(form.singles.plus, sum!);
}

export const dotPacked = byLastOperand("i32.dot_packed", ["i32", "i32", "i32", "i32"], "i32", dot);

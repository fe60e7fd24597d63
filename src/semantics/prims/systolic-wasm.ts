import { minifloats } from "../../numeric/minifloat.ts";
import { type Lanes, type Wasm, wasm } from "../../wasm/index.ts";
import { byLastOperand } from "../constant-operand.ts";
import { byParts, type Form } from "../form.ts";
import { uniform32 } from "../uniform.ts";
import { sumError, toOdd } from "./rounding-wasm.ts";
import { bf16, decoded, f16, saturating, type ShortFloat } from "./short-float-wasm.ts";

/**
 * Extracts an element of a word: shifts out the bits above it, then those below it. Counts are modulo 32, as in `eval`.
 */
function element({ singles: l }: Form, word: Wasm, field: number, index: number): Wasm {
  const count = (field >> 6) & 15;
  const above = 32 - count - (((field & 63) + index * count) & 31);
  const left = above === 0 ? word : l.shl(word, above);
  return field & 0x400 ? l.shrS(left, 32 - count) : l.shrU(left, 32 - count);
}

/** Four bytes, by the field of the first. */
const isBytes = (field: number): boolean => (field & 0x3ff) === 8 << 6;

/** The even or the odd bytes of words, extended to halves. */
function halves(word: Wasm, field: number, isOdd: boolean): Wasm {
  const isSigned = (field & 0x400) !== 0;
  const same = uniform32(word, 4);
  if (same?.kind === "const") {
    const half = (shift: number): number => {
      const byte = (Number(same.value) >>> shift) & 255;
      return isSigned ? ((byte << 24) >> 24) & 0xffff : byte;
    };
    return wasm.i32x4(isOdd ? half(8) | (half(24) << 16) : half(0) | (half(16) << 16));
  }
  if (isOdd) return wasm.op(isSigned ? "i16x8.shr_s" : "i16x8.shr_u", word, wasm.i32(8));
  if (!isSigned) return wasm.op("v128.and", word, wasm.i32x4(0x00ff_00ff));
  return wasm.op("i16x8.shr_s", wasm.op("i16x8.shl", word, wasm.i32(8)), wasm.i32(8));
}

/** Dot products of four bytes in each word: a machine multiplies halves, and adds the products of two. */
function dotOfBytes({ singles }: Form, [left, right]: readonly [number, number], [sum, a, b]: readonly Wasm[]): Wasm {
  const ofPairs = (isOdd: boolean): Wasm =>
    wasm.op("i32x4.dot_i16x8_s", halves(a!, left, isOdd), halves(b!, right, isOdd));
  return singles.plus(sum!, singles.plus(ofPairs(false), ofPairs(true)));
}

function dot(form: Form, fields: number, [sum, a, b]: readonly Wasm[]): Wasm | null {
  const [left, right] = [fields & 0x7ff, (fields >> 11) & 0x7ff];
  if (form.count > 1 && fields >> 22 === 4 && isBytes(left) && isBytes(right)) {
    return dotOfBytes(form, [left, right], [sum!, a!, b!]);
  }
  // A count of 0 means whole words, and not all of their products are exact in `eval`.
  if (((left | right) & 0x3c0) === 0) return null;
  const products = Array.from({ length: (fields >> 22) & 15 }, (_, i) => {
    const [x, y] = [element(form, a!, left, i), element(form, b!, right, i)];
    return wasm.op(form.count === 1 ? "i32.mul" : "i32x4.mul", x, y);
  });
  return products.reduce(form.singles.plus, sum!);
}

export const dotPacked = byLastOperand("i32.dot_packed", ["i32", "i32", "i32", "i32"], "i32", dot);

/** The formats of `f32.dot_packed` by number; null means tf32, a binary32 number whose low bits are ignored. */
const packed: readonly (ShortFloat | null)[] = [
  bf16,
  f16,
  null,
  saturating(minifloats.e5m2),
  saturating(minifloats.e4m3),
  saturating(minifloats.e2m1),
];
/** Widths of an element in these formats, in bits. */
const packedWidths: readonly number[] = packed.map((format) =>
  format === null ? 32 : 32 - Math.clz32(2 * format.sign - 1),
);
const TF32 = ~0x1fffn;

/** Returns the binary32 number of an element, which may have other elements above it; 0 for an unknown format. */
function packedElement(s: Lanes, word: Wasm, number: number, at: number, width: number): Wasm {
  const format = packed[number];
  if (format === undefined) return s.number(0);
  const moved = at === 0 ? word : s.shrU(word, at);
  const bits = width === 32 ? moved : s.and(moved, s.integer(2n ** BigInt(width) - 1n));
  return format === null ? s.fromBits(s.and(bits, s.integer(TF32))) : decoded(s, bits, format);
}

/** `sumToOdd` of `numeric/sum.ts`: the same operations in the same order. */
function sumToOdd(d: Lanes, terms: readonly Wasm[]): Wasm {
  let [sum, lost] = [d.number(0), d.number(0)];
  for (const term of terms) {
    const next = d.add(sum, term);
    lost = d.add(lost, sumError(d, sum, term, next));
    sum = next;
  }
  const total = d.add(sum, lost);
  const fits = d.lt(d.abs(total), d.number(Infinity));
  return d.select(fits, toOdd(d, total, sumError(d, sum, lost, total)), sum);
}

/** Products of elements are exact in binary64. The format of the first word determines how many elements there are. */
function dotFloat(form: Form, formats: number, [sum, a, b]: readonly Wasm[]): Wasm {
  const { singles, doubles } = form;
  const [left, right] = [formats & 7, (formats >> 3) & 7];
  const width = packedWidths[left] ?? 32;
  const products = Array.from({ length: 32 / width }, (_, i) => {
    const [x, y] = [
      packedElement(singles, a!, left, i * width, width),
      packedElement(singles, b!, right, i * width, width),
    ];
    return byParts([form.widened(x), form.widened(y)], doubles.mul);
  });
  const terms = [form.widened(sum!), ...products];
  return form.narrowed(byParts(terms, (...parts) => sumToOdd(doubles, parts)));
}

/** A library function for each pair of formats: the code is too long to be inlined at each use. */
function dotFloatIn(form: Form, formats: number, operands: readonly Wasm[]): Wasm {
  const ty = (scalar: "f32" | "i32") => (form.count === 1 ? scalar : "v128");
  const pair = formats & 63;
  return wasm.call(
    {
      name: `f32.dot_packed of formats ${pair}, ${form.name}`,
      params: [ty("f32"), ty("i32"), ty("i32")],
      result: ty("f32"),
      body: (...parts) => dotFloat(form, pair, parts),
    },
    ...operands,
  );
}

export const dotPackedFloats = byLastOperand("f32.dot_packed", ["f32", "i32", "i32", "i32"], "f32", dotFloatIn);

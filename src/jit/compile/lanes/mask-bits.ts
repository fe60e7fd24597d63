import { type Wasm, wasm } from "../../../wasm/index.ts";
import { narrowMaskOf, resized } from "./narrow.ts";

/** A mask of a chunk's lanes as an i32: bit l is lane l. */
export function laneBits(mask: readonly Wasm[]): Wasm {
  const parts = mask.length % 4 === 0 ? sixteens(mask) : mask.map((part) => wasm.op("i32x4.bitmask", part));
  const lanes = (4 * mask.length) / parts.length;
  return parts
    .map((part, i) => (i === 0 ? part : wasm.op("i32.shl", part, wasm.i32(lanes * i))))
    .reduce((a, b) => wasm.op("i32.or", a, b));
}

/** An i32 for each sixteen lanes, with their bits. */
function sixteens(mask: readonly Wasm[]): readonly Wasm[] {
  const narrow = narrowMaskOf(mask);
  if (narrow !== null) {
    return resized(narrow, 8, mask.length, "signed").parts.map((part) => wasm.op("i8x16.bitmask", part));
  }
  const halves = (q: number): Wasm => wasm.op("i16x8.narrow_i32x4_s", mask[q]!, mask[q + 1]!);
  return Array.from({ length: mask.length / 4 }, (_, i) =>
    wasm.op("i8x16.bitmask", wasm.op("i8x16.narrow_i16x8_s", halves(4 * i), halves(4 * i + 2))),
  );
}

/** The bits of all lanes of a chunk with `lanes` lanes. */
export const allBits = (lanes: number): Wasm => wasm.i32(lanes === 32 ? -1 : 2 ** lanes - 1);

/** The vector mask of the lanes whose bits are set: the inverse of `laneBits`. */
export function maskOfBits(bits: Wasm, quads: number): Wasm[] {
  const all = wasm.op("i32x4.splat", bits);
  return Array.from({ length: quads }, (_, q) => {
    const own = wasm.lanes([0, 1, 2, 3].map((l) => 1 << (4 * q + l)));
    return wasm.op("i32x4.eq", wasm.op("v128.and", all, own), own);
  });
}

/** Reduces vectors to one i32 by a bitwise operation over all their 32-bit elements. */
export function foldWords(op: "v128.and" | "v128.or", parts: readonly Wasm[]): Wasm {
  const four = all(op, parts);
  const two = wasm.op(op, four, wasm.shuffle32(four, four, [2, 3, 2, 3]));
  return wasm.lane("i32x4.extract_lane", 0, wasm.op(op, two, wasm.shuffle32(two, two, [1, 1, 1, 1])));
}

/** 1 if any lane is in the mask, else 0. */
export function anyOf(mask: readonly Wasm[]): Wasm {
  const narrow = narrowMaskOf(mask);
  // What is in lanes beyond those of the chunk is not known.
  const isFull = narrow !== null && 4 * mask.length * narrow.bits === 128 * narrow.parts.length;
  const parts = isFull ? narrow.parts : mask;
  const opposites = parts.flatMap((part) => (part.kind === "op" && part.op === "v128.not" ? [part.args[0]!] : []));
  // Not all of them are in the opposite mask.
  if (opposites.length === parts.length)
    return wasm.op("v128.any_true", wasm.op("v128.not", all("v128.and", opposites)));
  return wasm.op("v128.any_true", all("v128.or", parts));
}

const all = (op: "v128.and" | "v128.or", parts: readonly Wasm[]): Wasm => parts.reduce((a, b) => wasm.op(op, a, b));

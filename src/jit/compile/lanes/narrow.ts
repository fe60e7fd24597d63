import { type Wasm, wasm } from "../../../wasm/index.ts";
import { isAll, isNone } from "./mask.ts";
import type { Quad } from "./value.ts";

/** Bits of a narrow lane. */
export type NarrowBits = 8 | 16;

/**
 * How a register is kept in narrow lanes. Its value is the extension of `bits` to `of` bits, with zeros above; of a
 * predicate it is a mask.
 */
export interface NarrowForm {
  readonly bits: NarrowBits;
  readonly signed: boolean;
  readonly of: 16 | 32;
  /** Whether that is its value; else it only has the same low bits, and nothing depends on the others. */
  readonly isExact: boolean;
}

/** Values of a chunk's lanes in narrow lanes: 16 of 8 bits or 8 of 16 bits in a v128. A predicate is a mask. */
export interface Narrow {
  readonly kind: "narrow";
  readonly bits: NarrowBits;
  readonly parts: readonly Wasm[];
}

export const narrow = (bits: NarrowBits, parts: readonly Wasm[]): Narrow => ({ kind: "narrow", bits, parts });

/** How many vectors narrow lanes take, the last of which may not be full. */
export const narrowParts = (bits: NarrowBits, quads: number): number => Math.ceil((quads * bits) / 32);

/** The constant mask, in narrow lanes, of the lanes of some quads: vectors may have more. */
export const wholeLanes = (bits: NarrowBits, quads: number): readonly Wasm[] =>
  Array.from({ length: narrowParts(bits, quads) }, (_, part) =>
    wasm.lanes([0, 1, 2, 3].map((w) => ((4 * part + w) * 32 < 4 * quads * bits ? -1 : 0))),
  );

/** By a vector of words that is an extended mask, the narrow mask of which it is a quad. */
const extendedMasks = new WeakMap<Wasm, { readonly from: Narrow; readonly quad: number }>();

const sign = (signed: boolean): "s" | "u" => (signed ? "s" : "u");

/** The low half of a vector of narrow lanes, or the high one, in lanes of twice the width. */
function extendedHalf(bits: NarrowBits, part: Wasm, half: number, signed: boolean): Wasm {
  const place = half === 0 ? "low" : "high";
  return bits === 8
    ? wasm.op(`i16x8.extend_${place}_i8x16_${sign(signed)}`, part)
    : wasm.op(`i32x4.extend_${place}_i16x8_${sign(signed)}`, part);
}

/** Narrow lanes as words. */
export function widened({ bits, parts }: Narrow, form: Pick<NarrowForm, "signed" | "of">, quads: number): Quad[] {
  const { signed, of } = form;
  const halves =
    bits === 16 ? parts : parts.flatMap((part) => [0, 1].map((half) => extendedHalf(8, part, half, signed)));
  return Array.from({ length: quads }, (_, q) => {
    const words = extendedHalf(16, halves[q >> 1]!, q & 1, signed);
    return [of === 16 && signed ? wasm.op("v128.and", words, wasm.i32x4(0xffff)) : words];
  });
}

/** A narrow mask as one of words. */
export function widenedMask(mask: Narrow, quads: number): Quad[] {
  const words = widened(mask, { signed: true, of: 32 }, quads);
  for (const [q, [quad]] of words.entries()) extendedMasks.set(quad!, { from: mask, quad: q });
  return words;
}

/** Two vectors for each one of half their lanes: lanes that fit, or are cut off. */
function packed(bits: NarrowBits, parts: readonly Wasm[], signed: boolean): readonly Wasm[] {
  return Array.from({ length: Math.ceil(parts.length / 2) }, (_, i) => {
    const [a, b = a] = parts.slice(2 * i, 2 * i + 2);
    // Words that fit in 16 bits are packed to halves with their signs, of which none is lost.
    const op =
      bits === 16 ? (`i16x8.narrow_i32x4_${sign(signed)}` as const) : (`i8x16.narrow_i16x8_${sign(signed)}` as const);
    return wasm.op(op, a!, b!);
  });
}

/** Words in narrow lanes. `fits`: whether they have no more bits, with a sign or without; else the low ones remain. */
export function narrowed(words: readonly Wasm[], bits: NarrowBits, fits: "signed" | "unsigned" | null): Narrow {
  const own = fits === null ? words.map((w) => wasm.op("v128.and", w, wasm.i32x4(2 ** bits - 1))) : words;
  const signed = fits === "signed";
  if (bits === 16) return narrow(16, packed(16, own, signed));
  return narrow(8, packed(8, packed(16, own, true), signed));
}

/** A mask of words in narrow lanes. */
export function narrowedMask(mask: readonly Wasm[], bits: NarrowBits): Narrow {
  const known = knownMaskOf(mask);
  return known === null ? narrowed(mask, bits, "signed") : resized(known, bits, mask.length, "signed");
}

/** The narrow mask that a mask of words was extended from, or computed from such masks; null if there is none. */
export function narrowMaskOf(mask: readonly Wasm[]): Narrow | null {
  const [first] = mask;
  const extended = extendedMasks.get(first!);
  if (extended !== undefined) {
    const { from } = extended;
    const isWhole = narrowParts(from.bits, mask.length) === from.parts.length;
    const isSame = mask.every((part, q) => {
      const found = extendedMasks.get(part);
      return found !== undefined && found.from === from && found.quad === q;
    });
    return isWhole && isSame ? from : null;
  }
  if (first!.kind !== "op" || !bitwise.has(first!.op)) return null;
  const { op, args } = first!;
  if (!mask.every((part) => part.kind === "op" && part.op === op)) return null;
  const operands = args.map((_, i) => knownMaskOf(mask.map((part) => (part as Operation).args[i]!)));
  if (operands.includes(null)) return null;
  const bits = Math.max(...operands.map((operand) => operand!.bits)) as NarrowBits;
  const parts = operands.map((operand) => resized(operand!, bits, mask.length, "signed").parts);
  return narrow(
    bits,
    parts[0]!.map((_, i) => wasm.op(op, ...parts.map((part) => part[i]!))),
  );
}

/** The same, also of no lanes and of all. */
function knownMaskOf(mask: readonly Wasm[]): Narrow | null {
  if (!mask.every(isNone) && !mask.every(isAll)) return narrowMaskOf(mask);
  return narrow(8, new Array<Wasm>(narrowParts(8, mask.length)).fill(mask[0]!));
}

type Operation = Extract<Wasm, { kind: "op" }>;

const bitwise: ReadonlySet<string> = new Set(["v128.not", "v128.and", "v128.or", "v128.andnot"]);

/**
 * Narrow lanes in lanes of another width. `fits`: how they are extended, or that they fit; null: they are cut off, and
 * never extended.
 */
export function resized(value: Narrow, bits: NarrowBits, quads: number, fits: "signed" | "unsigned" | null): Narrow {
  if (value.bits === bits) return value;
  const { parts } = value;
  if (bits === 16) {
    const isSigned = fits === "signed";
    const halves = Array.from({ length: narrowParts(16, quads) }, (_, i) =>
      extendedHalf(8, parts[i >> 1]!, i & 1, isSigned),
    );
    return narrow(16, halves);
  }
  const own = fits === null ? parts.map((part) => wasm.op("v128.and", part, wasm.i16x8(0xff))) : parts;
  return narrow(8, packed(8, own, fits === "signed"));
}

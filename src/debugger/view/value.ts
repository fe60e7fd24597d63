import { Elements, type ElementType, isElementType } from "../../runtime/data/element.ts";

/** Bits and the type to read them as. */
export interface TypedBits {
  /** The bits, little-endian. */
  readonly bytes: Uint8Array;
  /** The type: "u32", "f16x2", "pred" or another one of PTX, or a type of vISA. */
  readonly type: string;
}

/** How to read the types of vISA, and those of PTX that only give a size. */
const otherNames: Readonly<Record<string, ElementType>> = {
  b8: "u8",
  b16: "u16",
  b32: "u32",
  b64: "u64",
  tf32: "f32",
  ub: "u8",
  b: "s8",
  uw: "u16",
  w: "s16",
  ud: "u32",
  d: "s32",
  uq: "u64",
  q: "s64",
  hf: "f16",
  bf: "bf16",
  f: "f32",
  df: "f64",
};

interface Shape {
  readonly element: ElementType;
  readonly count: number;
}

/**
 * Returns how values of a type are read: as one element, or as several in one word (`f16x2`). Null if there is no such
 * type.
 */
export function shapeOf(type: string): Shape | null {
  if (isElementType(type)) return { element: type, count: 1 };
  const known = Object.hasOwn(otherNames, type) ? otherNames[type] : undefined;
  if (known !== undefined) return { element: known, count: 1 };
  const [, name = "", count = ""] = /^(f16|bf16|f32)x([248])$/.exec(type) ?? [];
  return isElementType(name) ? { element: name, count: Number(count) } : null;
}

/** Returns the size of a type in bytes, or null if there is no such type. */
export function sizeOf(type: string): number | null {
  const shape = shapeOf(type);
  return shape && Elements.zeros(shape.element, 1).size * shape.count;
}

/** Whether the values of a type are floating-point numbers. */
export const isFloat = (type: string): boolean => /^(b?f16|f32|f64)$/.test(shapeOf(type)?.element ?? "");

/** Reads the first bits as a type; missing ones are zeros. */
export function firstBits(bytes: Uint8Array, type: string): TypedBits {
  const read = new Uint8Array(type === "pred" ? 1 : (sizeOf(type) ?? 1));
  read.set(bytes.subarray(0, read.length));
  return { bytes: read, type };
}

/** Returns the first value as a number; predicates are 0 and 1. */
export function numberOf({ bytes, type }: TypedBits): number | bigint {
  if (type === "pred") return bytes[0]!;
  const shape = shapeOf(type);
  return new Elements(shape?.element ?? "u8", bytes).get(0);
}

/** Whether a type only gives a size. */
const saysSizeOnly = (type: string): boolean => /^b(8|16|32|64)$|^(ud|uq)$/.test(type);

/** How integers are written: as their type says, or in hexadecimal. */
export type Format = "natural" | "hex";

/**
 * Formats all of the bits: as values of their type or, if `format` is "hex", in hexadecimal. Large numbers of `b` types
 * are shown in both forms. Several values are in braces.
 */
export function formatValue({ bytes, type }: TypedBits, format: Format = "natural"): string {
  if (type === "pred") return bytes[0] === 0 ? "false" : "true";
  const shape = shapeOf(type) ?? { element: "u8" as const, count: 1 };
  const elements = new Elements(shape.element, bytes);
  const words = Array.from({ length: elements.length }, (_, i) =>
    format === "hex" ? hexOf(elements, i) : formatElement(elements, i, saysSizeOnly(type) && elements.length === 1),
  );
  return words.length === 1 ? words[0]! : `{${words.join(", ")}}`;
}

/** The most elements of a variable that are shown in a line. */
const maxShown = 16;

/** The same, limited to the first elements. */
export function formatFirst({ bytes, type }: TypedBits): string {
  const size = (sizeOf(type) ?? 1) * maxShown;
  const text = formatValue({ bytes: bytes.slice(0, size), type });
  return bytes.length > size ? text.replace(/\}$/, ", …}") : text;
}

const hexOf = (elements: Elements, i: number): string => {
  const digits = elements.pattern(i).toString(16);
  return `0x${digits.padStart(2 * elements.size, "0")}`;
};

/** From here on an integer of a `b` type is also shown in hexadecimal: it may be an address or a mask. */
const large = 0x1_0000;

function formatElement(elements: Elements, i: number, bits: boolean): string {
  const value = elements.get(i);
  const { type: kind } = elements;
  if (kind === "f32" || kind === "f16" || kind === "bf16" || kind === "f64") return floatText(kind, value as number);
  const text = String(value);
  return bits && value >= large ? `${text} (${hexOf(elements, i)})` : text;
}

/** The shortest text from which the same bits can be read back. */
function floatText(type: "f16" | "bf16" | "f32" | "f64", value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const digits = { f16: 5, bf16: 4, f32: 9, f64: 17 }[type];
  let text = String(value);
  for (let n = 1; n < digits && type !== "f64"; n++) {
    const short = Number(value.toPrecision(n));
    const back = Elements.zeros(type, 1);
    back.set(0, short);
    if (back.get(0) === value) {
      text = String(short);
      break;
    }
  }
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** Converts a number to the bits of a type. */
export function bitsOf(value: number | bigint, type: string): Uint8Array {
  const shape = shapeOf(type) ?? { element: "u8" as const, count: 1 };
  const elements = Elements.zeros(shape.element, shape.count);
  const whole = typeof value === "number" && !Number.isInteger(value) && !isFloat(type);
  elements.set(0, whole ? Math.trunc(value as number) : value);
  return elements.bytes;
}

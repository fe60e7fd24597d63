import {
  elementInfo,
  Elements,
  type ElementType,
  elementTypes,
  isElementType,
  misfit,
} from "../../runtime/data/element.ts";
import type { Init } from "../../runtime/job/init.ts";
import type { BufferSpec } from "../../runtime/job/job.ts";
import { nearest } from "../../source/index.ts";

/** Reports what is wrong with an argument. */
export type Wrong = (why: string) => never;

/** Types of C and NumPy, for those who write them by habit. */
const otherNames: Readonly<Record<string, ElementType>> = {
  float: "f32",
  double: "f64",
  half: "f16",
  bfloat16: "bf16",
  char: "s8",
  short: "s16",
  int: "s32",
  long: "s64",
  unsigned: "u32",
  i8: "s8",
  i16: "s16",
  i32: "s32",
  i64: "s64",
  int8: "s8",
  int16: "s16",
  int32: "s32",
  int64: "s64",
  uint8: "u8",
  uint16: "u16",
  uint32: "u32",
  uint64: "u64",
  float16: "f16",
  float32: "f32",
  float64: "f64",
};

/** Returns the element type of this name. */
export function parseType(name: string, wrong: Wrong): ElementType {
  if (isElementType(name)) return name;
  const meant = otherNames[name] ?? nearest(name, elementTypes);
  return wrong(`there is no type "${name}"${meant ? `; did you mean ${meant}?` : ""} (${elementTypes.join(" ")})`);
}

/** Parses a number; integers, hexadecimal ones included, are exact. Null if it is none. */
export function parseNumber(text: string): number | bigint | null {
  const sign = text.startsWith("-") ? -1 : 1;
  const magnitude = text.replace(/^[+-]/, "");
  if (/^(0x[0-9a-f]{1,32}|0b[01]{1,128}|\d{1,40})$/i.test(magnitude)) {
    const value = BigInt(magnitude) * BigInt(sign);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (/^(inf|infinity)$/i.test(magnitude)) return sign * Infinity;
  if (/^nan$/i.test(magnitude)) return NaN;
  return /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(magnitude) ? sign * Number(magnitude) : null;
}

/** Parses a number of a type. */
function parseElement(type: ElementType, text: string, wrong: Wrong): number | bigint {
  const value = parseNumber(text.trim()) ?? wrong(`"${text}" is not a number`);
  const problem = misfit(type, value);
  return problem === null ? value : wrong(problem);
}

/** Parses numbers with commas between them. */
const parseList = (type: ElementType, text: string, wrong: Wrong): (number | bigint)[] =>
  text.split(",").map((part) => parseElement(type, part, wrong));

/** Parses numbers with commas between them into little-endian bytes. */
export function listBytes(type: ElementType, text: string, wrong: Wrong): Uint8Array {
  const values = parseList(type, text, wrong);
  const elements = Elements.zeros(type, values.length);
  values.forEach((value, i) => {
    elements.set(i, value);
  });
  return elements.bytes;
}

/** Parses pairs of hexadecimal digits. */
export function hexBytes(text: string, wrong: Wrong): Uint8Array {
  const digits = text.replace(/^0x/i, "").replace(/[\s_]/g, "");
  if (!/^([0-9a-f]{2})+$/i.test(digits)) wrong("expected pairs of hexadecimal digits, as in bytes:00ff12");
  return Uint8Array.from({ length: digits.length >> 1 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

const startsAsNumber = /^\s*[-+.\d]|^\s*(nan|inf)/i;

/** Parses `f32[4]`, `f32[4]=iota`, `f32[4]=1,2,3,4`, `f32[]=1,2,3` or `f32=1,2,3`. Null if it is none of these. */
export function parseBuffer(text: string, wrong: Wrong): BufferSpec | null {
  const [, name, length, init] = /^(\w+)(?:\[(\d*)\])?(?:=(.*))?$/s.exec(text) ?? [];
  if (name === undefined || (length === undefined && (init === undefined || !startsAsNumber.test(init)))) return null;
  const type = parseType(name, wrong);
  const list = init !== undefined && startsAsNumber.test(init) ? parseList(type, init, wrong) : null;
  if (list === null && (length === undefined || length === "")) {
    return wrong(`how many elements? As in ${name}[1024]${init === undefined ? "" : `=${init}`}`);
  }
  const n = length === undefined || length === "" ? list!.length : Number(length);
  const max = Math.floor(0x7fff_ffff / elementInfo[type].size);
  if (n > max) wrong(`a buffer of ${type} has at most ${max} elements`);
  if (list === null) return { type, n, init: parseInit(type, init ?? "zero", wrong), sha256: null };
  if (list.length !== n) {
    const values = `${list.length} value${list.length === 1 ? "" : "s"}`;
    const hint = list.length === 1 ? `; ${name}[${n}]=fill:${list[0]} repeats it` : "";
    wrong(`${values} for ${n} element${n === 1 ? "" : "s"}${hint}`);
  }
  return { type, n, init: { gen: "list", values: list }, sha256: null };
}

function parseInit(type: ElementType, text: string, wrong: Wrong): Init {
  const [name = "", value] = text.split(":", 2);
  const number = (absent: number): number | bigint => {
    if (value === undefined) return absent;
    if (name !== "lcg") return parseElement(type, value, wrong);
    return parseNumber(value) ?? wrong(`"${value}" is not a number`);
  };
  switch (name) {
    case "zero":
      return { gen: "zero" };
    case "iota":
      return { gen: "iota", start: number(0), step: 1 };
    case "fill":
      return { gen: "fill", value: number(0) };
    case "lcg": {
      const seed = Number(number(0));
      if (!Number.isInteger(seed) || seed < 0 || seed > 0xffff_ffff) wrong("a seed is an integer of 32 bits");
      return { gen: "lcg", seed, lo: 0, hi: 1, mod: null, add: 0, scale: 1 };
    }
    default: {
      const meant = nearest(name, ["zero", "iota", "fill", "lcg"]);
      const hint = meant === null ? "" : `; did you mean ${meant}?`;
      return wrong(`buffers are filled by zero, iota, fill:V, lcg:SEED or a list, not "${name}"${hint}`);
    }
  }
}

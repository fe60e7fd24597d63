import type { Span } from "../../source/index.ts";
import { Token } from "../lexer.ts";
import type { Immediate } from "../tree.ts";
import { type DataType, isDataType, typeBytes } from "../types.ts";
import type { Cursor } from "./cursor.ts";
import { unary } from "./expressions.ts";

/** The most characters of a string. */
const stringLimit = 4096;

const bytes = new DataView(new ArrayBuffer(8));

/** Takes `:ud`, without a blank inside. Types may be in either case. */
export function typeSuffix(p: Cursor): DataType {
  if (!p.expect(Token.colon, "':' and a type")) return "ud";
  if (p.start > p.previousEnd) p.unexpected("a type directly after the ':'");
  const type = typeName(p);
  if (!p.panicking) p.advance();
  return type;
}

/** The type at the cursor; reports an error if there is none. Does not advance. */
export function typeName(p: Cursor): DataType {
  const text = p.token.toLowerCase();
  if (p.at(Token.name) && isDataType(text)) return text;
  p.unexpected("a type", "the types are ub b uw w ud d uq q hf bf f df, and v uv vf for immediates");
  return "ud";
}

/** `0x1:ud`, `-5:w`, `1.5:f`, `0x3f800000:f`. */
export function immediate(p: Cursor): Immediate {
  const { start } = p;
  const negative = p.at(Token.minus) && floatFollows(p);
  if (negative) p.advance();
  if (p.at(Token.float)) return float(p, start, negative);
  const literal = p.at(Token.number);
  const value = unary(p);
  const end = p.previousEnd;
  const type = typeSuffix(p);
  const span = { start, end: p.previousEnd };
  const written = { start, end };
  if (type === "f" || type === "df")
    return pattern(p, type, negated(type, value), span, written, literal || value < 0n);
  if (type === "hf" || type === "bf") return pattern(p, type, value, span, written, literal);
  return { kind: "immediate", ...span, type, bits: integerBits(p, type, value, written) };
}

/**
 * Whether a float follows the minus at the cursor: then the minus changes its sign. Before an integer, it is part of
 * the integer.
 */
const floatFollows = (p: Cursor): boolean => {
  const next = /-[ \t]*[0-9]+(?:\.[0-9]+)?(?:[eE][+-][0-9]+)?:/y;
  next.lastIndex = p.start;
  return /[.eE]/.test(next.exec(p.text)?.[0] ?? "");
};

/** Before a bit pattern, a minus changes the sign bit: `-0x3f800000:f` is -1. */
function negated(type: "f" | "df", value: bigint): bigint {
  return value >= 0n ? value : -value ^ (1n << BigInt(typeBytes(type) * 8 - 1));
}

/** A float that is written as its bit pattern. */
function pattern(p: Cursor, type: DataType, bits: bigint, span: Span, written: Span, literal: boolean): Immediate {
  const width = typeBytes(type) * 8;
  if (!literal) {
    p.fail("visa-malformed-number", written, `the bit pattern of a value of type ${type} is a plain number`);
  } else if (bits < 0n || bits >> BigInt(width) !== 0n) {
    p.fail("visa-number-out-of-range", written, `the bit pattern of a value of type ${type} has ${width} bits`);
  }
  return { kind: "immediate", ...span, type, bits: BigInt.asUintN(width, bits) };
}

function float(p: Cursor, start: number, negative: boolean): Immediate {
  const value = (negative ? -1 : 1) * Number(p.token);
  const written = { start, end: p.end };
  p.advance();
  const type = typeSuffix(p);
  const span = { start, end: p.previousEnd };
  if (type === "f") {
    // Rounded to the nearest double and then to the nearest float, as by IGC.
    bytes.setFloat32(0, value);
    return { kind: "immediate", ...span, type, bits: BigInt(bytes.getUint32(0)) };
  }
  bytes.setFloat64(0, value);
  if (type === "df") return { kind: "immediate", ...span, type, bits: bytes.getBigUint64(0) };
  const help =
    type === "hf" || type === "bf" ? `write the bit pattern, as in '0x3c00:hf'` : "the types f and df have a fraction";
  p.fail("visa-malformed-number", written, `a value of type ${type} cannot be written with a fraction`, { help });
  return { kind: "immediate", ...span, type, bits: 0n };
}

/**
 * The bits that a CISA file stores: 64 for q and uq, otherwise 32. An integer of a narrower type may be written with
 * its own bits (0xfffb:w) or with those of a dword, as by IGC's printer for -5 (0xfffffffb:w).
 */
function integerBits(p: Cursor, type: DataType, value: bigint, written: Span): bigint {
  const width = typeBytes(type) * 8;
  const stored = Math.max(32, width);
  const half = 1n << BigInt(width - 1);
  const fits = value >= -half && value < 2n * half;
  const extended = value >= (1n << BigInt(stored)) - half && value < 1n << BigInt(stored);
  if (!fits && !extended) {
    p.fail("visa-number-out-of-range", written, `the number does not fit the type ${type}`, {
      help: `it has ${width} bits`,
    });
  }
  return BigInt.asUintN(stored, value);
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["e", "\x1b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["'", "'"],
  ['"', '"'],
  ["?", "?"],
  ["\\", "\\"],
]);

/** Takes a string and returns the characters that it stands for. */
export function stringLiteral(p: Cursor): string {
  const { start, end } = p;
  const text = p.token;
  const closed = text.length > 1 && text.endsWith('"');
  p.advance();
  let value = text.slice(1, closed ? -1 : undefined);
  if (value.includes("\\")) {
    value = value.replace(/\\(?:x([0-9A-Fa-f]{1,2})|([0-9]{1,3})|(.?))/gs, (all, hex, octal, letter, at: number) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      // IGC accepts 8 and 9 as digits here, and keeps the low byte.
      if (octal !== undefined) return String.fromCharCode([...octal].reduce((sum, d) => sum * 8 + Number(d), 0) & 0xff);
      const character = escapes.get(letter);
      if (character !== undefined) return character;
      const span = { start: start + 1 + at, end: start + 1 + at + all.length };
      p.fail("visa-unknown-escape", span, `strings have no escape '${all}'`, {
        help: "they have \\a \\b \\e \\f \\n \\r \\t \\v \\' \\\" \\? \\\\ \\nnn and \\xnn",
      });
      return "";
    });
  }
  if (value.length > stringLimit) {
    p.fail("visa-string-too-long", { start, end }, `a string has at most ${stringLimit} characters`);
    return "";
  }
  return value;
}

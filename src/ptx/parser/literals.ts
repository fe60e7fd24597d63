import type { SyntaxCode } from "../codes-syntax.ts";
import type { FloatLiteral, IntegerLiteral } from "../tree/leaves.ts";
import type { Cursor } from "./cursor.ts";

const bytes = new DataView(new ArrayBuffer(8));

/**
 * Parses the number at the cursor (4.5). A malformed one is reported and reads as zero, so that it causes no further
 * errors.
 */
export function numberLiteral(p: Cursor): IntegerLiteral | FloatLiteral {
  const { start, end } = p;
  const literal = shortDecimal(p.text, start, end) ?? anyLiteral(p, p.token);
  p.advance();
  return literal;
}

/** The fast path for most numbers: decimal digits without a suffix, exact in a double. */
function shortDecimal(text: string, start: number, end: number): IntegerLiteral | null {
  if (end - start > 15) return null;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return null;
    value = value * 10 + digit;
  }
  if (end - start > 1 && text.charCodeAt(start) === 0x30) return null;
  return integer(start, end, smallIntegers[value] ?? BigInt(value), false);
}

const smallIntegers: readonly bigint[] = Array.from({ length: 257 }, (_, value) => BigInt(value));

const integer = (start: number, end: number, value: bigint, unsigned: boolean): IntegerLiteral => ({
  kind: "integer",
  start,
  end,
  value,
  unsigned,
});

interface Radix {
  readonly digitName: string;
  readonly digit: RegExp;
  /** The prefix that `BigInt` requires before the digits. */
  readonly prefix: string;
}

const radices = {
  hexadecimal: { digitName: "a hexadecimal digit", digit: /[0-9a-fA-F]/, prefix: "0x" },
  octal: { digitName: "an octal digit", digit: /[0-7]/, prefix: "0o" },
  binary: { digitName: "a binary digit", digit: /[01]/, prefix: "0b" },
  decimal: { digitName: "a decimal digit", digit: /[0-9]/, prefix: "" },
} satisfies Record<string, Radix>;

function anyLiteral(p: Cursor, text: string): IntegerLiteral | FloatLiteral {
  const marker = text[0] === "0" ? (text[1] ?? "").toLowerCase() : "";
  if (marker === "f") return exactFloat(p, text, 32, 8);
  if (marker === "d") return exactFloat(p, text, 64, 16);
  if (marker === "x") return integerLiteral(p, text, 2, radices.hexadecimal);
  if (marker === "b") return integerLiteral(p, text, 2, radices.binary);
  if (/[.eE]/.test(text)) return decimalFloat(p, text);
  return marker === "" || marker === "u"
    ? integerLiteral(p, text, 0, radices.decimal)
    : integerLiteral(p, text, 1, radices.octal);
}

function integerLiteral(p: Cursor, text: string, from: number, radix: Radix): IntegerLiteral {
  const suffix = text.endsWith("U");
  const digits = suffix ? text.slice(from, -1) : text.slice(from);
  const wrong = [...digits].findIndex((digit) => !radix.digit.test(digit));
  if (wrong >= 0 || digits === "") {
    const at = p.start + from + Math.max(wrong, 0);
    const span = digits === "" ? p : { start: at, end: at + 1 };
    const message = digits === "" ? "the number has no digits" : `'${digits[wrong]}' is not ${radix.digitName}`;
    const help = radix === radices.octal ? "a leading 0 makes a number octal: remove it" : undefined;
    return malformed(p, "ptx-malformed-number", span, message, help);
  }
  // 64 bits have at most 64 digits; BigInt would be slow for longer texts.
  const significant = digits.replace(/^0+(?=.)/, "");
  const value = significant.length > 64 ? 1n << 64n : BigInt(radix.prefix + significant);
  if (value >> 64n !== 0n) return malformed(p, "ptx-number-too-large", p, "the number does not fit in 64 bits");
  return integer(p.start, p.end, value, suffix || value >> 63n !== 0n);
}

function malformed(p: Cursor, code: SyntaxCode, span: { start: number; end: number }, message: string, help?: string) {
  p.error(code, span, message, { help });
  return integer(p.start, p.end, 0n, false);
}

function exactFloat(p: Cursor, text: string, width: 32 | 64, count: number): FloatLiteral {
  const digits = text.slice(2);
  const wrong = /[^0-9a-fA-F]/.exec(digits);
  if (wrong) {
    const at = p.start + 2 + wrong.index;
    p.error("ptx-malformed-number", { start: at, end: at + 1 }, `'${wrong[0]}' is not a hexadecimal digit`);
  } else if (digits.length !== count) {
    const message = `'${text.slice(0, 2)}' takes exactly ${count} hexadecimal digits, not ${digits.length}`;
    p.error("ptx-malformed-number", p, message, {
      help: `it gives the bits of a binary${width}; 1.0 is ${width === 32 ? "0f3F800000" : "0d3FF0000000000000"}`,
    });
  } else {
    return { kind: "float", start: p.start, end: p.end, width, bits: BigInt(`0x${digits}`) };
  }
  return { kind: "float", start: p.start, end: p.end, width, bits: 0n };
}

const decimalPattern = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/;

function decimalFloat(p: Cursor, text: string): FloatLiteral {
  const good = decimalPattern.exec(text)?.[0].length ?? 0;
  if (good < text.length) {
    const at = p.start + good;
    p.error(
      "ptx-malformed-number",
      { start: at, end: p.end },
      `'${text.slice(good, good + 40)}' is not part of a number`,
      {
        help: /^[fFlLdD]$/.test(text.slice(good)) ? "literals have no type suffix" : undefined,
      },
    );
  }
  bytes.setFloat64(0, good < text.length ? 0 : Number(text));
  return { kind: "float", start: p.start, end: p.end, width: 64, bits: bytes.getBigUint64(0) };
}

import { typeBytes } from "../../../src/visa/types.ts";
import {
  bfloat16,
  binary16,
  binary32,
  binary64,
  type Format,
  patternOf,
  type Rational,
  valueOfPattern,
} from "../../numeric/model.ts";

export const formats: Readonly<Record<string, Format>> = { f: binary32, df: binary64, hf: binary16, bf: bfloat16 };

const special: Readonly<Record<string, (sign: bigint, infinity: bigint, format: Format) => bigint>> = {
  inf: (sign, infinity) => sign | infinity,
  nan: (sign, infinity, { fractionBits }) => sign | infinity | (1n << BigInt(fractionBits - 1)),
};

/**
 * The bit pattern of a value in a type. Integers and packed immediates are decimal or 0x; floats are a pattern with 0x,
 * `inf`, `nan`, or a decimal number that the type represents exactly; predicates are 0 or 1.
 */
export function bitsOf(type: string, text: string, at: string): bigint {
  const format = formats[type];
  if (text.startsWith("0x") || format === undefined) {
    const width = type === "bool" ? 1 : typeBytes(type as "ud") * 8;
    return BigInt.asUintN(width, text.startsWith("-0x") ? -BigInt(text.slice(1)) : BigInt(text));
  }
  const { exponentBits, fractionBits } = format;
  const negative = text.startsWith("-");
  const magnitude = negative ? text.slice(1) : text;
  const sign = negative ? 1n << BigInt(exponentBits + fractionBits) : 0n;
  const infinity = ((1n << BigInt(exponentBits)) - 1n) << BigInt(fractionBits);
  const named = special[magnitude];
  if (named !== undefined) return named(sign, infinity, format);
  const bits = sign | patternOf(decimal(magnitude), format, "rn", false);
  const back = valueOfPattern(bits & ~sign, format);
  const want = decimal(magnitude);
  if (back.n * want.d !== want.n * back.d) throw new Error(`${at}: ${text} is no number of type ${type}`);
  return bits;
}

function decimal(text: string): Rational {
  const [, whole = "", fraction = "", exponent = "0"] = /^(\d+)(?:\.(\d+))?(?:e(-?\d+))?$/.exec(text) ?? [];
  const power = Number(exponent) - fraction.length;
  const n = BigInt(whole + fraction);
  return power >= 0 ? { n: n * 10n ** BigInt(power), d: 1n } : { n, d: 10n ** BigInt(-power) };
}

/** Whether a pattern is a NaN of the type. */
export function isNan(type: string, bits: bigint): boolean {
  const format = formats[type];
  if (format === undefined) return false;
  const infinity = ((1n << BigInt(format.exponentBits)) - 1n) << BigInt(format.fractionBits);
  return BigInt.asUintN(format.exponentBits + format.fractionBits, bits) > infinity;
}

/**
 * IEEE 754 arithmetic by rational numbers over big integers alone: the model that the numerics are compared with. A
 * number is a bit pattern in a format; patterns are decoded and encoded by the standard's definition.
 */
export interface Format {
  readonly exponentBits: number;
  readonly fractionBits: number;
}
export const binary64: Format = { exponentBits: 11, fractionBits: 52 };
export const binary32: Format = { exponentBits: 8, fractionBits: 23 };
export const binary16: Format = { exponentBits: 5, fractionBits: 10 };
export const bfloat16: Format = { exponentBits: 8, fractionBits: 7 };
export type Mode = "rn" | "rz" | "rm" | "rp";

/** A rational number n / d with d > 0. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

const bits = (x: bigint): number => {
  const hex = x.toString(16);
  return hex.length * 4 - (Math.clz32(Number.parseInt(hex[0]!, 16)) - 28);
};
const abs = (x: bigint): bigint => (x < 0n ? -x : x);
const times2 = (x: Rational, k: number): Rational =>
  k >= 0 ? { n: x.n << BigInt(k), d: x.d } : { n: x.n, d: x.d << BigInt(-k) };

/** The value of a finite pattern. */
export function valueOfPattern(pattern: bigint, { exponentBits, fractionBits }: Format): Rational {
  const fraction = pattern & ((1n << BigInt(fractionBits)) - 1n);
  const field = Number((pattern >> BigInt(fractionBits)) & ((1n << BigInt(exponentBits)) - 1n));
  const bias = 2 ** (exponentBits - 1) - 1;
  const significand = field === 0 ? fraction : fraction + (1n << BigInt(fractionBits));
  const negative = pattern >> BigInt(exponentBits + fractionBits) === 1n;
  return times2({ n: negative ? -significand : significand, d: 1n }, Math.max(field, 1) - bias - fractionBits);
}

/** The pattern of a value, rounded once. The caller chooses the sign of a zero result: `zero` is its sign bit. */
export function patternOf(x: Rational, { exponentBits, fractionBits }: Format, mode: Mode, zero: boolean): bigint {
  const sign = (negative: boolean) => (negative ? 1n << BigInt(exponentBits + fractionBits) : 0n);
  if (x.n === 0n) return sign(zero);
  const negative = x.n < 0n;
  const n = abs(x.n);
  const bias = 2 ** (exponentBits - 1) - 1;
  let e = bits(n) - bits(x.d);
  if (e >= 0 ? n < x.d << BigInt(e) : n << BigInt(-e) < x.d) e--;
  e = Math.max(e, 1 - bias);
  const unit = times2({ n, d: x.d }, fractionBits - e);
  let q = unit.n / unit.d;
  const twice = 2n * (unit.n % unit.d);
  const up = {
    rn: twice > unit.d || (twice === unit.d && (q & 1n) === 1n),
    rz: false,
    rm: negative && twice > 0n,
    rp: !negative && twice > 0n,
  }[mode];
  if (up) q += 1n;
  if (q === 1n << BigInt(fractionBits + 1)) {
    q >>= 1n;
    e++;
  }
  const infinity = ((1n << BigInt(exponentBits)) - 1n) << BigInt(fractionBits);
  if (e > bias) {
    const finite = mode === "rz" || mode === (negative ? "rp" : "rm");
    return sign(negative) + infinity - (finite ? 1n : 0n);
  }
  const hidden = 1n << BigInt(fractionBits);
  return sign(negative) + (q >= hidden ? (BigInt(e + bias) << BigInt(fractionBits)) + q - hidden : q);
}

/** a * b + c. */
export const fused = (a: Rational, b: Rational, c: Rational): Rational => ({
  n: a.n * b.n * c.d + c.n * a.d * b.d,
  d: a.d * b.d * c.d,
});
export const sum = (a: Rational, b: Rational): Rational => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const product = (a: Rational, b: Rational): Rational => ({ n: a.n * b.n, d: a.d * b.d });
export const quotient = (a: Rational, b: Rational): Rational =>
  b.n < 0n ? { n: -a.n * b.d, d: a.d * -b.n } : { n: a.n * b.d, d: a.d * b.n };

const integerRoot = (n: bigint): bigint => {
  if (n < 2n) return n;
  let x = 1n << BigInt((bits(n) + 1) >> 1);
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
};
/**
 * A number that rounds to any format of up to 64 bits in the same way as the root of `a`: the root to 80 bits and a
 * sticky bit for the rest.
 */
export function root(a: Rational): Rational {
  const shift = Math.max(0, 170 - bits(a.n) + bits(a.d));
  const even = shift + (shift % 2);
  const scaled = (a.n << BigInt(even)) / a.d;
  const exact = scaled * a.d === a.n << BigInt(even);
  const r = integerRoot(scaled);
  const rest = !exact || r * r !== scaled;
  return times2({ n: 2n * r + (rest ? 1n : 0n), d: 1n }, -even / 2 - 1);
}

/** The sign of an exact zero sum of x and y, given the sign bits of their patterns, in a mode. */
export const zeroSign = (x: boolean, y: boolean, mode: Mode): boolean => (x === y ? x : mode === "rm");

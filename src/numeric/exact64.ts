import { exponentOf, powerOfTwo } from "./binary64-bits.ts";
import type { RoundingMode } from "./rounding.ts";

/**
 * Exact arithmetic on doubles with big integers, for the rare operands for which error-free transformations lose bits.
 */

/** The IEEE 754 rounding modes that arithmetic instructions take. */
export type IeeeRounding = Exclude<RoundingMode, "rna">;

/** A dyadic rational, `m * 2^e`. */
interface Dyadic {
  readonly m: bigint;
  readonly e: number;
}

/** Decomposes a finite nonzero double. */
function dyadic(x: number): Dyadic {
  const e = Math.max(exponentOf(x) - 52, -1074);
  // In two steps, because 2^-e may exceed the largest double.
  const half = Math.trunc(-e / 2);
  return { m: BigInt(x * powerOfTwo(half) * powerOfTwo(-e - half)), e };
}

const bitLength = (m: bigint): number => m.toString(2).length;

/** Rounds `m * 2^e` to a double; `m` is nonzero. */
function rounded(m: bigint, e: number, mode: IeeeRounding): number {
  const negative = m < 0n;
  const magnitude = negative ? -m : m;
  const shift = Math.max(bitLength(magnitude) - 53, -1074 - e, 0);
  let q = magnitude >> BigInt(shift);
  const twice = (magnitude - (q << BigInt(shift))) << 1n;
  const unit = 1n << BigInt(shift);
  if (
    mode === "rn"
      ? twice > unit || (twice === unit && (q & 1n) === 1n)
      : twice > 0n && mode === (negative ? "rm" : "rp")
  )
    q += 1n;
  const overflow = bitLength(q) + e + shift > 1024;
  const finite = mode === "rz" || mode === (negative ? "rp" : "rm");
  const value = overflow ? (finite ? Number.MAX_VALUE : Infinity) : scaled(Number(q), e + shift);
  return negative ? -value : value;
}

/** Returns `x * 2^k`, where both the operand and the result are doubles. */
const scaled = (x: number, k: number): number =>
  k > 1023 ? x * powerOfTwo(1023) * powerOfTwo(k - 1023) : x * powerOfTwo(k);

/** `a * b + c`, rounded once, for finite doubles whose product is nonzero. */
export function exactFma(a: number, b: number, c: number, mode: IeeeRounding): number {
  const x = dyadic(a);
  const y = dyadic(b);
  const z = c === 0 ? { m: 0n, e: x.e + y.e } : dyadic(c);
  const e = Math.min(x.e + y.e, z.e);
  const sum = ((x.m * y.m) << BigInt(x.e + y.e - e)) + (z.m << BigInt(z.e - e));
  return sum === 0n ? (mode === "rm" ? -0 : 0) : rounded(sum, e, mode);
}

/** `a / b`, rounded once, for finite nonzero doubles. */
export function exactQuotient(a: number, b: number, mode: IeeeRounding): number {
  const x = dyadic(a);
  const y = dyadic(b);
  // Both significands have up to 53 bits, so 2^110 leaves the quotient at least 57 bits; the remainder is folded into
  // one more bit.
  const n = x.m << 110n;
  const q = n / y.m;
  const rest = n !== q * y.m;
  const sign = n < 0n !== y.m < 0n ? -1n : 1n;
  return rounded(q * 2n + (rest ? sign : 0n), x.e - y.e - 111, mode);
}

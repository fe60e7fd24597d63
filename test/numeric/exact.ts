import type { RoundingMode } from "../../src/numeric/half.ts";

/** The widths of the fields of an IEEE 754 format. */
export interface Format {
  readonly exponent: number;
  readonly fraction: number;
}

/** A rational number n / d with d > 0, the model that roundings are compared with. */
export class Exact {
  readonly n: bigint;
  readonly d: bigint;
  readonly negative: boolean;
  constructor(n: bigint, d: bigint, negative = n < 0n) {
    this.n = n;
    this.d = d;
    this.negative = negative;
  }
  /** Converts a finite double by repeated doubling, without looking at its bit pattern. */
  static of(x: number): Exact {
    let d = 1n;
    let y = x;
    while (!Number.isInteger(y)) {
      y *= 2;
      d *= 2n;
    }
    return new Exact(BigInt(y), d, x < 0 || Object.is(x, -0));
  }
}

/** Rounds n / d, with n >= 0, to an integer. `negative`: it is the magnitude of a negative value. */
export function roundedQuotient(n: bigint, d: bigint, mode: RoundingMode, negative: boolean): bigint {
  const q = n / d;
  const twice = (n % d) * 2n;
  if (twice === 0n) return q;
  const up = {
    rn: twice > d || (twice === d && q % 2n === 1n),
    rna: twice >= d,
    rz: false,
    rm: negative,
    rp: !negative,
  }[mode];
  return up ? q + 1n : q;
}

/** Returns the pattern of `x` in `format`, rounded once, by rational arithmetic. */
export function nearest(x: Exact, format: Format, mode: RoundingMode): number {
  const bias = 2 ** (format.exponent - 1) - 1;
  const n = x.n < 0n ? -x.n : x.n;
  const sign = x.negative ? 2 ** (format.exponent + format.fraction) : 0;
  if (n === 0n) return sign;
  let e = n.toString(2).length - x.d.toString(2).length;
  const atLeast = (k: number) => (k >= 0 ? n >= x.d << BigInt(k) : n << BigInt(-k) >= x.d);
  if (!atLeast(e)) e--;
  if (e < 1 - bias) e = 1 - bias;
  const shift = BigInt(format.fraction - e);
  let q = roundedQuotient(shift > 0n ? n << shift : n, shift > 0n ? x.d : x.d << -shift, mode, x.negative);
  if (q === 1n << BigInt(format.fraction + 1)) {
    q >>= 1n;
    e++;
  }
  const infinity = (2 ** format.exponent - 1) * 2 ** format.fraction;
  if (e > bias) {
    const finite = mode === "rz" || mode === (x.negative ? "rp" : "rm");
    return sign + (finite ? infinity - 1 : infinity);
  }
  const normal = q >= 1n << BigInt(format.fraction);
  return sign + (normal ? (e + bias) * 2 ** format.fraction + Number(q) - 2 ** format.fraction : Number(q));
}

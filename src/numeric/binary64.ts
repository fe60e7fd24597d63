import { awayFromZero, powerOfTwo, towardsZero } from "./binary64-bits.ts";
import { productError, sumError, toOdd } from "./error-free.ts";
import { exactFma, exactQuotient, type IeeeRounding } from "./exact64.ts";

/**
 * Binary64 arithmetic beyond what the host offers: rounding modes other than to nearest, and the fused multiply-add.
 * Rounding down is computed as the mirror image of rounding up, including the signs of zeros.
 */

/**
 * Rounds an exact value towards zero or up. `z` is that value rounded to nearest; `e` has the sign of the rounding
 * error (exact value minus `z`).
 */
function directed(z: number, e: number, mode: "rz" | "rp"): number {
  if (e > 0) return z < 0 ? towardsZero(z) : mode === "rp" ? awayFromZero(z) : z;
  return e < 0 && z > 0 && mode === "rz" ? towardsZero(z) : z;
}

const within = (x: number, min: number, max: number): boolean => {
  const magnitude = Math.abs(x);
  return magnitude > min && magnitude < max;
};
const MIN_PRODUCT = powerOfTwo(-900);
const MAX_MAGNITUDE = powerOfTwo(990);

/** The fused multiply-add, rounded once. */
export function fma64(a: number, b: number, c: number, mode: IeeeRounding): number {
  if (mode === "rm") return -fma64(-a, b, -c, "rp");
  const p = a * b;
  if (
    !(
      within(p, MIN_PRODUCT, MAX_MAGNITUDE) &&
      Math.abs(a) < MAX_MAGNITUDE &&
      Math.abs(b) < MAX_MAGNITUDE &&
      Math.abs(c) < MAX_MAGNITUDE
    )
  ) {
    return rareFma64(a, b, c, mode);
  }
  const e = productError(a, b, p);
  const high = c + e;
  const low = sumError(c, e, high);
  const sum = p + high;
  const sumLow = sumError(p, high, sum);
  const lost = sumLow + low;
  const tail = toOdd(lost, sumError(sumLow, low, lost));
  const z = sum + tail;
  return mode === "rn" ? z : directed(z, sumError(sum, tail, z), mode);
}

function rareFma64(a: number, b: number, c: number, mode: IeeeRounding): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a * b + c;
  if (!Number.isFinite(c)) return c;
  // A zero product is exact, and its sign matters for the sum of zeros.
  if (a === 0 || b === 0) return a * b + c;
  return exactFma(a, b, c, mode);
}

/** `a + b` in a mode other than to nearest. */
export function add64(a: number, b: number, mode: "rz" | "rm" | "rp"): number {
  if (mode === "rm") return -add64(-a, -b, "rp");
  const s = a + b;
  if (Math.abs(s) < MAX_MAGNITUDE) return directed(s, sumError(a, b, s), mode);
  return a === 0 || b === 0 ? s : fma64(a, 1, b, mode);
}

/** `a * b` in a mode other than to nearest. */
export function mul64(a: number, b: number, mode: "rz" | "rm" | "rp"): number {
  return a === 0 || b === 0 ? a * b : fma64(a, b, 0, mode);
}

const MIN_QUOTIENT = powerOfTwo(-450);
const MAX_QUOTIENT = powerOfTwo(450);

/** `a / b` in a mode other than to nearest. */
export function div64(a: number, b: number, mode: "rz" | "rm" | "rp"): number {
  if (mode === "rm") return -div64(-a, b, "rp");
  const q = a / b;
  if (within(a, MIN_QUOTIENT, MAX_QUOTIENT) && within(b, MIN_QUOTIENT, MAX_QUOTIENT)) {
    const p = q * b;
    const remainder = a - p - productError(q, b, p);
    return directed(q, b < 0 ? -remainder : remainder, mode);
  }
  return a === 0 || b === 0 || !Number.isFinite(a) || !Number.isFinite(b) ? q : exactQuotient(a, b, mode);
}

/** The square root in a mode other than to nearest. */
export function sqrt64(a: number, mode: "rz" | "rm" | "rp"): number {
  if (!within(a, MIN_QUOTIENT, MAX_QUOTIENT)) {
    if (!(a > 0 && a < Infinity)) return Math.sqrt(a);
    // Scaling by an even power of two commutes with the root exactly.
    const k = a < 1 ? 350 : -350;
    return sqrt64(a * powerOfTwo(2 * k), mode) * powerOfTwo(-k);
  }
  const q = Math.sqrt(a);
  const p = q * q;
  return directed(q, a - p - productError(q, q, p), mode === "rp" ? "rp" : "rz");
}

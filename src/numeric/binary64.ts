import { awayFromZero, powerOfTwo, towardsZero } from "./binary64-bits.ts";
import { productError, sumError, toOdd } from "./error-free.ts";
import { exactFma, exactQuotient, type IeeeRounding } from "./exact64.ts";

/**
 * Arithmetic of binary64 beyond what the host offers: the modes other than to nearest, and the fused multiply-add.
 * Towards minus infinity is the mirror image of towards plus infinity, also in the signs of zeros.
 */

/** The exact value, of which `z` is the rounding to nearest and `e` has the sign of what was lost, towards 0 or upward. */
function directed(z: number, e: number, mode: "rz" | "rp"): number {
  if (e > 0) return z < 0 ? towardsZero(z) : mode === "rp" ? awayFromZero(z) : z;
  return e < 0 && z > 0 && mode === "rz" ? towardsZero(z) : z;
}

const within = (x: number, least: number, most: number): boolean => {
  const magnitude = Math.abs(x);
  return magnitude > least && magnitude < most;
};
const LEAST_PRODUCT = powerOfTwo(-900);
const MOST = powerOfTwo(990);

/** The fused multiply-add, rounded once. */
export function fma64(a: number, b: number, c: number, mode: IeeeRounding): number {
  if (mode === "rm") return -fma64(-a, b, -c, "rp");
  const p = a * b;
  if (!(within(p, LEAST_PRODUCT, MOST) && Math.abs(a) < MOST && Math.abs(b) < MOST && Math.abs(c) < MOST)) {
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
  // A zero product is exact, and its sign matters to the sum of zeros.
  if (a === 0 || b === 0) return a * b + c;
  return exactFma(a, b, c, mode);
}

/** `a + b`, not to nearest. */
export function add64(a: number, b: number, mode: "rz" | "rm" | "rp"): number {
  if (mode === "rm") return -add64(-a, -b, "rp");
  const s = a + b;
  if (Math.abs(s) < MOST) return directed(s, sumError(a, b, s), mode);
  return a === 0 || b === 0 ? s : fma64(a, 1, b, mode);
}

/** `a * b`, not to nearest. */
export function mul64(a: number, b: number, mode: "rz" | "rm" | "rp"): number {
  return a === 0 || b === 0 ? a * b : fma64(a, b, 0, mode);
}

const LEAST_QUOTIENT = powerOfTwo(-450);
const MOST_QUOTIENT = powerOfTwo(450);

/** `a / b`, not to nearest. */
export function div64(a: number, b: number, mode: "rz" | "rm" | "rp"): number {
  if (mode === "rm") return -div64(-a, b, "rp");
  const q = a / b;
  if (within(a, LEAST_QUOTIENT, MOST_QUOTIENT) && within(b, LEAST_QUOTIENT, MOST_QUOTIENT)) {
    const p = q * b;
    const remainder = a - p - productError(q, b, p);
    return directed(q, b < 0 ? -remainder : remainder, mode);
  }
  return a === 0 || b === 0 || !Number.isFinite(a) || !Number.isFinite(b) ? q : exactQuotient(a, b, mode);
}

/** The square root, not to nearest. */
export function sqrt64(a: number, mode: "rz" | "rm" | "rp"): number {
  if (!within(a, LEAST_QUOTIENT, MOST_QUOTIENT)) {
    if (!(a > 0 && a < Infinity)) return Math.sqrt(a);
    // An even power of two comes out of the root without a rounding.
    const k = a < 1 ? 350 : -350;
    return sqrt64(a * powerOfTwo(2 * k), mode) * powerOfTwo(-k);
  }
  const q = Math.sqrt(a);
  const p = q * q;
  return directed(q, a - p - productError(q, q, p), mode === "rp" ? "rp" : "rz");
}

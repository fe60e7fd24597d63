import { toOdd } from "./error-free.ts";

/**
 * Returns the exact sum of doubles, rounded to odd: rounding that once more, to a shorter format, gives the exact sum
 * rounded once. Partial sums are kept as doubles of which none overlaps another (Shewchuk 1997). No partial sum may
 * overflow, and none of their errors may be subnormal.
 */
export function exactSum(terms: Iterable<number>): number {
  const partials: number[] = [];
  let special = 0;
  for (const term of terms) {
    if (!Number.isFinite(term)) {
      special += term;
      continue;
    }
    let rest = term;
    let kept = 0;
    for (const partial of partials) {
      const [large, small] = Math.abs(rest) < Math.abs(partial) ? [partial, rest] : [rest, partial];
      const sum = large + small;
      const error = small - (sum - large);
      if (error !== 0) partials[kept++] = error;
      rest = sum;
    }
    partials.length = kept;
    partials.push(rest);
  }
  if (special !== 0) return special;
  // From the largest on; what is below the first error only matters for its sign, which the error has.
  let sum = 0;
  for (let i = partials.length - 1; i >= 0; i--) {
    const next = sum + partials[i]!;
    const error = partials[i]! - (next - sum);
    if (error !== 0) return toOdd(next, error);
    sum = next;
  }
  return sum;
}

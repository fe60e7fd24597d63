import { sumError, toOdd } from "./error-free.ts";

/**
 * Returns the sum of doubles, rounded to odd. The errors of the additions are summed separately and lose bits only if
 * terms are more than 2^100 apart. No intermediate sum may overflow.
 */
export function sumToOdd(terms: readonly number[]): number {
  let sum = 0;
  let lost = 0;
  for (const term of terms) {
    const next = sum + term;
    lost += sumError(sum, term, next);
    sum = next;
  }
  const total = sum + lost;
  return Number.isFinite(total) ? toOdd(total, sumError(sum, lost, total)) : sum;
}

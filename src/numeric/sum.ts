import { sumError, toOdd } from "./error-free.ts";

/**
 * The sum of doubles that do not overflow, rounded to odd: the errors of the additions are added up beside the sum. They
 * are lost only where the terms are more than 2^100 apart.
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

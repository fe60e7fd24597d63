/**
 * Returns the candidate that a misspelt word most likely stands for: the closest one whose edit distance is at most a
 * third of the word's length (at least 1). Null if none is that close, or if the word is longer than 40 characters.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > 40) return null;
  let best: string | null = null;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const distance = editDistance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** Counts the letters to change, insert, leave out, or swap with a neighbour (optimal string alignment distance). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(substitute, swap, previous[j]! + 1, row[j - 1]! + 1));
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length]!;
}

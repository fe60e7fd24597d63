/** The index of the last element that begins at or before a byte; 0 if none does. The list is in ascending order. */
export function lastBefore<T>(list: readonly T[], startOf: (element: T) => number, byte: number): number {
  let [low, high] = [0, list.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (startOf(list[middle]!) <= byte) low = middle;
    else high = middle;
  }
  return low;
}

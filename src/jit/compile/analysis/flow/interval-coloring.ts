/** Consecutive blocks of the layout, both ends included. */
export interface Interval {
  from: number;
  to: number;
}

/**
 * Interval colouring: gives overlapping intervals different slots, using as few slots as possible. Values that are
 * needed for a part of the code alone share locals in that way: the host's first tier copies what it knows of every
 * local at each branch.
 */
export function slotsFor(intervals: readonly Interval[]): readonly number[] {
  const slots: number[] = [];
  /** By block, the slots that are free after it. */
  const freeAfter: number[][] = [];
  const free: number[] = [];
  let count = 0;
  let passed = 0;
  for (const i of inOrder(intervals)) {
    const { from, to } = intervals[i]!;
    for (; passed < from; passed++) for (const slot of freeAfter[passed] ?? []) free.push(slot);
    const slot = free.pop() ?? count++;
    slots[i] = slot;
    (freeAfter[to] ??= []).push(slot);
  }
  return slots;
}

/** The numbers of intervals in the order of their beginnings. */
function inOrder(intervals: readonly Interval[]): Int32Array {
  let end = 0;
  for (const { from } of intervals) end = Math.max(end, from + 1);
  /** By block, how many intervals begin before it; later the place in the order of the next one that begins with it. */
  const starts = new Int32Array(end + 1);
  for (const { from } of intervals) starts[from + 1]!++;
  for (let block = 0; block < end; block++) starts[block + 1]! += starts[block]!;
  const order = new Int32Array(intervals.length);
  for (let i = 0; i < intervals.length; i++) order[starts[intervals[i]!.from]!++] = i;
  return order;
}

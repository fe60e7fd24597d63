/** Blocks behind one another in the layout; both are part of it. */
export interface Interval {
  from: number;
  to: number;
}

/**
 * Gives each span a place, a number from 0, that no other has which meets it: as few as there can be. What takes part
 * in the code for a while shares locals in that way. The host's first tier copies what it knows of every local at each
 * branch.
 */
export function slotsFor(spans: readonly Interval[]): readonly number[] {
  const places: number[] = [];
  /** By block, the places that are free behind it. */
  const ending: number[][] = [];
  const free: number[] = [];
  let count = 0;
  let passed = 0;
  for (const i of inOrder(spans)) {
    const { from, to } = spans[i]!;
    for (; passed < from; passed++) for (const place of ending[passed] ?? []) free.push(place);
    const place = free.pop() ?? count++;
    places[i] = place;
    (ending[to] ??= []).push(place);
  }
  return places;
}

/** The numbers of spans in the order of their beginnings. */
function inOrder(spans: readonly Interval[]): Int32Array {
  let end = 0;
  for (const { from } of spans) end = Math.max(end, from + 1);
  /** By block, how many spans begin before it; then where the next goes that begins with it. */
  const places = new Int32Array(end + 1);
  for (const { from } of spans) places[from + 1]!++;
  for (let block = 0; block < end; block++) places[block + 1]! += places[block]!;
  const order = new Int32Array(spans.length);
  for (let i = 0; i < spans.length; i++) order[places[spans[i]!.from]!++] = i;
  return order;
}

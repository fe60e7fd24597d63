/** Blocks behind one another in the layout; both are part of it. */
export interface Span {
  from: number;
  to: number;
}

/**
 * Gives each span a place, a number from 0, that no other has which meets it: as few as there can be. What takes part in the code
 * for a while shares locals in that way. The host's first tier copies what it knows of every local at each branch.
 */
export function placesOf(spans: readonly Span[]): readonly number[] {
  const order = spans.map((_, i) => i).sort((a, b) => spans[a]!.from - spans[b]!.from);
  const places: number[] = [];
  /** By block, the places that are free behind it. */
  const ending: number[][] = [];
  const free: number[] = [];
  let count = 0;
  let passed = 0;
  for (const i of order) {
    const { from, to } = spans[i]!;
    for (; passed < from; passed++) for (const place of ending[passed] ?? []) free.push(place);
    const place = free.pop() ?? count++;
    places[i] = place;
    (ending[to] ??= []).push(place);
  }
  return places;
}

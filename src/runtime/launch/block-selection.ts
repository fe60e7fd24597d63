import type { BlockRange } from "../../machine/launch.ts";
import { UsageError } from "../data/errors.ts";

/**
 * A part of a grid: linear indices of blocks, x fastest, from 0, each alone or as a range with its first and last, as
 * in `[[0, 9], 20]`.
 */
export type BlockSelection = readonly (number | readonly [first: number, last: number])[];

/**
 * The blocks that a selection has of a grid of `total` blocks, in order and without repetition.
 *
 * @throws UsageError if it has none, or one that the grid does not have
 */
export function blockRanges(selection: BlockSelection, total: number): readonly BlockRange[] {
  const wrong = (what: string): UsageError => new UsageError(`blocks: ${what}`);
  const given = selection.map((part): BlockRange => {
    const [first, last] = typeof part === "number" ? [part, part] : part;
    for (const index of [first, last]) {
      if (Number.isInteger(index) && index >= 0 && index < total) continue;
      throw wrong(`there is no block ${index}: the grid has ${total}, which count from 0`);
    }
    if (last < first) throw wrong(`${first} to ${last} is no range`);
    return [first, last + 1];
  });
  if (given.length === 0) throw wrong("none is given");
  const ranges: [from: number, to: number][] = [];
  for (const [from, to] of given.sort((a, b) => a[0] - b[0])) {
    const before = ranges.at(-1);
    if (before !== undefined && from <= before[1]) before[1] = Math.max(before[1], to);
    else ranges.push([from, to]);
  }
  return ranges;
}

import fc from "fast-check";
import { expect, test } from "vitest";
import { FreeRanges } from "../../src/machine/memory/free-ranges.ts";

/** The ranges of bits that are set, as (start, end). */
function runs(bits: readonly boolean[]): [number, number][] {
  const found: [number, number][] = [];
  bits.forEach((isSet, i) => {
    if (!isSet) return;
    if (i > 0 && bits[i - 1]) found.at(-1)![1] = i + 1;
    else found.push([i, i + 1]);
  });
  return found;
}

const step = fc.tuple(fc.constantFrom("add", "remove", "take", "takeEnd"), fc.nat(60), fc.integer({ min: 1, max: 20 }));

test("free ranges are those of a set of bits, as few as there can be", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(1, 2, 8), (steps, align) => {
      const ranges = new FreeRanges();
      const bits = Array.from({ length: 100 }, () => false);
      for (const [what, start, bytes] of steps) {
        const isFree = bits.slice(start, start + bytes);
        if (what === "add" && !isFree.includes(true)) {
          ranges.add(start, start + bytes);
          bits.fill(true, start, start + bytes);
        } else if (what === "remove") {
          ranges.remove([[start, start + bytes]]);
          bits.fill(false, start, start + bytes);
        } else if (what === "take") {
          const fitting = runs(bits).filter(([from, to]) => Math.ceil(from / align) * align + bytes <= to);
          const taken = ranges.take(bytes, align);
          expect(taken === undefined).toBe(fitting.length === 0);
          if (taken === undefined) continue;
          const smallest = Math.min(...fitting.map(([from, to]) => to - from));
          const around = fitting.find(([from, to]) => from <= taken && taken + bytes <= to)!;
          expect([taken % align, around[1] - around[0]]).toEqual([0, smallest]);
          bits.fill(false, taken, taken + bytes);
        } else if (what === "takeEnd") {
          const end = start + bytes;
          const last = runs(bits).find(([, to]) => to === end);
          expect(ranges.startBefore(end)).toBe(last?.[0] ?? end);
          const from = Math.max(start, ranges.startBefore(end));
          ranges.takeEnd(from, end);
          bits.fill(false, from, end);
        }
        expect([...ranges.entries()].sort(([a], [b]) => a - b)).toEqual(runs(bits));
      }
    }),
    { numRuns: 300 },
  );
});

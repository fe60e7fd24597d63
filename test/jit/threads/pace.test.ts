import { afterEach, expect, test, vi } from "vitest";
import { Pace } from "../../../src/jit/threads/pace.ts";

/** What a pace says of blocks that take so many milliseconds one after the other. */
function paceOf(...taken: number[]): (number | null)[] {
  let now = 100;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const pace = new Pace();
  return taken.map((ms, i) => {
    now += ms;
    return pace.blockMs(i + 1);
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

test("short blocks say nothing", () => {
  expect(paceOf(0.1, 0.1, 0.1)).toEqual([null, null, null]);
});

test("the first block may have been compiled", () => {
  expect(paceOf(8, 1, 1)).toEqual([0, 1, 1]);
});

test("what takes longer than that has run", () => {
  expect(paceOf(1020, 1000)).toEqual([1000, 1000]);
});

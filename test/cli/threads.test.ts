import { expect, test } from "vitest";
import { describeThreads } from "../../src/cli/terminal/threads.ts";
import type { Dim3 } from "../../src/machine/reports/report.ts";

const ids = (block: Dim3, ...threads: Dim3[]) => threads.map((thread) => ({ block, thread }));
const row = (from: number, to: number): Dim3[] => Array.from({ length: to - from + 1 }, (_, i) => [from + i, 0, 0]);

test.each([
  [ids([0, 0, 0], [31, 0, 0]), 1, "thread 31 of block (0,0,0)"],
  [ids([0, 0, 0], ...row(0, 3), [7, 0, 0]), 5, "threads 0-3, 7 of block (0,0,0)"],
  [
    [...ids([0, 0, 0], ...row(0, 1)), ...ids([1, 0, 0], [5, 0, 0])],
    3,
    "threads 0-1 of block (0,0,0); thread 5 of block (1,0,0)",
  ],
  [ids([0, 0, 2], [0, 1, 0], [1, 1, 0], [0, 2, 0]), 3, "threads (0-1,1,0) (0,2,0) of block (0,0,2)"],
  [ids([0, 0, 0], ...row(0, 31)), 100, "threads 0-31 of block (0,0,0) and 68 more"],
])("%j", (threads, count, text) => expect(describeThreads(threads, count)).toBe(text));

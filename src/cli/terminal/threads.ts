import type { Dim3, ThreadId } from "../../machine/reports/report.ts";
import { groupBy } from "./group-by.ts";

const triple = (d: Dim3): string => `(${d.join(",")})`;

/** Abbreviates sorted numbers: "0-3, 7". */
function ranges(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < numbers.length; ) {
    let j = i;
    while (numbers[j + 1] === numbers[j]! + 1) j++;
    parts.push(j === i ? `${numbers[i]}` : `${numbers[i]}-${numbers[j]}`);
    i = j + 1;
  }
  return parts.join(", ");
}

/**
 * Describes the threads of a report briefly: "threads 0-30 of block (0,0,0)", "threads (0-15,2,0) of block (1,0,0)",
 * with semicolons between blocks. `count` is the number of all threads, of which only some may be listed.
 */
export function describeThreads(threads: readonly ThreadId[], count: number): string {
  const flat = threads.every(({ thread: [, y, z] }) => y === 0 && z === 0);
  const blocks = [...groupBy(threads, ({ block }) => triple(block)).values()].map((inBlock) => {
    const rows = [...groupBy(inBlock, ({ thread: [, y, z] }) => `${y},${z}`).values()].map((row) => {
      const [, y, z] = row[0]!.thread;
      const xs = ranges([...new Set(row.map((t) => t.thread[0]))].sort((a, b) => a - b));
      return flat ? xs : `(${xs},${y},${z})`;
    });
    return `thread${inBlock.length === 1 ? "" : "s"} ${rows.join(" ")} of block ${triple(inBlock[0]!.block)}`;
  });
  const more = count > threads.length ? ` and ${count - threads.length} more` : "";
  return blocks.join("; ") + more;
}

import { describe, expect, test } from "vitest";
import { faults as families } from "./faults.ts";
import { ranges, runFault } from "./faults/fault.ts";

/** One report per program: its code and position, the work items that it names, its call stack, and its message. */
describe.each(Object.entries(families))("%s", (_, faults) => {
  test.each(faults)("$title", (fault) => {
    const { result, place } = runFault(fault);
    expect(result).toMatchObject({ problem: null, defect: null, skipped: null });
    const { items = fault.width ?? 16, group = items, stack = ["k"] } = fault;
    const found = result.reports.map((report) => ({
      report: report.code,
      path: report.source.path,
      line: report.source.position(report.span.start).line,
      threads: ranges(report.threads.map(({ block, thread }) => block[0] * group + thread[0])),
      stack: report.stack.slice(0, stack.length).map((entry) => entry.function),
    }));
    expect(found).toEqual([{ report: fault.report, ...place, threads: fault.threads, stack }]);
    const { message, notes } = result.reports[0]!;
    for (const part of fault.says) expect([message, ...notes].join("\n")).toContain(part);
  });
});

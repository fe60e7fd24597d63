import { displayName, readable } from "../../names/index.ts";
import type { Report } from "../../machine/reports/report.ts";
import { renderCall, renderOriginatedHeading, type RenderOptions, renderRemark } from "../../source/index.ts";
import { describeThreads } from "./threads.ts";

/** The most callers shown: those further up in a deep recursion add nothing. */
const maxCallers = 10;

/**
 * Renders a report as text: the line that the instruction was compiled from, if the module says so, the instruction,
 * the threads it happened to, and their call stack.
 */
export function renderReport(report: Report, options: RenderOptions = {}): string {
  const note = (text: string): string => renderRemark("note", readable(text), options.style);
  const { stack, kernel, location } = report;
  const callers = stack
    .slice(1)
    .flatMap((entry) => renderCall(entry.function, entry, options).map((line) => `  ${line}`));
  // A report lists only the innermost calls, so the number of those omitted is unknown.
  if (callers.length > maxCallers) callers.splice(maxCallers, callers.length, "  and so on");
  const related = (report.related ?? []).flatMap((at) =>
    renderOriginatedHeading("note", readable(at.message), null, at, options),
  );
  return [
    ...renderOriginatedHeading(report.severity, readable(report.message), report.code, report, options),
    note(`kernel \`${displayName(kernel)}\`, ${describeThreads(report.threads, report.count)}`),
    ...(location && !report.origin ? [note(`from ${location.path}:${location.line}:${location.column}`)] : []),
    ...(callers.length > 0 ? [note(["called by", ...callers].join("\n"))] : []),
    ...report.notes.map(note),
    ...related,
    ...(report.help === undefined ? [] : [renderRemark("help", readable(report.help), options.style)]),
  ].join("\n");
}

import type { Report } from "../../machine/reports/report.ts";
import { renderHeading, type RenderOptions, renderPlace, renderRemark } from "../../source/index.ts";
import { describeThreads } from "./threads.ts";

/** The most callers shown: those further up in a deep recursion add nothing. */
const maxCallers = 10;

/**
 * Renders a report as text: the instruction in its source, the threads it happened to, their call stack, and the
 * position in the higher-level source if the module has one.
 */
export function renderReport(report: Report, options: RenderOptions = {}): string {
  const note = (text: string): string => renderRemark("note", text, options.style);
  const { location, stack, kernel } = report;
  const callers = stack.slice(1).map(({ function: name, source, span }) => `  ${name} (${renderPlace(source, span)})`);
  // A report lists only the innermost calls, so the number of those omitted is unknown.
  if (callers.length > maxCallers) callers.splice(maxCallers, callers.length, "  and so on");
  return [
    ...renderHeading(report.severity, report.message, report.code, report, options),
    note(`kernel \`${kernel}\`, ${describeThreads(report.threads, report.count)}`),
    ...(location ? [note(`from ${location.path}:${location.line}:${location.column}`)] : []),
    ...(callers.length > 0 ? [note(["called by", ...callers].join("\n"))] : []),
    ...report.notes.map(note),
    ...(report.related ?? []).flatMap((at) => renderHeading("note", at.message, null, at, options)),
    ...(report.help === undefined ? [] : [renderRemark("help", report.help, options.style)]),
  ].join("\n");
}

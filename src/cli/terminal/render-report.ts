import type { Report } from "../../machine/reports/report.ts";
import { renderHeading, type RenderOptions, renderPlace, renderRemark } from "../../source/index.ts";
import { describeThreads } from "./threads.ts";

/** The rest of a deep recursion says nothing new. */
const maxCallers = 10;

/**
 * A report for people: the instruction in its source, which threads it happened to, how they came there, and the
 * position in the higher-level source where the module has one.
 */
export function renderReport(report: Report, options: RenderOptions = {}): string {
  const note = (text: string): string => renderRemark("note", text, options.style);
  const { location, stack, kernel } = report;
  const callers = stack.slice(1).map(({ function: name, source, span }) => `  ${name} (${renderPlace(source, span)})`);
  // A report has the innermost calls only: how many more there are is not known.
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

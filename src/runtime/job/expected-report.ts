import type { SanitizerName } from "../../machine/launch.ts";
import type { Report } from "../../machine/reports/report.ts";
import { sanitizerNames } from "../launch/launch-options.ts";
import type { ExpectedReport } from "./job.ts";

/** For each report that no run makes by itself, the sanitizer that finds it. */
const finders: Readonly<Record<string, SanitizerName>> = {
  "uninitialized-read": "init",
  "division-by-zero": "init",
  "data-race": "race",
};

/** The line of a report in the program. */
export const lineOf = ({ source, span }: Report): number => source.position(span.start).line;

/**
 * Says how the reports of a run differ from what a job expects, or returns null. A run that ends with the expected
 * report may have made others before. `path`: the file of the expected report; null: any.
 */
export function unexpectedReports(
  { report, line, also }: ExpectedReport,
  path: string | null,
  reports: readonly Report[],
): string | null {
  const place = (code: string, at: string | null, where: number): string =>
    `${code} at ${at === null ? "" : `${at}, `}line ${where}`;
  const wanted = place(report, path, line);
  const found = reports.map((r) => place(r.code, path === null ? null : r.source.path, lineOf(r)));
  if (found.length > 0) {
    const areRight = reports.every(({ code }, i) => found[i] === wanted || also.includes(code));
    return areRight || found.at(-1) === wanted ? null : `expected ${wanted}, but it reported ${found.join(", ")}`;
  }
  const finder = finders[report];
  const blind = finder && !sanitizerNames.includes(finder) ? `: the ${finder} sanitizer is not there yet` : "";
  return `expected ${wanted}, but nothing was reported${blind}`;
}

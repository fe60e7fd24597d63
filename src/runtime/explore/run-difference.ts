import type { Report } from "../../machine/reports/report.ts";
import { compareElements } from "../job/compare.ts";
import type { Check } from "../job/job-check.ts";
import type { JobResult } from "../job/job-result.ts";
import type { Job } from "../job/job.ts";

const place = ({ code, source, span }: Report): string =>
  `${code} at ${source.path}:${source.position(span.start).line}`;

/** The codes and places of a run's reports, regardless of which threads they happened to first. */
const reportsOf = ({ reports }: JobResult): string => [...new Set(reports.map(place))].sort().join(", ");

/**
 * Says in one sentence how two runs of a job differ in what they report, print, or leave in a buffer; null if they do
 * not. A buffer that the job checks is compared as its check says, the others bit by bit.
 */
export function differenceOf(job: Job, one: JobResult, other: JobResult): string | null {
  const reports = [reportsOf(one), reportsOf(other)];
  if (reports[0] !== reports[1]) return `it reports ${reports[1] || "nothing"}, not ${reports[0] || "nothing"}`;
  if (one.stdout !== other.stdout)
    return `it prints ${JSON.stringify(other.stdout)}, not ${JSON.stringify(one.stdout)}`;
  if (one.failure === null && other.failure !== null) return other.failure;
  return (
    contentsDiffer(job, "buffer", one.buffers, other.buffers) ??
    contentsDiffer(job, "symbol", one.symbols, other.symbols)
  );
}

function contentsDiffer(
  job: Job,
  of: Check["of"],
  one: JobResult["buffers"],
  other: JobResult["buffers"],
): string | null {
  for (const [name, { after: got }] of other) {
    const want = one.get(name)?.after;
    if (want === undefined) continue;
    const check = job.checks.find(
      (c) => c.of === of && c.buffer === name && c.n === want.length && c.type === want.type,
    );
    const { mismatches, first } = compareElements(got, want, check?.compare ?? "bits");
    if (first !== null) {
      return `${mismatches} of ${got.length} elements of "${name}" differ, first at ${first.index}: ${first.got}, not ${first.want}`;
    }
  }
  return null;
}

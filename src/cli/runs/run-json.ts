import { signatureOf } from "../../names/index.ts";
import type { Report } from "../../machine/reports/report.ts";
import type { CheckResult, JobResult } from "../../runtime/job/job-result.ts";
import { type Origin, originToJson, placedDiagnosticToJson, rangeToJson } from "../../source/index.ts";

/** Converts NaN, infinities and integers beyond 2^53, which JSON cannot represent, to strings. */
const jsonNumber = (value: number | bigint): number | string =>
  typeof value === "number" && Number.isFinite(value)
    ? value
    : Number.isSafeInteger(Number(value))
      ? Number(value)
      : String(value);

const checkToJson = ({ of, buf, ok, mismatches, first }: CheckResult) => ({
  ...(of === "buffer" ? { buf } : { symbol: buf }),
  ok,
  mismatches,
  ...(first ? { first: { index: first.index, got: jsonNumber(first.got), want: jsonNumber(first.want) } } : {}),
});

const sourceOf = ({ origin = null }: { readonly origin?: Origin | null }) => {
  const source = originToJson(origin);
  return source === null ? {} : { source };
};

/** A report as documents have it. */
export const reportToJson = (report: Report) => ({
  code: report.code,
  severity: report.severity,
  message: report.message,
  ...(report.help === undefined ? {} : { help: report.help }),
  kernel: report.kernel,
  kernelName: signatureOf(report.kernel),
  path: report.source.path,
  range: rangeToJson(report.source, report.span),
  ...(report.location ? { location: report.location } : {}),
  ...sourceOf(report),
  threads: report.threads,
  count: report.count,
  stack: report.stack.map(({ function: name, source, span, origin = null }) => ({
    function: name,
    functionName: signatureOf(name),
    path: source.path,
    range: rangeToJson(source, span),
    ...sourceOf({ origin }),
  })),
  notes: report.notes,
  ...(report.related === undefined
    ? {}
    : {
        related: report.related.map(({ message, source, span, thread, origin = null }) => ({
          message,
          path: source.path,
          range: rangeToJson(source, span),
          ...sourceOf({ origin }),
          thread,
        })),
      }),
});

export const jobToJson = (result: JobResult) => ({
  id: result.id,
  variant: result.variant,
  engine: result.engine,
  ok: result.ok,
  launches: result.launches.map(({ kernel, ...launch }) => ({ kernel, kernelName: signatureOf(kernel), ...launch })),
  checks: result.checks.map(checkToJson),
  stdout: result.stdout,
  reports: result.reports.map(reportToJson),
  ...(result.skipped === null ? {} : { skipped: result.skipped }),
  ...(result.failure === null || result.skipped !== null ? {} : { failure: result.failure }),
  ...(result.diagnostics.length === 0 ? {} : { diagnostics: result.diagnostics.map(placedDiagnosticToJson) }),
});

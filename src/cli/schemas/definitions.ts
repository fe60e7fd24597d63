import { countNames } from "../../profiler/index.ts";
import { engineNames } from "../../runtime/launch/launch-options.ts";
import { count, dim3, flag, list, object, oneOf, orNull, reference, said, type Schema, text, time } from "./parts.ts";

const severity = oneOf(["error", "warning"]);
const path = said(text, "The file, as it was given.");
const kernelNames = {
  kernel: said(text, "The name as the linker has it."),
  kernelName: said(text, "The name as it was in the source, with the types of the parameters."),
};
const functionNames = { function: text, functionName: said(text, "The name as it was in the source.") };
const inSource = { source: reference("source") };

const diagnostic = {
  code: said(text, "`lanewise explain CODE` says more."),
  severity,
  message: text,
  range: reference("range"),
  notes: list(object({ message: text }, { range: reference("range"), path })),
};
const help = { help: said(text, "What would be right.") };

const originPlace = {
  path: said(text, "The file, as the program names it."),
  line: said(count, "From 1; 0: the compiler gives none."),
  column: count,
  function: orNull(text),
};

const jobFields = {
  id: text,
  variant: text,
  engine: said(oneOf(engineNames), '"jit" or "native" if compiled code ran all launches.'),
  ok: flag,
  launches: list(reference("launch")),
  checks: list(reference("check")),
  stdout: said(text, "What the kernels printed."),
  reports: list(reference("report")),
};
const jobRest = {
  skipped: said(text, "What it needs and is missing."),
  failure: said(text, "Why it is not ok."),
  diagnostics: list(reference("placed-diagnostic")),
};

const stretch = object({
  from: count,
  to: count,
  mask: said({ type: "integer" }, "The lanes, as a signed number of 32 bits."),
  function: text,
  depth: count,
  firstLine: count,
  lastLine: count,
});

const instructionCounts = { warpInstructions: count, threadInstructions: count };

/** The parts that documents share, by the names by which they refer to them. */
export const definitions: Readonly<Record<string, Schema>> = {
  failure: said(
    object({ ok: { const: false }, error: text }, { diagnostics: list(reference("placed-diagnostic")) }),
    "The command could not do anything.",
  ),
  position: object({ line: { type: "integer", minimum: 1 }, column: { type: "integer", minimum: 1 } }),
  range: said(
    object({ start: reference("position"), end: reference("position") }),
    "Lines and columns from 1; the end is exclusive.",
  ),
  diagnostic: object(diagnostic, help),
  "placed-diagnostic": object({ path, ...diagnostic }, help),
  "checked-file": object({ path, ok: flag, diagnostics: list(reference("diagnostic")) }),
  "origin-place": object(originPlace),
  source: said(
    object({ ...originPlace, inlinedAt: list(reference("origin-place")) }, { inner: list(reference("origin-place")) }),
    "The line of the source from which the instruction was compiled.",
  ),
  thread: object({ block: dim3, thread: dim3 }),
  report: object(
    {
      code: said(text, "`lanewise explain CODE` says more."),
      severity,
      message: text,
      ...kernelNames,
      path,
      range: reference("range"),
      threads: said(list(reference("thread")), "At most 32 of them."),
      count: said(count, "The number of threads."),
      stack: list(object({ ...functionNames, path, range: reference("range") }, inSource)),
      notes: list(text),
    },
    {
      ...help,
      location: object({ path: text, line: count, column: count }),
      ...inSource,
      related: list(object({ message: text, path, range: reference("range"), thread: reference("thread") }, inSource)),
    },
  ),
  launch: object(
    {
      ...kernelNames,
      threads: count,
      steps: said(orNull(count), "Thread-instructions; null from compiled code, which does not count them."),
      milliseconds: time,
      engine: oneOf(engineNames),
      hostThreads: count,
    },
    { interpreted: said(text, "Why the interpreter ran it."), notNative: said(text, "Why jit ran it, not native.") },
  ),
  check: {
    ...object(
      { ok: flag, mismatches: count },
      {
        buf: text,
        symbol: text,
        first: object({ index: count, got: { type: ["number", "string"] }, want: { type: ["number", "string"] } }),
      },
    ),
    anyOf: [{ required: ["buf"] }, { required: ["symbol"] }],
  },
  job: object(jobFields, jobRest),
  "explored-job": object(
    {
      ...jobFields,
      explored: object(
        {
          schedules: said(count, "How many were tried."),
          covered: said(orNull({ type: "integer" }), "All with at most so many interruptions; null: all schedules."),
        },
        {
          found: object({
            schedule: orNull(text),
            seed: orNull({ type: "integer" }),
            difference: text,
            interruptions: list({ type: "object" }),
            result: reference("job"),
          }),
        },
      ),
    },
    jobRest,
  ),
  counts: object(Object.fromEntries(countNames.map((name) => [name, count]))),
  "counted-line": object({ path: text, line: count, counts: reference("counts") }),
  profile: object({
    launches: list(object({ ...kernelNames, grid: dim3, block: dim3, warps: count, ...instructionCounts })),
    totals: reference("counts"),
    functions: list(
      object({
        name: text,
        functionName: text,
        kind: oneOf(["kernel", "function"]),
        path,
        line: count,
        calls: count,
        deepest: count,
        counts: reference("counts"),
        ...instructionCounts,
      }),
    ),
    lines: list(
      object(
        { path, line: count, text, ...functionNames, counts: reference("counts") },
        {
          origin: object({ path: text, line: count }),
          ...inSource,
          targets: list(object({ function: text, lanes: count })),
        },
      ),
    ),
    origins: list(reference("counted-line")),
    sources: list(reference("counted-line")),
    calls: list(
      object({
        ...functionNames,
        parent: said(orNull(count), "The index of the caller in this list."),
        calls: count,
        ownInstructions: count,
        ...instructionCounts,
      }),
    ),
    callsCut: flag,
    timelines: list(
      object({
        ...kernelNames,
        block: dim3,
        warp: count,
        lanes: { type: "integer" },
        width: count,
        instructions: count,
        stretches: list(stretch),
      }),
    ),
  }),
  "profiled-job": object({ ...jobFields, profile: reference("profile") }, jobRest),
};

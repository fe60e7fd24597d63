import { type EngineName, type JobResult, sanitizerNames } from "lanewise";
import { findingOf, findingOfReport } from "./findings.ts";
import { findingsOfError, openRun } from "./program.ts";
import type { BufferValues, Program, RunOutcome } from "./protocol.ts";

/** Elements of a buffer that the page gets. */
const maxShown = 1 << 20;

/** Runs a program in one of the engines. What is wrong with it is in the outcome. */
export async function runProgram({
  program,
  engine,
  sanitize,
}: {
  program: Program;
  engine: EngineName;
  sanitize: boolean;
}): Promise<RunOutcome> {
  const started = performance.now();
  try {
    const hostThreads = globalThis.crossOriginIsolated ? navigator.hardwareConcurrency : 1;
    const run = await openRun(program, {
      engine,
      hostThreads,
      sanitize: new Set(sanitize ? sanitizerNames : []),
      // Without a limit a kernel that expects a report and never ends would keep the worker until the user stops it.
      maxSteps: null,
    });
    return outcomeOf(run.run(), performance.now() - started);
  } catch (error) {
    const { failure, findings } = findingsOfError(error);
    return {
      ...{ engine, ok: false, failure, launches: [], checks: [], stdout: "", findings, buffers: [] },
      milliseconds: performance.now() - started,
    };
  }
}

export function outcomeOf(result: JobResult, milliseconds: number): RunOutcome {
  const { engine, ok, launches, checks, stdout, reports, diagnostics, skipped, problem, defect } = result;
  return {
    engine,
    ok,
    failure: skipped ?? problem?.message ?? defect?.message ?? result.failure,
    launches,
    checks,
    stdout,
    findings: [...diagnostics.map(findingOf), ...reports.map(findingOfReport)],
    buffers: [...result.buffers].map(([name, { before, after }]) => ({
      name,
      type: after.type,
      length: after.length,
      before: valuesOf(before),
      after: valuesOf(after),
    })),
    milliseconds,
  };
}

/** Numbers for the page: those of 64 bits as bigints, all others in an array of doubles. */
function valuesOf(elements: {
  readonly length: number;
  readonly type: BufferValues["type"];
  get(i: number): number | bigint;
}): BufferValues["after"] {
  const n = Math.min(maxShown, elements.length);
  if (elements.type === "u64" || elements.type === "s64") return Array.from({ length: n }, (_, i) => elements.get(i));
  return Float64Array.from({ length: n }, (_, i) => Number(elements.get(i)));
}

import type { JobResult } from "../../../../src/runtime/job/job-result.ts";
import { parseJob } from "../../../../src/runtime/job/job.ts";
import { runJob } from "../../../../src/runtime/job/run-job.ts";
import { type EngineName, sanitizerNames } from "../../../../src/runtime/launch/launch-options.ts";
import { SourceText } from "../../../../src/source/index.ts";
import { type FunctionText, type Program, routineTexts } from "../program.ts";
import { routineJob } from "../routine-job.ts";

/**
 * A program that fails at run time, and the expected report. A `<--` ends the line that is reported; the words of
 * `program.ts` are replaced.
 */
export interface Fault {
  readonly title: string;
  /** The code of the report. */
  readonly report: string;
  readonly kernel: string;
  readonly functions?: readonly FunctionText[];
  readonly subroutines?: string;
  readonly declarations?: string;
  /** 16 by default. */
  readonly width?: 8 | 16 | 32;
  /** Work items of the launch and of a group; by default as many as lanes. */
  readonly items?: number;
  readonly group?: number;
  /** The work items that the report names, as ranges: "0-4, 9". */
  readonly threads: string;
  /** The functions of its call stack, innermost first; by default only `k`. */
  readonly stack?: readonly string[];
  /** Parts of the message and its notes. */
  readonly says: readonly string[];
  readonly maxSteps?: number;
  /** SKL by default. */
  readonly platform?: string;
}

export interface Place {
  readonly path: string;
  readonly line: number;
}

const marker = /\s*<--\s*$/gm;

/** The texts of a program without the marker, and the marker's position. */
function unmarked(program: Program, width: number): { files: Map<string, string>; place: Place | null } {
  const files = new Map<string, string>();
  let place: Place | null = null;
  for (const { name, text } of routineTexts(program, width)) {
    const path = `${name}.visaasm`;
    const line = text.split("\n").findIndex((row) => row.includes("<--")) + 1;
    if (line > 0) place = { path, line };
    files.set(path, text.replace(marker, ""));
  }
  return { files, place };
}

const encoder = new TextEncoder();

/** Runs a program as a job: with all sanitizers, or on one engine without them. */
export function runFault(fault: Fault, engine?: EngineName): { result: JobResult; place: Place | null } {
  const { width = 16, items = width, group = items, maxSteps = 200_000, platform = "SKL" } = fault;
  const watched = { maxSteps, sanitize: new Set(sanitizerNames) };
  const { files, place } = unmarked({ ...fault, widths: [width], expected: () => 0 }, width);
  const job = routineJob({ id: fault.title, platform, width, modules: [...files.keys()], items, group });
  const parsed = parseJob(new SourceText("job.json", job));
  if (parsed.job === null) throw new Error(parsed.diagnostics.map(({ message }) => message).join("\n"));
  const read = (path: string): Uint8Array => encoder.encode(files.get(path)!);
  return {
    result: runJob(
      parsed.job,
      [...parsed.job.variants.keys()][0]!,
      { read },
      engine === undefined ? watched : { engine, maxSteps: null, sanitize: new Set() },
    ),
    place,
  };
}

/** Numbers of work items as ranges. */
export function ranges(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const n of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && n === last[1] + 1) last[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

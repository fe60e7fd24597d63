import { dirname, join } from "node:path";
import { UsageError } from "../../runtime/data/errors.ts";
import type { Isa } from "../../runtime/data/isa.ts";
import type { ArgumentSpec } from "../../runtime/job/job-argument.ts";
import type { JobFiles } from "../../runtime/job/job-files.ts";
import type { VisaJob } from "../../runtime/job/job-visa.ts";
import { type BufferSpec, type Job, parseJob } from "../../runtime/job/job.ts";
import type { Diagnostic } from "../../source/index.ts";
import { parseArgument, parseDim } from "../options/argument-syntax.ts";
import { isaOfProgram } from "../options/isa-of-file.ts";
import type { Options } from "../options/options.ts";
import { parseInput, parseRelocation, parseSection, parseSymbol } from "../options/visa-syntax.ts";
import { FileError, readBytes, readText, shownPath } from "../terminal/files.ts";

/** One variant of one job, ready to run. */
export interface PlannedRun {
  readonly job: Job;
  readonly variant: string;
  readonly files: JobFiles;
}

export interface PlannedJob {
  readonly runs: readonly PlannedRun[];
  /** The errors in the job's text. */
  readonly diagnostics: readonly Diagnostic[];
  /** Another reason why the job has no runs, or null. */
  readonly problem: string | null;
}

/** Plans the runs of job files, reading one file at a time. Paths in a job are relative to its file. */
export function* jobRuns(paths: readonly string[], variant: string | null): Generator<PlannedJob> {
  for (const path of paths) yield planJob(path, variant);
}

function planJob(path: string, variant: string | null): PlannedJob {
  const nothing = { runs: [], diagnostics: [], problem: null };
  try {
    const { job, diagnostics } = parseJob(readText(path));
    if (!job) return { ...nothing, diagnostics };
    const names = [...job.variants.keys()];
    if (names.length === 0) return { ...nothing, problem: `${shownPath(path)} has no variants` };
    if (variant !== null && !names.includes(variant)) {
      return { ...nothing, problem: `${shownPath(path)} has no variant "${variant}"; it has ${names.join(", ")}` };
    }
    const shown = (file: string): string => join(dirname(path), file);
    const files: JobFiles = { shown, read: (file) => readBytes(shown(file)) };
    return { ...nothing, runs: names.filter((n) => n === (variant ?? n)).map((n) => ({ job, variant: n, files })) };
  } catch (error) {
    if (error instanceof FileError) return { ...nothing, problem: error.message };
    throw error;
  }
}

/**
 * Turns a command line into a job: the files are its only variant, with one launch and a buffer for each buffer
 * argument.
 */
export function commandJob(options: Options, command: string): PlannedRun {
  const buffers = new Map<string, BufferSpec>();
  const args = options.all("arg").map((text, index): ArgumentSpec => {
    const argument = parseArgument(text, readBytes);
    if (argument.kind !== "buffer") return argument.spec;
    const buffer = `argument ${index}`;
    buffers.set(buffer, argument.spec);
    return { kind: "buffer", buffer, offset: 0 };
  });
  const kernel = options.value("kernel");
  const isa = isaOfProgram(options, options.positionals);
  refuseOthers(options, isa, command);
  const dim = (name: string): [number, number, number] => parseDim(name, options.value(name) ?? "1");
  const size =
    isa === "visa"
      ? { global: dim("global"), local: dim("local") }
      : { grid: dim("grid"), block: dim("block"), shared: options.integer("shared") ?? 0 };
  const job: Job = {
    id: options.positionals.map(shownPath).join(" "),
    isa,
    variants: new Map([["", options.positionals]]),
    visa: isa === "visa" ? visaJob(options) : null,
    buffers,
    launches: [{ ...(kernel === null ? {} : { kernel }), size, args }],
    checks: [],
    stdout: null,
    expect: null,
  };
  return { job, variant: "", files: { read: readBytes, shown: shownPath } };
}

/** The options that apply to one instruction set only. */
const ownOptions: Readonly<Record<Isa, readonly string[]>> = {
  ptx: ["grid", "block", "shared"],
  visa: ["global", "local", "zeinfo", "section", "symbol", "relocation", "input"],
};

function refuseOthers(options: Options, isa: Isa, command: string): void {
  const other = isa === "ptx" ? "visa" : "ptx";
  const found = ownOptions[other].find((name) => options.has(name));
  if (found === undefined) return;
  const sizes = isa === "ptx" ? "--grid and --block" : "--global and --local";
  throw new UsageError(`${command}: --${found} is for ${titles[other]}; a launch of ${titles[isa]} has ${sizes}`);
}

const titles: Readonly<Record<Isa, string>> = { ptx: "PTX", visa: "vISA" };

function visaJob(options: Options): VisaJob {
  if (options.has("input") && options.has("zeinfo")) {
    throw new UsageError("--input is for kernels without .ze_info, which says the same");
  }
  const variant = {
    simd: null,
    platform: null,
    zeinfo: options.value("zeinfo"),
    data: new Map(options.all("section").map(parseSection)),
    symbols: new Map(options.all("symbol").map(parseSymbol)),
    relocations: options.all("relocation").map(parseRelocation),
  };
  for (const [name, { section }] of variant.symbols) {
    if (!variant.data.has(section)) throw new UsageError(`--symbol ${name}: no --section gives ${section}`);
  }
  return { variants: new Map([["", variant]]), inputs: options.all("input").map(parseInput) };
}

import { dirname, join } from "node:path";
import { UsageError } from "../../runtime/data/errors.ts";
import type { Isa } from "../../runtime/data/isa.ts";
import type { JobFiles } from "../../runtime/job/job-files.ts";
import { filesWithin, placed, withProgram } from "../../runtime/job/job-opencl.ts";
import type { SymbolSpec } from "../../runtime/job/job-symbol.ts";
import type { VisaJob } from "../../runtime/job/job-visa.ts";
import { type Job, parseJob } from "../../runtime/job/job.ts";
import type { OpenClProgram } from "../../runtime/visa/opencl-program.ts";
import type { Diagnostic } from "../../source/index.ts";
import { parseArgument, parseBlocks, parseDim, parseOutput } from "../options/argument-syntax.ts";
import { compiledPath, isCudaSource } from "../options/cuda-source.ts";
import { isOpenCl } from "../options/is-opencl.ts";
import { isaOfProgram } from "../options/isa-of-file.ts";
import { openOpenCl } from "../options/opencl-files.ts";
import type { Options } from "../options/options.ts";
import { requirePrograms } from "../options/other-files.ts";
import { parseSymbolValue } from "../options/symbol-syntax.ts";
import { parseInput, parseRelocation, parseSection, parseSymbol } from "../options/visa-syntax.ts";
import { FileError, isFolder, readBytes, readText, shownPath } from "../terminal/files.ts";
import { boundObject, type CommandArguments, commandArguments } from "./command-arguments.ts";
import { programFile } from "./program-files.ts";

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
export function* jobRuns(paths: readonly string[], options: Options): Generator<PlannedJob> {
  for (const path of paths) yield planJob(path, options);
}

function planJob(path: string, options: Options): PlannedJob {
  const variant = options.value("variant");
  const nothing = { runs: [], diagnostics: [], problem: null };
  try {
    const { job, diagnostics } = parseJob(readText(path));
    if (!job) return { ...nothing, diagnostics };
    const names = [...job.variants.keys()];
    if (names.length === 0) return { ...nothing, problem: `${shownPath(path)} has no variants` };
    if (variant !== null && !names.includes(variant)) {
      return { ...nothing, problem: `${shownPath(path)} has no variant "${variant}"; it has ${names.join(", ")}` };
    }
    const wanted = names.filter((name) => name === (variant ?? name));
    const place = (file: string): string => join(dirname(path), file);
    return { ...nothing, runs: wanted.map((name) => planVariant(job, name, { options, place })) };
  } catch (error) {
    if (error instanceof FileError || error instanceof UsageError) return { ...nothing, problem: error.message };
    throw error;
  }
}

interface JobFolder {
  readonly options: Options;
  /** The path of a file that the job names. */
  readonly place: (file: string) => string;
}

/** Plans one variant of a job. Where its only file is a folder of an OpenCL program, what is in there is taken. */
function planVariant(job: Job, variant: string, { options, place }: JobFolder): PlannedRun {
  const plain = { job, files: programReader(options, place) };
  const paths = job.variants.get(variant)!;
  requirePrograms(paths, options);
  const [only = "", ...others] = paths;
  if (job.visa === null || others.length > 0 || !isFolder(place(only))) return { ...plain, variant };
  return { ...withProgram(plain, variant, openOpenCl(place(only), options.value("module"))), variant };
}

/** Reads what programs are made of: a source of CUDA is compiled, everything else read as it is. */
function programReader(options: Options, place: (file: string) => string): JobFiles {
  return {
    read: (file) => programFile(place(file), options).bytes!,
    shown: (file) => (isCudaSource(file) ? compiledPath(place(file)) : shownPath(place(file))),
  };
}

/**
 * The files of a command line's program. What is one argument and holds a whole program of OpenCL stands for the files
 * in it, which have names of their own.
 */
function commandFiles(options: Options, isa: Isa): { readonly files: JobFiles; readonly opened: OpenClProgram | null } {
  requirePrograms(options.positionals, options);
  const plain = programReader(options, (file) => file);
  const [only, ...others] = options.positionals;
  if (isa !== "visa" || !options.positionals.some(isOpenCl)) return { files: plain, opened: null };
  if (others.length > 0)
    throw new UsageError(`${options.positionals.find(isOpenCl)} is a whole program: give it alone`);
  const opened = openOpenCl(only!, options.value("module"));
  return { files: filesWithin(opened, plain), opened };
}

/**
 * Turns a command line into a job: the files are its only variant, with one launch and a buffer for each buffer
 * argument.
 */
export function commandJob(options: Options, command: string): PlannedRun {
  const given = commandArguments(options.all("arg"));
  const kernel = options.value("kernel");
  const blocks = options.value("blocks");
  const isa = isaOfProgram(options, options.positionals);
  refuseOthers(options, isa, command);
  const { files, opened } = commandFiles(options, isa);
  const dim = (name: string): [number, number, number] => parseDim(name, options.value(name) ?? "1");
  const size =
    isa === "visa"
      ? { global: dim("global"), local: dim("local") }
      : {
          grid: dim("grid"),
          block: dim("block"),
          shared: options.integer("shared") ?? 0,
          ...(options.has("cluster") ? { cluster: dim("cluster") } : {}),
        };
  const job: Job = {
    id: options.positionals.map(shownPath).join(" "),
    isa,
    variants: new Map([["", opened?.texts.map(({ path }) => path) ?? options.positionals]]),
    visa: isa === "visa" ? visaJob(options, opened) : null,
    buffers: given.buffers,
    symbols: isa === "ptx" ? symbolsOf(options, given) : new Map(),
    launches: [
      {
        ...(kernel === null ? {} : { kernel }),
        size,
        args: given.args,
        blocks: blocks === null ? null : parseBlocks(blocks),
        copies: [],
      },
    ],
    checks: [],
    stdout: null,
    expect: null,
    typed: true,
  };
  return { job, variant: "", files };
}

/** The options that apply to one instruction set only. */
const ownOptions: Readonly<Record<Isa, readonly string[]>> = {
  ptx: ["grid", "block", "cluster", "shared"],
  visa: ["global", "local", "zeinfo", "section", "relocation", "input"],
};

/** What `--symbol NAME=VALUE` says: values, or a texture, surface or sampler to which the variable is bound. */
function symbolOf(text: string, given: CommandArguments): [name: string, spec: SymbolSpec] {
  const [, name, object] = /^([^=]+)=((?:texture|surface|sampler):.*)$/s.exec(text) ?? [];
  if (name === undefined || object === undefined) return parseSymbolValue(text, readBytes);
  const bound = boundObject(name, parseArgument(object, readBytes, `--symbol ${text}`), given);
  return [name, { type: null, n: null, init: null, sha256: null, object: bound }];
}

/** The variables that a command line sets, and those that it only saves. */
function symbolsOf(options: Options, given: CommandArguments): Map<string, SymbolSpec> {
  const symbols = new Map<string, SymbolSpec>();
  for (const [name, spec] of options.all("symbol").map((text) => symbolOf(text, given))) {
    if (symbols.has(name)) throw new UsageError(`--symbol ${name} is given twice`);
    symbols.set(name, { ...spec });
  }
  for (const { of } of options.all("out").map(parseOutput)) {
    if (typeof of === "string" && !symbols.has(of)) symbols.set(of, { type: null, n: null, init: null, sha256: null });
  }
  return symbols;
}

function refuseOthers(options: Options, isa: Isa, command: string): void {
  const other = isa === "ptx" ? "visa" : "ptx";
  const found = ownOptions[other].find((name) => options.has(name));
  if (found === undefined) return;
  const sizes = isa === "ptx" ? "--grid and --block" : "--global and --local";
  throw new UsageError(`${command}: --${found} is for ${titles[other]}; a launch of ${titles[isa]} has ${sizes}`);
}

const titles: Readonly<Record<Isa, string>> = { ptx: "PTX", visa: "vISA" };

function visaJob(options: Options, opened: OpenClProgram | null): VisaJob {
  if (options.has("input") && options.has("zeinfo")) {
    throw new UsageError("--input is for kernels without .ze_info, which says the same");
  }
  const given = options.all("section").map(parseSection);
  const variant = {
    simd: null,
    platform: null,
    zeinfo: options.value("zeinfo") ?? (options.has("input") ? null : (opened?.zeinfo?.path ?? null)),
    data: new Map([...[...(opened?.data ?? [])].map(([name, { path }]) => [name, path] as const), ...given]),
    symbols: new Map([...(opened?.symbols ?? []).map(placed), ...options.all("symbol").map(parseSymbol)]),
    relocations: [...(opened?.relocations ?? []), ...options.all("relocation").map(parseRelocation)],
  };
  for (const [name, { section }] of variant.symbols) {
    if (!variant.data.has(section)) throw new UsageError(`--symbol ${name}: no --section gives ${section}`);
  }
  return { variants: new Map([["", variant]]), inputs: options.all("input").map(parseInput) };
}

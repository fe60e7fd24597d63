import type { SanitizerName } from "../../machine/launch.ts";
import type { Report } from "../../machine/reports/report.ts";
import { decodeText, type Diagnostic } from "../../source/index.ts";
import { type KernelArgument, local, scalar, struct } from "../data/argument.ts";
import type { Buffer } from "../data/buffer.ts";
import { elementInfo, Elements } from "../data/element.ts";
import { LoadError, NotExecutableError, NumpyError, UsageError } from "../data/errors.ts";
import { asType, isNumpy, readNumpy } from "../data/npy.ts";
import { isPng, picturePixels } from "../data/picture.ts";
import { sha256 } from "../data/sha256.ts";
import type { LoadOptions } from "../device/load-options.ts";
import type { Kernel, Module } from "../device/module.ts";
import type { PtxDevice } from "../device/ptx-device.ts";
import { type EngineName, engineNames, type LaunchOptions } from "../launch/launch-options.ts";
import { checkBufferTypes } from "./buffer-types.ts";
import { compareElements } from "./compare.ts";
import { lineOf, unexpectedReports } from "./expected-report.ts";
import { generate } from "./init.ts";
import type { ArgumentSpec } from "./job-argument.ts";
import type { Check } from "./job-check.ts";
import type { JobFiles } from "./job-files.ts";
import type { CheckResult, JobResult, LaunchSummary } from "./job-result.ts";
import type { JobOptions } from "./job-options.ts";
import { JobObjects } from "./job-objects.ts";
import { type JobWithFiles, withOpenClFile } from "./job-opencl.ts";
import { JobSymbols } from "./job-symbols.ts";
import type { VisaVariant } from "./job-visa.ts";
import type { BufferSpec, Job, LaunchSpec } from "./job.ts";

/** The number of thread-instructions within which a job that expects a report must produce it. */
const stepsToReport = 20_000_000;

/** One launch of a job, ready to begin. */
export interface JobLaunch {
  readonly kernel: Kernel;
  readonly options: LaunchOptions;
  /** Makes the copies that the job wants before the launch. A launch that begins again needs them again. */
  readonly copy: () => void;
}

/** Something that a job needs is not available. */
class Missing extends Error {}

/** A run of one variant of a job on a fresh device. What goes wrong is in the result; `run` throws nothing. */
export class JobRun {
  readonly device: PtxDevice;
  readonly job: Job;
  readonly variant: string;
  readonly files: JobFiles;
  readonly options: JobOptions;
  readonly buffers = new Map<string, Buffer>();
  readonly before = new Map<string, Elements>();
  readonly launches: LaunchSummary[] = [];
  readonly checks: CheckResult[] = [];
  readonly reports: Report[] = [];
  readonly suppressed: Report[] = [];
  diagnostics: readonly Diagnostic[] = [];
  stdout = "";
  #symbols: JobSymbols | null = null;
  readonly #objects: JobObjects;
  /** The job and its files, once it is opened with those of an OpenCL program that is in one file. */
  #program: JobWithFiles;
  /** Of the launch that runs: the reports so far, and what it has printed. */
  #found: readonly Report[] = [];
  #printed = "";

  constructor(device: PtxDevice, job: Job, variant: string, files: JobFiles, options: JobOptions) {
    this.device = device;
    this.job = job;
    this.variant = variant;
    this.files = files;
    this.options = options;
    this.#objects = new JobObjects(device, this.buffers);
    this.#program = { job, files };
  }

  /** Runs all launches and checks. Never throws: what goes wrong is in the result. */
  run(): JobResult {
    try {
      const launches = this.open();
      if (launches.every((launch) => this.#launch(launch))) {
        this.checks.push(...this.check());
        if (this.#watches("memory")) this.reports.push(...this.device.leaks());
      }
      return this.#result({});
    } catch (error) {
      if (error instanceof NotExecutableError || error instanceof Missing)
        return this.#result({ skipped: error.message });
      if (error instanceof LoadError) {
        this.diagnostics = error.diagnostics;
        return this.#result({ failure: "the program has errors" });
      }
      if (error instanceof UsageError || error instanceof NumpyError) return this.#result({ problem: error });
      // A bug in Lanewise itself. Other jobs can still run.
      return this.#result({ defect: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  /** The result of a run that has been ended from outside: what was found and printed until then. */
  interrupted(): JobResult {
    this.stdout += this.#printed;
    this.#take(this.#found);
    return this.#result({ failure: "interrupted" });
  }

  /** Loads the program and fills the buffers. Throws if something is wrong with the job. */
  open(): readonly JobLaunch[] {
    const module = this.load();
    for (const [name, spec] of this.job.buffers) this.#fill(name, spec);
    const symbols = new JobSymbols(module, this.job.symbols, this.buffers, this.#objects);
    symbols.set((path, type, n) => this.#file(path, type, n));
    for (const { copies } of this.job.launches) symbols.require(copies);
    this.#symbols = symbols;
    const kernels = this.job.launches.map((spec) => module.find(spec.kernel));
    if (this.job.typed) {
      for (const [i, kernel] of kernels.entries()) checkBufferTypes(kernel, this.job.launches[i]!, this.job);
    }
    // Kernels that cannot be executed are refused before anything has been launched.
    for (const kernel of kernels) kernel.requireExecutable();
    return this.job.launches.map((spec, i) => {
      const kernel = kernels[i]!;
      const options = this.#optionsOf(spec);
      kernel.prepare(options);
      return { kernel, options, copy: () => symbols.copy(i, spec.copies) };
    });
  }

  /** Compares the contents of the buffers after the last launch with those expected. */
  check(): readonly CheckResult[] {
    return this.#checksOfVariant().map((check) => this.#check(check));
  }

  /**
   * Loads the program alone, without filling buffers.
   *
   * @throws LoadError if the program has errors
   * @throws UsageError if the job, or a file that it names, is wrong
   */
  load(): Module {
    const { target, module: name } = this.options;
    this.#program = withOpenClFile(this.#program, this.variant, name ?? null);
    const { job, files } = this.#program;
    const paths = job.variants.get(this.variant);
    if (!paths) throw new UsageError(`the job has no variant "${this.variant}"`);
    const kernels = this.job.launches.flatMap(({ kernel }) => kernel ?? []);
    const module = this.device.load(
      paths.map((path) => ({ path: this.#shown(path), bytes: files.read(path) })),
      { isa: this.job.isa, kernels, ...this.#visaOptions(), ...(target && { target }), ...(name && { module: name }) },
    );
    this.diagnostics = module.diagnostics;
    return module;
  }

  #shown(path: string): string {
    return this.#program.files.shown?.(path) ?? path;
  }

  get #visa(): VisaVariant | undefined {
    return this.#program.job.visa?.variants.get(this.variant);
  }

  /** The options that a vISA program needs besides its text. */
  #visaOptions(): LoadOptions {
    const variant = this.#visa;
    if (variant === undefined) return {};
    const { platform, zeinfo, data, symbols, relocations } = variant;
    return {
      inputs: this.job.visa!.inputs,
      sections: new Map([...data].map(([name, path]) => [name, this.#program.files.read(path)])),
      symbols,
      relocations,
      ...(platform === null ? {} : { target: platform }),
      ...(zeinfo === null ? {} : { zeinfo: this.#readYaml(zeinfo) }),
    };
  }

  #readYaml(path: string): unknown {
    const { files } = this.#program;
    if (!files.yaml) throw new Missing(`${path} is YAML, and nothing is there that reads it`);
    const source = decodeText(files.read(path));
    try {
      return files.yaml(source);
    } catch (error) {
      // Only the first line is kept, which says what is wrong and where; an excerpt of the text follows it.
      const [what = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
      throw new UsageError(`${this.#shown(path)}: ${what.replace(/:$/, "")}`);
    }
  }

  #watches(name: SanitizerName): boolean {
    return this.options.sanitize?.has(name) ?? this.job.expect !== null;
  }

  #fill(name: string, { type, n, init, sha256: hash }: BufferSpec): void {
    const elements = init.gen === "file" ? new Elements(type, this.#file(init.path, type, n)) : generate(type, n, init);
    if (hash !== null && sha256(elements.bytes) !== hash) {
      throw new UsageError(`buffer "${name}": what fills it has another SHA-256 than the job says`);
    }
    this.before.set(name, elements);
    this.buffers.set(name, this.device.buffer(type, n, `buffer "${name}"`).writeBytes(elements.bytes));
  }

  /** Reads a `.npy`, `.png` or raw file that must hold `n` elements. */
  #file(path: string, type: BufferSpec["type"], n: number): Uint8Array {
    const file = this.files.read(path);
    const bytes = isNumpy(file) ? asType(readNumpy(file), type) : isPng(file) ? this.#picture(path, type, n) : file;
    const size = n * elementInfo[type].size;
    if (bytes.length !== size) throw new UsageError(`${path} holds ${bytes.length} bytes, not ${size}`);
    return bytes;
  }

  #picture(path: string, type: BufferSpec["type"], n: number): Uint8Array {
    if (!this.files.picture) throw new Missing(`${path} is a PNG file, and nothing is there that reads it`);
    return picturePixels(this.files.picture(this.files.read(path)), type, n);
  }

  #optionsOf(spec: LaunchSpec): LaunchOptions {
    const { engine, hostThreads, seed, timeoutMs, matrix, onProgress, onReport, observers, steering } = this.options;
    const { expect } = this.job;
    const maxSteps = this.options.maxSteps ?? (expect ? stepsToReport : null);
    return {
      ...spec.size,
      ...(spec.blocks === null ? {} : { blocks: spec.blocks }),
      args: this.#arguments(spec),
      sanitize: this.options.sanitize ?? (expect ? "all" : []),
      ...(engine === undefined ? {} : { engine }),
      ...(hostThreads === undefined ? {} : { hostThreads }),
      ...(typeof seed === "number" ? { seed } : {}),
      ...(typeof maxSteps === "number" ? { maxSteps } : {}),
      ...(typeof timeoutMs === "number" ? { timeoutMs } : {}),
      ...(matrix ? { matrix } : {}),
      ...(onProgress ? { onProgress } : {}),
      onOutput: (text) => {
        this.#printed += text;
      },
      onReport: (report, all) => {
        this.#found = all;
        if (onReport && !this.#isSuppressed(report)) onReport(report);
      },
      ...(observers ? { observers } : {}),
      ...(steering ? { steering } : {}),
    };
  }

  /** Runs a launch. Returns whether it ended without an error. */
  #launch({ kernel, options, copy }: JobLaunch): boolean {
    copy();
    const result = kernel.launch(options);
    const { threads, steps, milliseconds, engine, interpreted, notNative, hostThreads } = result;
    const why = { ...(interpreted !== null && { interpreted }), ...(notNative !== undefined && { notNative }) };
    this.launches.push({ kernel: kernel.name, threads, steps, milliseconds, engine, ...why, hostThreads });
    this.stdout += result.stdout;
    [this.#found, this.#printed] = [[], ""];
    const heard = this.#take(result.reports);
    if (heard.length === result.reports.length) return result.ok;
    return !heard.some((report) => report.severity === "error");
  }

  #isSuppressed(report: Report): boolean {
    return this.options.suppress?.(report) === true;
  }

  /** Adds the reports of a launch. Returns those that are not suppressed. */
  #take(reports: readonly Report[]): readonly Report[] {
    const heard = reports.filter((report) => !this.#isSuppressed(report));
    this.reports.push(...heard);
    this.suppressed.push(...reports.filter((report) => !heard.includes(report)));
    return heard;
  }

  #arguments({ args }: LaunchSpec): KernelArgument[] {
    const at = (name: string, offset: number) => this.buffers.get(name)!.at(offset);
    return args.map((arg: ArgumentSpec) => {
      if (arg.kind === "buffer") return at(arg.buffer, arg.offset);
      if (arg.kind === "scalar") return arg.type === null ? arg.value : scalar(arg.type, arg.value);
      if (arg.kind === "local") return local(arg.bytes);
      if (arg.kind === "object") return this.#objects.object(arg);
      return struct(
        arg.bytes,
        arg.pointers.map((p) => ({ at: p.at, to: at(p.buffer, p.offset) })),
      );
    });
  }

  #checksOfVariant(): readonly Check[] {
    const { simd = null } = this.#visa ?? {};
    return this.job.checks.filter((check) => check.simd === null || check.simd === simd);
  }

  #check(check: Check): CheckResult {
    const { of, buffer: buf, type, n, expected, sha256: hash } = check;
    const bytes = of === "buffer" ? this.buffers.get(buf)!.readBytes() : this.#symbols!.contents(buf).bytes;
    const got = new Elements(type, bytes.subarray(0, n * elementInfo[type].size));
    if (expected.kind === "hash") return this.#checkHash(check, got, expected.first);
    const want =
      expected.kind === "file"
        ? new Elements(type, this.#file(expected.path, type, n))
        : generate(type, n, { gen: "list", values: expected.values });
    if (hash !== null && sha256(want.bytes) !== hash) {
      throw new UsageError(`check of "${buf}": what is expected has another SHA-256 than the job says`);
    }
    const { mismatches, first } = compareElements(got, want, check.compare);
    return { of, buf, ok: mismatches === 0, mismatches, n, first };
  }

  /** Checks a buffer of whose expected contents only the hash and some first values are known. */
  #checkHash(
    { of, buffer: buf, type, n, compare, sha256: hash }: Check,
    got: Elements,
    values: readonly (number | bigint)[],
  ): CheckResult {
    if (sha256(got.bytes) === hash) return { of, buf, ok: true, mismatches: 0, n, first: null };
    const known = Math.min(n, values.length);
    const want = generate(type, known, { gen: "list", values });
    const { mismatches, first } = compareElements(
      new Elements(type, got.bytes.subarray(0, known * got.size)),
      want,
      compare,
    );
    return { of, buf, ok: false, mismatches: Math.max(1, mismatches), n, first };
  }

  #failure(): string | null {
    const { expect, stdout } = this.job;
    if (expect) return unexpectedReports(expect, expect.file && this.#shown(expect.file), this.reports);
    const lines = this.reports.map((r) => `${r.code} at line ${lineOf(r)}`);
    const errors = this.reports.filter((r) => r.severity === "error");
    if (errors.length > 0) return errors.length === 1 ? lines[0]! : `${errors.length} reports`;
    const wrong = this.checks.filter((c) => !c.ok);
    if (wrong.length > 0) return wrong.map(describeMismatch).join("; ");
    if (stdout !== null && stdout !== this.stdout) {
      return `it printed ${JSON.stringify(this.stdout)}, not ${JSON.stringify(stdout)}`;
    }
    return null;
  }

  #result(end: { skipped?: string; problem?: Error; defect?: Error; failure?: string }): JobResult {
    const { skipped = null, problem = null, defect = null } = end;
    const broken = defect === null ? undefined : `internal error: ${defect.message}`;
    const failure = skipped ?? problem?.message ?? broken ?? end.failure ?? this.#failure();
    const buffers = [...this.buffers].map(([name, buffer]) => {
      const before = this.before.get(name)!;
      return [name, { before, after: new Elements(before.type, buffer.readBytes()) }] as const;
    });
    return {
      id: this.job.id,
      variant: this.variant,
      engine: engineOf(this.launches),
      ok: failure === null,
      launches: this.launches,
      checks: this.checks,
      stdout: this.stdout,
      reports: this.reports,
      suppressed: this.suppressed,
      skipped,
      diagnostics: this.diagnostics,
      problem,
      defect,
      failure,
      buffers: new Map(buffers),
      symbols: new Map(
        [...(this.#symbols?.before ?? [])].map(([name, before]) => [
          name,
          { before, after: this.#symbols!.contents(name) },
        ]),
      ),
    };
  }
}

const describeMismatch = ({ buf, mismatches, n, first }: CheckResult): string => {
  const where = first ? `, first at ${first.index}: got ${first.got}, want ${first.want}` : "";
  return `${mismatches} of ${n} elements of "${buf}" differ${where}`;
};

/** The engine of a job: of all its launches, or, where they have had several, the one that is nearest the reference. */
const engineOf = (launches: readonly LaunchSummary[]): EngineName =>
  launches.length === 0 ? "interpreter" : engineNames.find((name) => launches.some(({ engine }) => engine === name))!;

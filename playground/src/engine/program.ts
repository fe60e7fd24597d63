import {
  Device,
  type Job,
  type JobFiles,
  type JobOptions,
  JobRun,
  LoadError,
  parseJob,
  SourceText,
  UsageError,
} from "lanewise";
import { pictureReader } from "./data-files.ts";
import { findingOf } from "./findings.ts";
import type { Finding, Program } from "./protocol.ts";

/** The program cannot be run as it stands. */
class ProgramError extends Error {
  readonly findings: readonly Finding[];

  constructor(message: string, findings: readonly Finding[]) {
    super(message);
    this.findings = findings;
  }
}

/** Reads a job. Throws a ProgramError if it is wrong. */
export function jobOf({ job: text }: Program): { readonly job: Job; readonly variant: string } {
  const { job, diagnostics } = parseJob(new SourceText("job.json", text));
  if (job === null) throw new ProgramError("the job has errors", diagnostics.map(findingOf));
  const [variant] = job.variants.keys();
  if (variant === undefined) throw new ProgramError("the job names no program", []);
  return { job, variant };
}

/** The files of a program, for a job. */
export async function filesOf({ files }: Program): Promise<JobFiles> {
  const encoder = new TextEncoder();
  const known = new Map(files.map(({ path, text, bytes }) => [path, bytes ?? encoder.encode(text ?? "")]));
  return {
    read(path) {
      const found = known.get(path);
      if (found === undefined) throw new UsageError(`there is no file ${path}; add it, or change the job`);
      return found;
    },
    yaml: await yamlReader(files),
    ...(await pictureReader(files)),
  };
}

/** The reader of YAML, loaded only for programs that have such files. */
async function yamlReader(files: Program["files"]): Promise<(text: string) => unknown> {
  if (!files.some(({ path }) => /\.(ya?ml|zeinfo)$/.test(path))) return () => ({});
  const { parse } = await import("yaml");
  return (text) => parse(text) as unknown;
}

/** A run of the program on a device of its own. */
export async function openRun(program: Program, options: JobOptions): Promise<JobRun> {
  const { job, variant } = jobOf(program);
  return new JobRun(new Device(), job, variant, await filesOf(program), options);
}

/** What is wrong, as findings, if it is something that a user can do something about. */
export function findingsOfError(error: unknown): { readonly failure: string; readonly findings: readonly Finding[] } {
  if (error instanceof ProgramError) return { failure: error.message, findings: error.findings };
  if (error instanceof LoadError) {
    return { failure: "the program has errors", findings: error.diagnostics.map(findingOf) };
  }
  return { failure: error instanceof Error ? error.message : String(error), findings: [] };
}

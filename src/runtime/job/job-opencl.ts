import type { SectionSymbol } from "../../container/index.ts";
import { isOpenClFile } from "../visa/is-opencl.ts";
import { openClContents, type OpenClProgram, openOpenCl } from "../visa/opencl-program.ts";
import type { JobFiles } from "./job-files.ts";
import type { VisaVariant } from "./job-visa.ts";
import type { Job } from "./job.ts";

/** A job, and access to the files that it names. */
export interface JobWithFiles {
  readonly job: Job;
  readonly files: JobFiles;
}

/**
 * A job one of whose variants may name a file that holds a whole OpenCL program, a ZIP archive or a binary of ocloc:
 * what is in there takes its place. `device` chooses among the binaries of an archive.
 *
 * @throws UsageError if the file has no vISA
 */
export function withOpenClFile(given: JobWithFiles, variant: string, device: string | null): JobWithFiles {
  const { job, files } = given;
  const [only = "", ...others] = job.variants.get(variant) ?? [];
  if (only === "" || others.length > 0 || !job.visa?.variants.has(variant)) return given;
  const bytes = files.read(only);
  if (!isOpenClFile(bytes)) return given;
  return withProgram(given, variant, openOpenCl(openClContents(files.shown?.(only) ?? only, bytes), device));
}

/** The job with the files of an OpenCL program as those of a variant. What the variant says itself goes first. */
export function withProgram(given: JobWithFiles, variant: string, program: OpenClProgram): JobWithFiles {
  const { job, files } = given;
  const { visa } = job;
  const own = visa?.variants.get(variant);
  if (visa === null || own === undefined) return given;
  const whole: VisaVariant = {
    ...own,
    zeinfo: own.zeinfo ?? program.zeinfo?.path ?? null,
    data: new Map([...[...program.data].map(([name, { path }]) => [name, path] as const), ...own.data]),
    symbols: new Map([...program.symbols.map(placed), ...own.symbols]),
    relocations: [...program.relocations, ...own.relocations],
  };
  return {
    job: {
      ...job,
      variants: new Map([...job.variants, [variant, program.texts.map(({ path }) => path)]]),
      visa: { ...visa, variants: new Map([...visa.variants, [variant, whole]]) },
    },
    files: filesWithin(program, files),
  };
}

/** A name that lies in a section of data, with its place. */
export const placed = ({ name, section, offset }: SectionSymbol) => [name, { section, offset }] as const;

/** Reads the files of an OpenCL program too, which have paths of their own. */
export function filesWithin({ texts, zeinfo, data }: OpenClProgram, plain: JobFiles): JobFiles {
  const inside = [...texts, ...(zeinfo ? [zeinfo] : []), ...data.values()];
  const held = new Map(inside.map(({ path, bytes }) => [path, bytes]));
  return {
    ...plain,
    read: (file) => held.get(file) ?? plain.read(file),
    shown: (file) => (held.has(file) ? file : (plain.shown?.(file) ?? file)),
  };
}

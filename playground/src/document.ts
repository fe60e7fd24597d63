import type { JobJson } from "./launch/job-text.ts";
import { readJobJson, writeJobJson } from "./launch/job-text.ts";
import type { LaunchProposal, Program, ProgramFile } from "./engine/protocol.ts";

/** What is open: a program, and the example of the gallery that it began as. */
export interface PlayDocument extends Program {
  readonly title: string;
  readonly example: string | null;
}

/** The name under which the job is shown among the files. */
export const jobPath = "job.json";

/** A document with another text in one of its files. */
export function withText(document: PlayDocument, path: string, text: string): PlayDocument {
  if (path === jobPath) return { ...document, job: text };
  return {
    ...document,
    files: document.files.map((file): ProgramFile => (file.path === path ? { path, text, bytes: null } : file)),
  };
}

/** A document with further files, in place of those of the same names. */
export function withFiles(document: PlayDocument, files: readonly ProgramFile[]): PlayDocument {
  const names = files.map(({ path }) => path);
  const kept = document.files.filter(({ path }) => !names.includes(path));
  return { ...document, files: [...kept, ...files] };
}

/** The modules of the first variant of a job; null if it has none that can be changed. */
function modulesOf({ variants }: JobJson): unknown[] | null {
  const [first] = Object.values(variants);
  if (Array.isArray(first)) return first;
  const modules = (first as { modules?: unknown } | undefined)?.modules;
  return Array.isArray(modules) ? modules : null;
}

/** A document with a further module, which is linked with the others, or without one of them. */
export function withModule(document: PlayDocument, path: string, text: string | null): PlayDocument {
  const job = readJobJson(document.job);
  const modules = job && modulesOf(job);
  const at = modules?.indexOf(path) ?? -1;
  if (text === null && at >= 0) modules?.splice(at, 1);
  if (text !== null && at < 0) modules?.push(path);
  const files = document.files.filter((file) => file.path !== path);
  return {
    ...document,
    job: job === null ? document.job : `${writeJobJson(job)}\n`,
    files: text === null ? files : [...files, { path, text, bytes: null }],
  };
}

/**
 * A job with another kernel in one of its launches, with arguments that fit it and the buffers for these. What was
 * expected of the other kernel goes.
 */
export function withKernel(
  job: JobJson,
  launch: number,
  kernel: string,
  { launch: proposed, buffers, inputs }: LaunchProposal,
): JobJson {
  const { checks: _, expect: _expect, stdout: _stdout, ...kept } = job;
  const { blocks: _blocks, copies: _copies, ...old } = job.launches[launch] ?? {};
  const launches = [...job.launches];
  launches[launch] = { ...proposed, ...old, kernel, args: proposed.args ?? [] };
  const isUsed = (name: string): boolean => launches.some((each) => each.args?.some((arg) => arg["buf"] === name));
  const used = Object.entries(job.buffers ?? {}).filter(([name]) => isUsed(name));
  const all = { ...buffers, ...Object.fromEntries(used) };
  return { ...kept, variants: job.variants, ...(inputs !== undefined && { inputs }), buffers: all, launches };
}

/** The files that can be edited, the job last. */
export const editable = ({ files, job }: PlayDocument): { readonly path: string; readonly text: string }[] => [
  ...files.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }])),
  { path: jobPath, text: job },
];

import type { Program, ProgramFile } from "./engine/protocol.ts";

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

/** The files that can be edited, the job last. */
export const editable = ({ files, job }: PlayDocument): { readonly path: string; readonly text: string }[] => [
  ...files.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }])),
  { path: jobPath, text: job },
];

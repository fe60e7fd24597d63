import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A file of a corpus; the path is relative to the corpus. */
export interface CorpusFile {
  readonly path: string;
  readonly text: string;
}

/** The files in a folder whose names end like this, in order; none where there is no such folder. */
export function corpusIn(folder: URL, ending: string): readonly CorpusFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .sort()
    .map((path) => ({ path, text: readFileSync(new URL(path, folder), "utf8") }));
}

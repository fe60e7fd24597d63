import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SourceText } from "../../src/source/index.ts";
import { jsonFiles } from "./json-files.ts";

const root = fileURLToPath(new URL("../../../shared/conformance", import.meta.url));

/** The folder of the conformance cases, which are not in the repository. */
export const present = existsSync(root);
if (!present) console.warn(`skipped: there are no conformance cases at ${root}`);

export interface JobFile {
  readonly source: SourceText;
  /** Reads a file that the job names. */
  read(path: string): Uint8Array;
}

const folders = ["cuda", "hand", "faults"] as const;

export const jobFiles = (folder: (typeof folders)[number]): JobFile[] =>
  !present
    ? []
    : jsonFiles(join(root, folder)).map(({ name, text, read }) => ({
        source: new SourceText(`${folder}/${name}`, text),
        read,
      }));

export const allJobFiles = (): JobFile[] => folders.flatMap(jobFiles);

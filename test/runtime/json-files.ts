import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface JsonFile {
  readonly name: string;
  readonly text: string;
  /** Reads a file that the first one names. */
  read(file: string): Uint8Array;
}

/** The .json files of a folder, without those of its subfolders. */
export const jsonFiles = (folder: string): readonly JsonFile[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({
      name,
      text: readFileSync(join(folder, name), "utf8"),
      read: (file) => readFileSync(join(folder, file)),
    }));

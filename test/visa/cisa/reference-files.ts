import { existsSync, readFileSync } from "node:fs";

const folder = new URL("../../../../shared/visa/", import.meta.url);
const manifest = new URL("cisa/manifest.json", folder);

/** Whether the files of the reference writer (GenX_IR 1.0.5353) are beside the repository. */
export const haveReferenceFiles = existsSync(manifest);

interface Entry {
  readonly id: string;
  readonly source: readonly string[];
  readonly isa: string;
  readonly fixed?: string | null;
  readonly back: readonly string[];
  readonly platform: string;
}

/** A program as text, as a file by the reference writer, and as that program's dump of the file. */
export interface ReferenceFile {
  readonly id: string;
  readonly sources: readonly string[];
  /** The file with corrected offsets of functions in the header. */
  readonly bytes: Uint8Array;
  /** The file as it was written. */
  readonly original: Uint8Array;
  readonly dumps: readonly string[];
}

const text = (path: string): string => readFileSync(new URL(path, folder), "utf8");
const binary = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(path, folder)));

export const referenceFiles: readonly ReferenceFile[] = haveReferenceFiles
  ? (JSON.parse(readFileSync(manifest, "utf8")) as readonly Entry[]).map((entry) => ({
      id: entry.id,
      sources: entry.source.map(text),
      bytes: binary(entry.fixed ?? entry.isa),
      original: binary(entry.isa),
      dumps: entry.back.map(text),
    }))
  : [];

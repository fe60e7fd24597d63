import type { Picture } from "../data/picture.ts";

/** Access to the files that a job names. A `path` is as the job has it. */
export interface JobFiles {
  /**
   * Returns the contents of a file. A UsageError from here becomes the `problem` of the result; any other error its
   * `defect`.
   */
  read(path: string): Uint8Array;
  /** Returns the path as messages show it. Default: unchanged. */
  shown?(path: string): string;
  /** Parses YAML, the format of vISA's `.ze_info`, into plain objects. Without it, jobs that need it are skipped. */
  yaml?(text: string): unknown;
  /** Reads a PNG file. Without it, jobs whose buffers come from one are skipped. */
  picture?(bytes: Uint8Array): Picture;
}

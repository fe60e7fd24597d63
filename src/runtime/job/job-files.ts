/** How a job reads the files that it names; `path` is as the job has it. */
export interface JobFiles {
  /**
   * Returns the bytes of a file.
   *
   * @throws UsageError when it cannot be read; it becomes the `problem` of the result
   */
  read(path: string): Uint8Array;
  /** The path as messages show it. */
  shown?(path: string): string;
  /** Understands YAML, in which vISA's `.ze_info` is written; without it, jobs that need it are skipped. */
  yaml?(text: string): unknown;
}

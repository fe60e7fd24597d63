import { closeSync, openSync, writeSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import type { RecordSink } from "../../cuda/record/recorder.ts";
import { UsageError } from "../../runtime/data/errors.ts";

/** A file into which a recording is written piece by piece, so that it is there when a program is killed. */
export class RecordingFile implements RecordSink {
  readonly #path: string;

  /** Throws a UsageError if the file cannot be written. */
  constructor(path: string) {
    this.#path = path;
    this.#add("w", new Uint8Array());
  }

  write(bytes: Uint8Array): void {
    this.#add("a", bytes);
  }

  deflate(bytes: Uint8Array): Uint8Array {
    return deflateRawSync(bytes, { level: 1 });
  }

  #add(mode: "w" | "a", bytes: Uint8Array): void {
    try {
      const file = openSync(this.#path, mode);
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      closeSync(file);
    } catch (error) {
      throw new UsageError(`${this.#path} cannot be written: ${(error as Error).message}`);
    }
  }
}

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "./folder-safety.ts";
import type { CodeStore } from "./stored-code.ts";

/** Keeps V8's code of files in a folder, which is made when there is something to store. */
export class CodeFolder implements CodeStore {
  readonly #path: string;

  /** `path`: a folder in one to which only the user can write. */
  constructor(path: string) {
    this.#path = path;
  }

  read(name: string): Uint8Array | null {
    try {
      return readFileSync(this.#pathOf(name));
    } catch {
      return null;
    }
  }

  write(name: string, code: Uint8Array): void {
    makePrivateFolder(this.#path);
    if (!existsSync(this.#path)) return;
    const path = this.#pathOf(name);
    const unfinished = `${path}.${process.pid}`;
    try {
      writeFileSync(unfinished, code, { mode: 0o600 });
      renameSync(unfinished, path);
    } catch {
      // The disk is full, or the folder has gone: the next process compiles again.
      rmSync(unfinished, { force: true });
    }
  }

  #pathOf(name: string): string {
    return join(this.#path, name.replace(/\.cjs$/, ".code"));
  }
}

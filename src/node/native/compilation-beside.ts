import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { patience } from "./c-compiler.ts";

/** The files of the folder through which two processes speak: a module, and a library or why there is none. */
export const files = { module: "module.wasm", library: "kernel.so", why: "why.txt" } as const;

/** How much less than others the process gets, as `nice` counts: the kernel itself goes on meanwhile. */
const niceness = 10;

/** Milliseconds that the process takes besides the C compiler, at the very most, on a machine that does other work. */
const spareMs = 30_000;

/**
 * A C compiler at work in a process of its own. What it answers is found in a folder, so that this one can go on
 * without a turn of Node's loop. The process ends by itself when this one does.
 */
export class CompilationBeside {
  readonly #folder: string;
  readonly #latest: number;

  private constructor(folder: string, latest: number) {
    this.#folder = folder;
    this.#latest = latest;
  }

  /** `script`: what the process runs (`beside.ts`, bundled); `seconds`: processor time that the C compiler may take. */
  static begin(script: string, module: Uint8Array, seconds: number): CompilationBeside {
    const folder = mkdtempSync(join(tmpdir(), "lanewise-beside-"));
    writeFileSync(join(folder, files.module), module);
    const args = [script, folder, String(process.pid), String(seconds)];
    const child = spawn(process.execPath, args, { stdio: "ignore", detached: true });
    // A process that was not started gives no answer, and the time runs out.
    child.on("error", () => {});
    child.unref();
    if (child.pid !== undefined) lower(child.pid);
    return new CompilationBeside(folder, performance.now() + patience * seconds * 1000 + spareMs);
  }

  /** Returns a library, or why there is none; null as long as that is not known. Not to be asked after an answer. */
  answer(): Uint8Array | string | null {
    const answer = this.#read();
    if (answer !== null) rmSync(this.#folder, { recursive: true, force: true });
    return answer;
  }

  #read(): Uint8Array | string | null {
    const [library, why] = [join(this.#folder, files.library), join(this.#folder, files.why)];
    try {
      if (existsSync(library)) return readFileSync(library);
      if (existsSync(why)) return readFileSync(why, "utf8");
    } catch (error) {
      return `machine code cannot be read: ${(error as Error).message}`;
    }
    return performance.now() > this.#latest ? "the process that makes machine code does not answer" : null;
  }
}

/** Lets other processes go first, where that is allowed. */
function lower(pid: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended already, or stays as it is.
  }
}

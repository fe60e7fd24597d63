import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { patience } from "./c-compiler.ts";

/** The first byte of an answer, which is written last: what the others are. A file without one has no answer yet. */
export const answers = { library: 1, why: 2 } as const;

/** How much less than others the process gets, as `nice` counts: the kernel itself goes on meanwhile. */
const niceness = 10;

/** Milliseconds that the process takes besides the C compiler, at the very most, on a machine that does other work. */
const spareMs = 30_000;

/**
 * A C compiler at work in a process of its own. What it answers is found in a file, so that this one can go on without
 * a turn of Node's loop; the file has no name, and is gone with both processes. The process ends by itself when this
 * one does.
 */
export class CompilationBeside {
  readonly #answer: number;
  readonly #latest: number;

  /** `answer`: a descriptor; `latest`: when none is to be expected any more. */
  private constructor(answer: number, latest: number) {
    this.#answer = answer;
    this.#latest = latest;
  }

  /** `script`: what the process runs (`beside.ts`, bundled); `seconds`: processor time that the C compiler may take. */
  static begin(script: string, module: Uint8Array, seconds: number): CompilationBeside {
    const question = unnamedFile();
    try {
      writeAll(question, module, 0);
      const answer = unnamedFile();
      const child = spawn(process.execPath, [script, String(process.pid), String(seconds)], {
        stdio: [question, answer, "ignore"],
        detached: true,
      });
      // A process that was not started gives no answer, and the time runs out.
      child.on("error", () => {});
      child.unref();
      if (child.pid !== undefined) lower(child.pid);
      return new CompilationBeside(answer, performance.now() + patience * seconds * 1000 + spareMs);
    } finally {
      closeSync(question);
    }
  }

  /** Returns a library, or why there is none; null as long as that is not known. Not to be asked after an answer. */
  answer(): Uint8Array | string | null {
    const answer = this.#read();
    if (answer !== null) closeSync(this.#answer);
    return answer;
  }

  #read(): Uint8Array | string | null {
    try {
      const [kind] = readFrom(this.#answer, 0, 1);
      if (kind === answers.library || kind === answers.why) {
        const bytes = readFrom(this.#answer, 1, fstatSync(this.#answer).size - 1);
        return kind === answers.library ? bytes : new TextDecoder().decode(bytes);
      }
    } catch (error) {
      return `machine code cannot be read: ${(error as Error).message}`;
    }
    return performance.now() > this.#latest ? "the process that makes machine code does not answer" : null;
  }
}

/** The descriptor of a new file that is in no folder any more. */
function unnamedFile(): number {
  const path = join(tmpdir(), `lanewise-${randomUUID()}`);
  const descriptor = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return descriptor;
}

/** Writes at a position, whoever else has moved in the file. */
export function writeAll(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
  }
}

/** Bytes from a position on, fewer at the end of the file. */
export function readFrom(descriptor: number, position: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let done = 0; ; ) {
    const more = done === length ? 0 : readSync(descriptor, bytes, done, length - done, position + done);
    done += more;
    if (more === 0) return bytes.subarray(0, done);
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

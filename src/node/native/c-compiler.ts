import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "../../cc/index.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** Compilers that are looked for, by name, unless CC names one, with options of its own or without. */
const names = ["cc", "gcc", "clang"];

/**
 * How libraries are built: for this machine, with the arithmetic of WebAssembly. Products and sums are not fused, whole
 * numbers wrap, memory has no types, and nobody looks at errno or at flags of exceptions.
 */
const flags = [
  "-O2",
  "-march=native",
  "-ffp-contract=off",
  "-fwrapv",
  "-fno-strict-aliasing",
  "-fno-math-errno",
  "-fno-trapping-math",
  "-fvisibility=hidden",
  "-fPIC",
  "-w",
];

/** The macros of x86-64 without which translated code does not work, and those with which it has 512 bits. */
const required = ["__x86_64__", "__AVX2__", "__FMA__"];
const wide = ["__AVX512F__", "__AVX512VL__", "__AVX512BW__", "__AVX512DQ__"];

/** How many times as long as its processor time a compiler may take, on a machine that does other work. */
export const patience = 10;

/** A C compiler of the machine, and what it can make code for. */
export class CCompiler {
  readonly target: Target;
  /** Tells the compiler and the machine from others: libraries of another one are of no use. */
  readonly identity: string;
  /** Its name and options. */
  readonly #command: readonly string[];

  private constructor(command: readonly string[], macros: string) {
    this.#command = command;
    this.identity = createHash("sha256")
      .update(`${command.join(" ")}\n${macros}`)
      .digest("hex");
    this.target = { quads: wide.every((name) => isDefined(macros, name)) ? 4 : 2 };
  }

  /** Looks for a compiler; a text if there is none that will do: why. */
  static find(env: NodeJS.ProcessEnv = process.env): CCompiler | string {
    for (const command of commandsIn(env).map(withFlags)) {
      const [program, ...args] = command;
      const { status, stdout } = spawnSync(program!, [...args, "-dM", "-E", "-x", "c", "/dev/null"], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      });
      if (status !== 0) continue;
      const missing = required.filter((name) => !isDefined(stdout, name));
      if (missing.length > 0) return `the machine or its C compiler lacks ${missing.join(", ")}`;
      return new CCompiler(command, stdout);
    }
    return "there is no C compiler (cc)";
  }

  /**
   * Returns a shared library's bytes; a text if there is none after some seconds of processor time, or if the program
   * is wrong: why.
   */
  library(text: string, seconds: number): Uint8Array | string {
    return inFolder((folder) => {
      const { program, args, file, env } = this.#commandFor(folder, seconds);
      const timeout = patience * seconds * 1000;
      const { status, signal, error, stderr } = spawnSync(program, args, {
        input: text,
        encoding: "utf8",
        env,
        timeout,
        stdio: ["pipe", "ignore", "pipe"],
      });
      if (status === 0) return readFileSync(file);
      const isLate = (error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT";
      return isLate ? tooLong(seconds) : failed(stderr, error ?? signal ?? status, seconds);
    });
  }

  /** The same while the calling program goes on. `signal` ends the compiler. */
  async libraryLater(text: string, seconds: number, signal: AbortSignal): Promise<Uint8Array | string> {
    return inFolder(async (folder) => {
      const { program, args, file, env } = this.#commandFor(folder, seconds);
      // A group of its own, so that what the compiler has started ends with it.
      const child = spawn(program, args, { env, detached: true, stdio: ["pipe", "ignore", "pipe"] });
      const end = (): void => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
      let isLate = false;
      const timer = setTimeout(
        () => {
          isLate = true;
          end();
        },
        patience * seconds * 1000,
      );
      signal.addEventListener("abort", end);
      // A compiler that ends before it has read everything says why on stderr.
      child.stdin.on("error", () => {}).end(text);
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part));
      const [status, ended] = await once(child, "close").catch((error: Error) => [String(error), null]);
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      if (status === 0) return readFileSync(file);
      return isLate ? tooLong(seconds) : failed(stderr, ended ?? status, seconds);
    });
  }

  /**
   * The shell sets the limit, which holds for each process that the compiler starts. What these write goes with the
   * folder, also if they are killed.
   */
  #commandFor(folder: string, seconds: number) {
    const file = join(folder, "kernel.so");
    const env = { ...process.env, TMPDIR: folder };
    const command = [...this.#command, "-shared", "-x", "c", "-", "-o", file];
    const args = ["-c", 'ulimit -S -t "$0"; exec "$@"', String(Math.ceil(seconds)), ...command];
    return { program: "/bin/sh", args, file, env };
  }
}

/** The compilers that are looked for, as words: names and options. */
export const commandsIn = (env: NodeJS.ProcessEnv): readonly (readonly string[])[] =>
  (env["CC"] ? [env["CC"]] : names).map((command) => command.split(" ").filter((word) => word !== ""));

/** Options that CC has, as in `ccache gcc -mno-avx512f`, come after those that all compilers get, and change them. */
function withFlags(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => word.startsWith("-"));
  const end = first < 0 ? words.length : first;
  return [...words.slice(0, end), ...flags, ...words.slice(end)];
}

/** Gives a folder that is gone when the answer is there. Returns a text if there can be none: why. */
function inFolder<T>(make: (folder: string) => T): T | string {
  let folder: string;
  try {
    folder = temporaryFolder("lanewise-cc-");
  } catch (error) {
    return (error as Error).message;
  }
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // Ctrl-C may end all that is done here, without another word, when the compiler has ended.
  process.on("exit", remove);
  let made: T;
  try {
    made = make(folder);
  } catch (error) {
    remove();
    throw error;
  }
  if (made instanceof Promise) return made.finally(remove) as T;
  remove();
  return made;
}

const tooLong = (seconds: number): string => `the C compiler needs more than ${seconds} s`;

/** `status`: with what it has ended, or why it did not begin. */
function failed(stderr: string, status: unknown, seconds: number): string {
  if (status === "SIGXCPU" || /CPU time limit exceeded/.test(stderr)) return tooLong(seconds);
  return `the C compiler has failed: ${stderr.split("\n").find((line) => line.includes("error")) ?? String(status)}`;
}

const isDefined = (macros: string, name: string): boolean => macros.includes(`#define ${name} `);

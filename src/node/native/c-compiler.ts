import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "../../cc/index.ts";

/** Compilers that are looked for, by name, unless CC names one. */
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

/** A C compiler of the machine, and what it can make code for. */
export class CCompiler {
  readonly target: Target;
  /** Tells the compiler and the machine from others: libraries of another one are of no use. */
  readonly identity: string;
  readonly #command: readonly string[];

  private constructor(command: readonly string[], macros: string) {
    this.#command = command;
    this.identity = createHash("sha256")
      .update(`${command.join(" ")}\n${flags.join(" ")}\n${macros}`)
      .digest("hex");
    this.target = { quads: wide.every((name) => isDefined(macros, name)) ? 4 : 2 };
  }

  /** Looks for a compiler; a text if there is none that will do: why. */
  static find(env: NodeJS.ProcessEnv = process.env): CCompiler | string {
    const commands = env["CC"] ? [env["CC"].split(" ")] : names.map((name) => [name]);
    for (const command of commands) {
      const [program, ...first] = command;
      const { status, stdout } = spawnSync(program!, [...first, ...flags, "-dM", "-E", "-x", "c", "/dev/null"], {
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

  /** Returns a shared library's bytes; a text if there is none after some seconds, or if the program is wrong: why. */
  library(text: string, seconds: number): Uint8Array | string {
    const folder = mkdtempSync(join(tmpdir(), "lanewise-cc-"));
    try {
      const file = join(folder, "kernel.so");
      const [program, ...first] = this.#command;
      const { status, error, stderr } = spawnSync(
        program!,
        [...first, ...flags, "-shared", "-x", "c", "-", "-o", file],
        { input: text, encoding: "utf8", timeout: seconds * 1000, stdio: ["pipe", "ignore", "pipe"] },
      );
      if (status === 0) return readFileSync(file);
      if ((error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT") {
        return `the C compiler needs more than ${seconds} s`;
      }
      return `the C compiler has failed: ${stderr.split("\n").find((line) => line.includes("error")) ?? String(error)}`;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

const isDefined = (macros: string, name: string): boolean => macros.includes(`#define ${name} `);

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scalar } from "../runtime/argument.ts";
import { Elements } from "../runtime/element.ts";
import { type BenchBuffer, type BenchKernel, type BenchPlan, type BenchSize, bytesOfBuffer } from "./bench-kernel.ts";
import { type Contents, median, type Repetition } from "./bench-run.ts";

export interface PeerResult {
  /** The median, in milliseconds. */
  readonly ms: number;
  readonly results: Contents;
}

const extent = ([x, y = 1, z = 1]: BenchSize): readonly number[] => [x, y, z];

/** The letter of a scalar's type in a plan's file. */
const letters: Readonly<Record<string, string>> = { s32: "i", f32: "f", f64: "d" };

/** The text that `bench/plan.h` describes. */
function planText({ buffers, launches, sizes }: BenchPlan, { runs, milliseconds }: Repetition): string {
  const names = Object.keys(buffers);
  const mode = ({ inPlace, init }: BenchBuffer): string => (inPlace ? "inout" : init === null ? "out" : "in");
  const argument = (arg: string | Scalar): string =>
    typeof arg === "string" ? `b ${names.indexOf(arg)}` : `${letters[arg.type]} ${arg.value}`;
  return [
    `runs ${runs} ${milliseconds}`,
    `sizes ${sizes.join(" ")}`,
    ...names.map((name) => `buffer ${name} ${bytesOfBuffer(buffers[name]!)} ${mode(buffers[name]!)}`),
    ...launches.map(({ kernel, grid, block, args }) => {
      const local = extent(block);
      const global = extent(grid).map((count, axis) => count * local[axis]!);
      return ["launch", kernel, ...global, ...local, args.length, ...args.map(argument)].join(" ");
    }),
    "",
  ].join("\n");
}

/** The same computations by other means: C that gcc compiles, and OpenCL on PoCL, one thread each. */
export class Peers {
  /** The first line of `gcc --version`, or null. */
  readonly compiler: string | null;
  /** What cannot be measured, and why. */
  readonly missing: readonly string[];
  readonly #bench: string;
  readonly #folder: string;
  #opencl: boolean;

  /** @param bench the folder with the programs of the peers */
  constructor(bench: string) {
    this.#bench = bench;
    this.#folder = mkdtempSync(join(tmpdir(), "lanewise-bench-"));
    const version = spawnSync("gcc", ["--version"], { encoding: "utf8" });
    this.compiler = version.status === 0 ? version.stdout.split("\n")[0]! : null;
    const missing = this.compiler === null ? ["no native times: there is no gcc", "no PoCL: there is no gcc"] : [];
    this.#opencl = this.compiler !== null && this.#tryCompile("host", ["opencl/host.c"], ["-lOpenCL"]);
    if (this.compiler !== null && !this.#opencl) {
      missing.push("no PoCL: a program for OpenCL does not build (opencl-headers, ocl-icd-opencl-dev)");
    }
    this.missing = missing;
  }

  /** Writes down what the peers are to do; they are measured one by one then. */
  prepare(plan: BenchPlan, initial: Contents, repetition: Repetition): void {
    rmSync(this.#work, { recursive: true, force: true });
    mkdirSync(this.#work);
    writeFileSync(join(this.#work, "plan"), planText(plan, repetition));
    for (const [name, { bytes }] of initial) writeFileSync(join(this.#work, name), bytes);
  }

  native(kernel: BenchKernel, plan: BenchPlan): PeerResult | null {
    if (this.compiler === null) return null;
    const sources = [`native/${kernel.file}.c`, "native/main.c"];
    this.#compile(kernel.file, sources, ["-march=native", "-lm"]);
    return this.#run(kernel, plan, kernel.file, []);
  }

  pocl(kernel: BenchKernel, plan: BenchPlan): PeerResult | null {
    if (!this.#opencl || !kernel.opencl) return null;
    return this.#run(kernel, plan, "host", [join(this.#bench, "opencl", `${kernel.file}.cl`)]);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #work(): string {
    return join(this.#folder, "work");
  }

  #compile(program: string, sources: readonly string[], options: readonly string[]): void {
    const files = [...sources, "plan.c"].map((file) => join(this.#bench, file));
    execFileSync("gcc", ["-O3", "-o", join(this.#folder, program), ...files, ...options], {
      stdio: ["ignore", "ignore", "pipe"],
    });
  }

  #tryCompile(program: string, sources: readonly string[], options: readonly string[]): boolean {
    try {
      this.#compile(program, sources, options);
      return true;
    } catch {
      return false;
    }
  }

  #run({ results }: BenchKernel, plan: BenchPlan, program: string, words: readonly string[]): PeerResult {
    const stdout = execFileSync(join(this.#folder, program), words, {
      cwd: this.#work,
      encoding: "utf8",
      env: { ...process.env, POCL_MAX_PTHREAD_COUNT: "1", POCL_CACHE_DIR: join(this.#folder, "cache") },
    });
    const read = (name: string): Elements =>
      new Elements(plan.buffers[name]!.type, new Uint8Array(readFileSync(join(this.#work, `${name}.out`))));
    return {
      ms: median(JSON.parse(stdout) as number[]),
      results: new Map(results.map((name) => [name, read(name)])),
    };
  }
}

import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Elements } from "../../src/runtime/data/element.ts";
import { elementsInPages } from "./copies.ts";
import {
  type BenchBuffer,
  type BenchKernel,
  type BenchPlan,
  type BenchSize,
  bytesOfBuffer,
  type BenchArgument,
} from "./kernel.ts";
import { type Contents, median, type Repetition } from "./run.ts";

export interface PeerResult {
  /** The median, in milliseconds. */
  readonly ms: number;
  readonly results: Contents;
}

const extent = ([x, y = 1, z = 1]: BenchSize): readonly number[] => [x, y, z];

/** The letters for scalar types in a plan's file. */
const letters: Readonly<Record<string, string>> = { s32: "i", f32: "f", f64: "d" };

/** The plan as text, in the format that `bench/plan.h` describes. */
function planText({ buffers, launches, sizes }: BenchPlan, { runs, milliseconds }: Repetition): string {
  const names = Object.keys(buffers);
  const mode = ({ inPlace, init }: BenchBuffer): string => (inPlace ? "inout" : init === null ? "out" : "in");
  const buffer = (name: string): string => `b ${names.indexOf(name)}`;
  const argument = (arg: BenchArgument): string => {
    if (typeof arg === "string") return buffer(arg);
    if ("matrix" in arg) return buffer(arg.matrix);
    return "texture" in arg ? buffer(arg.texture) : `${letters[arg.type]} ${arg.value}`;
  };
  return [
    `runs ${runs} ${milliseconds}`,
    `sizes ${sizes.join(" ")}`,
    ...names.map((name) => `buffer ${name} ${bytesOfBuffer(buffers[name]!)} ${mode(buffers[name]!)}`),
    ...launches.map(({ kernel, grid, block, shared = 0, args }) => {
      const local = extent(block);
      const global = extent(grid).map((count, axis) => count * local[axis]!);
      const words = [...args.map(argument), ...(shared === 0 ? [] : [`l ${shared}`])];
      return ["launch", kernel, ...global, ...local, words.length, ...words].join(" ");
    }),
    "",
  ].join("\n");
}

/** Reads a file exactly as long as the elements into them. */
function readElements(path: string, into: Elements): Elements {
  const file = openSync(path, "r");
  try {
    readSync(file, into.bytes);
  } finally {
    closeSync(file);
  }
  return into;
}

export const peerNames = ["native", "tuned", "pocl"] as const;

export type PeerName = (typeof peerNames)[number];

/** The exit status of `opencl/host.c` if PoCL is not installed. */
const noPocl = 2;

/**
 * Other implementations to compare with: the kernel's own steps in C compiled by gcc (`native`, parallelized by
 * OpenMP); if it differs, C as written for one CPU thread (`tuned`); and OpenCL on PoCL. A peer that is not available
 * gives no results, and this is reported once.
 */
export class Peers {
  /** The first line of `gcc --version`, or null. */
  readonly compiler: string | null;
  readonly #bench: string;
  readonly #folder: string;
  readonly #tell: (why: string) => void;
  readonly #absent: Set<PeerName>;
  #hasHost = false;

  /**
   * @param bench the folder with the programs of the peers
   * @param wanted which peers are measured
   * @param tell receives the reason for each peer that is not available
   */
  constructor(bench: string, wanted: ReadonlySet<PeerName>, tell: (why: string) => void) {
    this.#bench = bench;
    this.#folder = mkdtempSync(join(tmpdir(), "lanewise-bench-"));
    this.#tell = tell;
    this.#absent = new Set(peerNames.filter((name) => !wanted.has(name)));
    const version = wanted.size === 0 ? null : spawnSync("gcc", ["--version"], { encoding: "utf8" });
    this.compiler = version?.status === 0 ? version.stdout.split("\n")[0]! : null;
    if (this.compiler === null) for (const name of wanted) this.#miss(name, "there is no gcc");
  }

  /** Writes the plan and the inputs for the peers, which are then measured one by one. */
  prepare(plan: BenchPlan, initial: Contents, repetition: Repetition): void {
    if (this.#absent.size === peerNames.length) return;
    rmSync(this.#work, { recursive: true, force: true });
    mkdirSync(this.#work);
    writeFileSync(join(this.#work, "plan"), planText(plan, repetition));
    for (const [name, { bytes }] of initial) writeFileSync(join(this.#work, name), bytes);
  }

  native(kernel: BenchKernel, plan: BenchPlan, threads = 1): PeerResult | null {
    return this.#inC("native", kernel, plan, threads);
  }

  tuned(kernel: BenchKernel, plan: BenchPlan): PeerResult | null {
    return kernel.tuned ? this.#inC("tuned", kernel, plan, 1) : null;
  }

  #inC(peer: "native" | "tuned", kernel: BenchKernel, plan: BenchPlan, threads: number): PeerResult | null {
    if (this.#absent.has(peer)) return null;
    const program = `${kernel.file}-${peer}${threads === 1 ? "" : "-shared"}`;
    const options = ["-march=native", ...(threads === 1 ? [] : ["-fopenmp"]), "-lm"];
    const built = this.#compile(program, [`${peer}/${kernel.file}.c`, "native/main.c"], options);
    if (built !== null) this.#tell(`${kernel.name}: ${peerTitles[peer]}: ${built}`);
    return built === null ? this.#run(peer, kernel, plan, threads, program, []) : null;
  }

  pocl(kernel: BenchKernel, plan: BenchPlan, threads = 1): PeerResult | null {
    if (!kernel.opencl || this.#absent.has("pocl")) return null;
    if (!this.#hasHost && this.#compile("host", ["opencl/host.c"], ["-lOpenCL"]) !== null) {
      this.#miss("pocl", "programs for OpenCL cannot be built (opencl-headers, ocl-icd-opencl-dev)");
      return null;
    }
    this.#hasHost = true;
    return this.#run("pocl", kernel, plan, threads, "host", [join(this.#bench, "opencl", `${kernel.file}.cl`)]);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #work(): string {
    return join(this.#folder, "work");
  }

  #miss(name: PeerName, why: string): void {
    this.#absent.add(name);
    this.#tell(`no times of ${peerTitles[name]}: ${why}`);
  }

  /** Compiles a program. Returns gcc's message if it fails, or null. */
  #compile(program: string, sources: readonly string[], options: readonly string[]): string | null {
    const files = [...sources, "plan.c"].map((file) => join(this.#bench, file));
    const words = ["-O3", "-o", join(this.#folder, program), ...files, ...options];
    const { status, stderr } = spawnSync("gcc", words, { encoding: "utf8" });
    return status === 0 ? null : stderr.trimEnd();
  }

  #run(
    peer: PeerName,
    { name, results }: BenchKernel,
    plan: BenchPlan,
    threads: number,
    program: string,
    words: readonly string[],
  ): PeerResult | null {
    const { status, stdout, stderr } = spawnSync(join(this.#folder, program), words, {
      cwd: this.#work,
      encoding: "utf8",
      env: {
        ...process.env,
        OMP_NUM_THREADS: `${threads}`,
        POCL_MAX_PTHREAD_COUNT: `${threads}`,
        POCL_CACHE_DIR: join(this.#folder, "cache"),
      },
    });
    if (peer === "pocl" && status === noPocl) this.#miss(peer, "it is not installed");
    else if (status !== 0) this.#tell(`${name}: ${peerTitles[peer]}: ${stderr.trimEnd() || "ended by a signal"}`);
    if (status !== 0) return null;
    const read = (buffer: string): Elements => {
      const { type, n } = plan.buffers[buffer]!;
      return readElements(join(this.#work, `${buffer}.out`), elementsInPages(type, n));
    };
    return {
      ms: median(JSON.parse(stdout) as number[]),
      results: new Map(results.map((buffer) => [buffer, read(buffer)])),
    };
  }
}

export const peerTitles: Readonly<Record<PeerName, string>> = {
  native: "native C",
  tuned: "tuned C",
  pocl: "PoCL",
};

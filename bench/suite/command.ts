import { existsSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { UsageError } from "../../src/runtime/data/errors.ts";
import { type EngineName, engineNames, type LaunchDefaults } from "../../src/runtime/launch/launch-options.ts";
import { openNativeCompiler } from "../../src/node/native/index.ts";
import { nearest } from "../../src/source/index.ts";
import { benchGroups, type BenchKernel, bytesOfData, initialValues } from "./kernel.ts";
import { HostMemory } from "./memory.ts";
import { type PeerName, peerNames, Peers, peerTitles } from "./peers.ts";
import {
  BenchFault,
  collectGarbage,
  type Contents,
  difference,
  measure,
  modelResults,
  type Repetition,
  type Times,
} from "./run.ts";
import { benchKernels } from "./suite.ts";
import { type BenchRow, BenchTable, type Measured, rowToJson } from "./table.ts";
import { type Command, exitStatus } from "../../src/cli/options/command.ts";
import type { Options } from "../../src/cli/options/options.ts";
import { printJson, type Terminal } from "../../src/cli/terminal/terminal.ts";

/** The folder of the benchmark programs: two levels above this file, both in the source tree and in the build. */
const folder = fileURLToPath(new URL("../../bench", import.meta.url));

const minRuns = 5;

/** The time in milliseconds for which fast kernels are repeated. */
const patience = 250;

/** The interpreter needs seconds where the others need milliseconds. */
const minInterpreterRuns = 1;

interface Settings {
  readonly kernels: readonly BenchKernel[];
  readonly quick: boolean;
  readonly engines: readonly EngineName[];
  /** The repetition of everything fast: compiled code and the peers. */
  readonly repetition: Repetition;
  readonly interpreterRuns: number;
  /** The number of threads for the engine, and for peers that can use several. */
  readonly threads: number;
  /** The number of the machine's threads, for a second measurement of compiled code and peers; null for none. */
  readonly allThreads: number | null;
  readonly peers: ReadonlySet<PeerName>;
  readonly defaults: LaunchDefaults;
}

function readPeers(text: string | null): ReadonlySet<PeerName> {
  if (text === null) return new Set(peerNames);
  const names = text === "none" ? [] : text.split(",");
  const wrong = names.find((name) => !(peerNames as readonly string[]).includes(name));
  if (wrong !== undefined)
    throw new UsageError(`--peers ${text}: there is no "${wrong}" (${peerNames.join(", ")}, none)`);
  return new Set(names as PeerName[]);
}

const namesOf = (group: BenchKernel["group"]): readonly string[] =>
  benchKernels.filter((k) => k.group === group).map((k) => k.name);

function namedKernels(names: readonly string[]): readonly BenchKernel[] {
  if (names.length === 0) return benchKernels.filter((k) => k.group === "usual");
  const known = [...benchGroups, ...benchKernels.map((k) => k.name)];
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new UsageError(
      `there is no benchmark "${name}"${meant ? `; did you mean "${meant}"?` : ` (${known.join(", ")})`}`,
    );
  }
  return benchKernels.filter((k) => names.includes(k.name) || names.includes(k.group));
}

/** The engines that are measured: machine code is measured beside the compiled code of which it is made. */
function measuredEngines(options: Options): readonly EngineName[] {
  const engine = options.oneOf("engine", engineNames) ?? "jit";
  if (engine === "interpreter") return [engine];
  const compiled: readonly EngineName[] = engine === "native" ? ["jit", "native"] : ["jit"];
  return options.has("interpreter") ? [...compiled, "interpreter"] : compiled;
}

function readSettings(options: Options): Settings {
  const engines = measuredEngines(options);
  const quick = options.has("quick");
  const { timeoutMs } = options;
  const maxSteps = options.integer("max-steps", 1);
  const wanted = options.integer("threads", 1);
  const threads = wanted ?? 1;
  const runs = options.integer("runs", 1) ?? (quick ? 1 : null);
  return {
    kernels: namedKernels(options.positionals),
    quick,
    engines,
    repetition: {
      runs: runs ?? minRuns,
      milliseconds: quick ? 0 : patience,
    },
    interpreterRuns: runs ?? minInterpreterRuns,
    peers: readPeers(options.value("peers")),
    threads,
    allThreads: engines[0] === "jit" && !quick && wanted === null && cpus().length > 1 ? cpus().length : null,
    defaults: {
      hostThreads: threads,
      ...(timeoutMs === null ? {} : { timeoutMs }),
      ...(maxSteps === null ? {} : { maxSteps }),
    },
  };
}

/** Measures benchmarks one by one, reporting problems on the terminal. */
class Bench {
  readonly #settings: Settings;
  readonly #peers: Peers;
  readonly #terminal: Terminal;

  constructor(settings: Settings, peers: Peers, terminal: Terminal) {
    this.#settings = settings;
    this.#peers = peers;
    this.#terminal = terminal;
  }

  row(kernel: BenchKernel): BenchRow {
    const { quick, engines, threads, allThreads, repetition, interpreterRuns, defaults } = this.#settings;
    const { name, group } = kernel;
    const plan = kernel.plan(quick ? kernel.quickSize : kernel.size);
    const path = `${folder}/kernels/${kernel.file}.ptx`;
    const source = { path, text: readFileSync(path, "utf8") };
    const memory = new HostMemory();
    // The garbage of one step must not count as memory of the next.
    const during = <T>(data: number, run: () => T): T => {
      collectGarbage();
      return memory.during(data, run);
    };
    const bytes = bytesOfData(kernel, plan);
    const initial = during(bytes.inputs, () => initialValues(plan));
    this.#peers.prepare(plan, initial, repetition);
    const copies = bytes.inputs + bytes.results;
    const native = during(copies, () => this.#peers.native(kernel, plan, threads));
    const timesOfPeers = new Map<PeerName, number>();
    if (native !== null) timesOfPeers.set("native", native.ms);
    const want = native?.results ?? during(copies, () => modelResults(kernel, plan, initial));

    // Results can be as large as a kernel's data, so they are compared at once and not kept.
    const isRight = (who: string, got: Contents): boolean => {
      const found = difference(kernel, got, want);
      if (found !== null) this.#terminal.err(`${name}: ${who}: ${found}`);
      return found === null;
    };
    const measurePeer = (times: Map<PeerName, number>, peer: PeerName, count: number): void => {
      during(copies, () => {
        const measured = this.#peers[peer](kernel, plan, count);
        if (measured === null) return;
        isRight(peerTitles[peer], measured.results);
        times.set(peer, measured.ms);
      });
    };
    let [faulted, ok] = [false, true];
    const timesOf = (settings: LaunchDefaults, own: Repetition, title?: string): Times | null => {
      try {
        return during(copies + bytes.buffers, () => {
          const nativeCompiler = settings.engine === "native" ? openNativeCompiler() : null;
          const options = { ...defaults, ...settings, nativeCompiler };
          const { results, ...times } = measure(kernel, source, plan, initial, own, options);
          if (!isRight(title ?? times.engine, results)) ok = false;
          return times;
        });
      } catch (error) {
        if (!(error instanceof BenchFault)) throw error;
        this.#terminal.err(`${name}: ${title ?? settings.engine}: ${error.message}`);
        faulted = true;
        return null;
      }
    };

    measurePeer(timesOfPeers, "tuned", 1);
    measurePeer(timesOfPeers, "pocl", threads);
    const measured = new Map<EngineName, Times>();
    for (const engine of engines) {
      if (measured.has(engine)) continue;
      const times = timesOf(
        { engine },
        engine === "interpreter" ? { ...repetition, runs: interpreterRuns } : repetition,
      );
      if (times === null) continue;
      if (times.engine !== engine) {
        const why =
          times.notNative ?? (times.engine === "interpreter" ? "not compiled, the interpreter has run it" : "");
        this.#terminal.err(`${name}: ${why}`);
      }
      if (!measured.has(times.engine)) measured.set(times.engine, times);
    }
    let all: Measured | null = null;
    if (allThreads !== null) {
      const peers = new Map<PeerName, number>();
      measurePeer(peers, "native", allThreads);
      measurePeer(peers, "pocl", allThreads);
      const times = measured.has("jit")
        ? timesOf({ engine: "jit", hostThreads: allThreads }, repetition, "all threads")
        : null;
      all = { engines: new Map(times === null ? [] : [["jit", times]]), peers };
    }
    return {
      name,
      group,
      one: { engines: measured, peers: timesOfPeers },
      all,
      hostBytes: memory.most,
      faulted,
      ok: ok && !faulted,
    };
  }
}

export const bench: Command = {
  name: "bench",
  summary: "measure kernels, and the same in C and OpenCL",
  usage: ["bench [NAME…]"],
  options: [
    {
      name: "runs",
      value: "N",
      help: `the least number of runs, after the first one (default: ${minRuns}; interpreter: ${minInterpreterRuns})`,
    },
    { name: "interpreter", help: "measure the interpreter too" },
    { name: "peers", value: "LIST", help: `native, tuned, pocl, or none (default: ${peerNames.join(",")})` },
    { name: "quick", help: "small sizes, once: check results, not speed" },
  ],
  common: ["engine", "threads", "timeout", "max-steps"],
  details:
    "Times are medians in milliseconds. With --engine native machine code is measured beside compiled code. The first run is on a new device, and includes loading the module. The engine and its peers run " +
    "on one thread, and all but tuned C once more on all threads of the machine; with --threads N on N alone. Peers are the same " +
    "kernel in plain C as gcc -O3 -march=native makes it (OpenMP shares its loops), C as written for one thread of a " +
    "processor where that is another program (tuned), and OpenCL on PoCL, where they are installed. Ratios are the engine's " +
    "time to the peer's: less than 1 is faster. The programs are in bench/ of the repository. " +
    benchGroups.map((group) => `${group}: ${namesOf(group).join(", ")}.`).join(" ") +
    " Without a name the usual ones are measured; a group is a name too.",
  run(options, terminal) {
    const settings = readSettings(options);
    if (!existsSync(folder)) throw new UsageError("bench: the benchmarks are in the repository, not in the package");
    const json = options.has("json");
    const peers = new Peers(folder, settings.peers, (why) => terminal.err(`lanewise: ${why}`));
    try {
      const bench = new Bench(settings, peers, terminal);
      const { kernels, engines, repetition } = settings;
      const { allThreads } = settings;
      const rowNames = kernels.map((k) => k.name);
      const table = BenchTable.ofEngines(rowNames, engines);
      if (!json) terminal.out(table.head("ms"));
      const rows: BenchRow[] = [];
      for (const [i, kernel] of kernels.entries()) {
        if (json) terminal.err(`${i + 1} of ${kernels.length}: ${kernel.name}, ${kernel.title}`);
        const row = bench.row(kernel);
        rows.push(row);
        if (!json) terminal.out(table.row(row));
      }
      if (json) {
        const machine = `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} threads`;
        const measured = rows.map((row) => rowToJson(row, peers.compiler, allThreads ?? 1));
        printJson({ machine, node: process.version, runs: repetition.runs, kernels: measured }, terminal);
      } else {
        terminal.out(table.foot(rows));
        if (allThreads !== null) {
          const together = BenchTable.ofAllThreads(rowNames);
          const lines = [together.head("ms"), ...rows.map((row) => together.row(row)), together.foot(rows)];
          terminal.out(`\nWith all ${allThreads} threads:\n\n${lines.join("\n")}`);
        }
      }
      if (rows.some((row) => row.faulted)) return exitStatus.faulted;
      return rows.every((row) => row.ok) ? exitStatus.ok : exitStatus.failed;
    } finally {
      peers.remove();
    }
  },
};

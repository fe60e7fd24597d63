import type { EngineName } from "../runtime/module.ts";
import { type PeerName, peerNames } from "./bench-peers.ts";
import type { Times } from "./bench-run.ts";

/** What was measured of one benchmark. */
export interface BenchRow {
  readonly name: string;
  /** Without those that cannot run it. */
  readonly engines: ReadonlyMap<EngineName, Times>;
  /** With all threads of the machine; null where that was not asked for, or makes no difference. */
  readonly allThreads: Times | null;
  /** Milliseconds; null where there is no such peer. */
  readonly native: number | null;
  readonly tuned: number | null;
  readonly pocl: number | null;
  /** The most memory that the process has taken besides the buffers and their copies, in bytes; null where nobody counts it. */
  readonly hostBytes: number | null;
  /** Whether a launch has ended with a report. */
  readonly faulted: boolean;
  /** Whether every engine had the right results. */
  readonly ok: boolean;
}

const firstMs = ({ first }: Times): number => first.loadMs + first.runMs;

const milliseconds = (ms: number | null): string =>
  ms === null ? "-" : ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toPrecision(3) : ms.toFixed(3);
const multiple = (factor: number | null): string =>
  factor === null ? "-" : factor >= 100 ? factor.toFixed(0) : factor.toPrecision(2);

const names: Readonly<Record<EngineName, string>> = { interpreter: "interpr.", jit: "jit" };

function geometricMean(values: readonly (number | null)[]): number | null {
  const known = values.filter((v) => v !== null);
  return known.length === 0 ? null : Math.exp(known.reduce((sum, v) => sum + Math.log(v), 0) / known.length);
}

/** The table, line by line, so that a row can be shown as soon as it is measured. The first engine is compared with peers. */
export class BenchTable {
  readonly #engines: readonly EngineName[];
  readonly #nameWidth: number;
  readonly #hasAll: boolean;

  /** `hasAll`: whether there are times with all threads of the machine. */
  constructor(rowNames: readonly string[], engines: readonly EngineName[], hasAll: boolean) {
    this.#engines = engines;
    this.#hasAll = hasAll;
    this.#nameWidth = Math.max(...rowNames.map((name) => name.length), meanTitle.length);
  }

  head(): string {
    const engines = this.#engines.flatMap((engine) => [`${names[engine]} 1st`, names[engine]]);
    const all = this.#hasAll ? [`${names.jit} all`] : [];
    return this.#line("ms", [...engines, ...all, "native", "tuned", "PoCL", "/ native", "/ tuned", "/ PoCL"], "");
  }

  row(row: BenchRow): string {
    const engines = this.#engines.flatMap((name) => {
      const engine = row.engines.get(name);
      return [milliseconds(engine ? firstMs(engine) : null), milliseconds(engine?.ms ?? null)];
    });
    const peers = peerNames.map((peer) => milliseconds(row[peer]));
    const ratios = peerNames.map((peer) => multiple(this.#compared(row, peer)));
    const all = this.#hasAll ? [milliseconds(row.allThreads?.ms ?? null)] : [];
    return this.#line(
      row.name,
      [...engines, ...all, ...peers, ...ratios],
      row.ok ? "ok" : row.faulted ? "FAULT" : "WRONG",
    );
  }

  foot(rows: readonly BenchRow[]): string {
    const means = peerNames.map((peer) => multiple(geometricMean(rows.map((row) => this.#compared(row, peer)))));
    const times = 2 * this.#engines.length + (this.#hasAll ? 1 : 0) + peerNames.length;
    const nothing = new Array<string>(times).fill("");
    return this.#line(meanTitle, [...nothing, ...means], "");
  }

  /** A time as a multiple of a peer's. */
  #compared(row: BenchRow, peer: PeerName): number | null {
    const ours = row.engines.get(this.#engines[0]!);
    const theirs = row[peer];
    return ours === undefined || theirs === null ? null : ours.ms / theirs;
  }

  #line(name: string, cells: readonly string[], end: string): string {
    return [name.padEnd(this.#nameWidth), ...cells.map((cell) => cell.padStart(columnWidth)), ` ${end}`]
      .join("")
      .trimEnd();
  }
}

const meanTitle = "geometric mean";
const columnWidth = 12;

const engineToJson = (measurement: Times) => ({
  ms: measurement.ms,
  firstMs: firstMs(measurement),
  first: measurement.first,
});

export const rowToJson = (row: BenchRow, compiler: string | null) => {
  const jit = row.engines.get("jit");
  const interpreter = row.engines.get("interpreter");
  return {
    name: row.name,
    ...(jit ? { jit: { ...engineToJson(jit), threads: jit.threads } } : {}),
    ...(row.allThreads ? { jitAllThreads: { ms: row.allThreads.ms, threads: row.allThreads.threads } } : {}),
    ...(interpreter ? { interpreter: engineToJson(interpreter) } : {}),
    ...(row.native === null ? {} : { native: { ms: row.native, compiler } }),
    ...(row.tuned === null ? {} : { tuned: { ms: row.tuned } }),
    ...(row.pocl === null ? {} : { pocl: { ms: row.pocl } }),
    ...(row.hostBytes === null ? {} : { hostBytes: row.hostBytes }),
    ok: row.ok,
  };
};

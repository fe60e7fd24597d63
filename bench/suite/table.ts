import type { EngineName } from "../../src/runtime/launch/launch-options.ts";
import type { BenchKernel } from "./kernel.ts";
import { type PeerName, peerNames, peerTitles } from "./peers.ts";
import type { Times } from "./run.ts";

/** The times of a benchmark by all means, with a given number of threads. */
export interface Measured {
  /** The times by engine, without engines that cannot run it. */
  readonly engines: ReadonlyMap<EngineName, Times>;
  /** The times by peer in milliseconds, without peers that are not available. */
  readonly peers: ReadonlyMap<PeerName, number>;
}

/** All measurements of one benchmark. */
export interface BenchRow {
  readonly name: string;
  readonly group: BenchKernel["group"];
  /** With one thread, or with as many as the user asked for. */
  readonly one: Measured;
  /** With all threads of the machine; null if not measured. */
  readonly all: Measured | null;
  /**
   * The peak memory of the process in bytes, not counting the buffers and their copies; null if the system does not
   * report it.
   */
  readonly hostBytes: number | null;
  /** Whether a launch ended with an error. */
  readonly faulted: boolean;
  /** Whether the results of every engine were right. */
  readonly ok: boolean;
}

const firstMs = ({ first }: Times): number => first.loadMs + first.runMs;

const milliseconds = (ms: number): string => (ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toPrecision(3) : ms.toFixed(3));

const multiple = (factor: number): string => (factor >= 100 ? factor.toFixed(0) : factor.toPrecision(2));

function geometricMean(values: readonly (number | null)[]): number | null {
  const known = values.filter((v) => v !== null);
  return known.length === 0 ? null : Math.exp(known.reduce((sum, v) => sum + Math.log(v), 0) / known.length);
}

/** A column of numbers: times, or ratios, for which there is a mean. */
interface Column {
  readonly title: string;
  readonly isRatio: boolean;
  readonly of: (row: BenchRow) => number | null;
}

const ratio = (a: number | undefined, b: number | undefined): number | null =>
  a === undefined || b === undefined ? null : a / b;

const peerColumns = (
  of: (row: BenchRow) => Measured | null,
  engine: EngineName,
  peers: readonly PeerName[],
): Column[] => [
  ...peers.map((peer) => ({
    title: peerTitles[peer],
    isRatio: false,
    of: (row: BenchRow) => of(row)?.peers.get(peer) ?? null,
  })),
  ...peers.map((peer) => ({
    title: `/ ${peerTitles[peer]}`,
    isRatio: true,
    of: (row: BenchRow) => ratio(of(row)?.engines.get(engine)?.ms, of(row)?.peers.get(peer)),
  })),
];

/** Machine code, which stands beside the engine that the other ratios are of. */
const machineCodeRatio: Column = {
  title: "mach. code/C",
  isRatio: true,
  of: ({ one }) => ratio(one.engines.get("native")?.ms, one.peers.get("native")),
};

/** A table that is rendered line by line, so that each row can be shown as soon as it is measured. */
export class BenchTable {
  readonly #columns: readonly Column[];
  readonly #nameWidth: number;

  private constructor(rowNames: readonly string[], columns: readonly Column[]) {
    this.#columns = columns;
    this.#nameWidth = Math.max(...rowNames.map((name) => name.length), meanTitle.length);
  }

  /** The table of engines, their first runs, and the peers that the first engine is compared with. */
  static ofEngines(rowNames: readonly string[], engines: readonly EngineName[]): BenchTable {
    const of = ({ one }: BenchRow): Measured => one;
    const ownColumns = engines.flatMap((engine): Column[] => [
      {
        title: `${names[engine]} 1st`,
        isRatio: false,
        of: (row) => {
          const times = row.one.engines.get(engine);
          return times === undefined ? null : firstMs(times);
        },
      },
      { title: names[engine], isRatio: false, of: (row) => row.one.engines.get(engine)?.ms ?? null },
    ]);
    const others = engines.includes("native") && engines[0] !== "native" ? [machineCodeRatio] : [];
    return new BenchTable(rowNames, [...ownColumns, ...peerColumns(of, engines[0]!, peerNames), ...others]);
  }

  /**
   * The table for all threads: compiled code, its speed-up over one thread, and the peers that can use several threads.
   */
  static ofAllThreads(rowNames: readonly string[]): BenchTable {
    const of = ({ all }: BenchRow): Measured | null => all;
    const ms = (measured: Measured | null): number | undefined => measured?.engines.get("jit")?.ms;
    return new BenchTable(rowNames, [
      { title: names.jit, isRatio: false, of: (row) => ms(row.all) ?? null },
      { title: "one / all", isRatio: true, of: (row) => ratio(ms(row.one), ms(row.all)) },
      ...peerColumns(of, "jit", ["native", "pocl"]),
    ]);
  }

  head(unit: string): string {
    return this.#line(
      unit,
      this.#columns.map(({ title }) => title),
      "",
    );
  }

  row(row: BenchRow): string {
    const cells = this.#columns.map(({ of, isRatio }) => shown(of(row), isRatio));
    return this.#line(row.name, cells, row.ok ? "ok" : row.faulted ? "FAULT" : "WRONG");
  }

  foot(rows: readonly BenchRow[]): string {
    const means = this.#columns.map(({ of, isRatio }) => (isRatio ? shown(geometricMean(rows.map(of)), true) : ""));
    return this.#line(meanTitle, means, "");
  }

  #line(name: string, cells: readonly string[], end: string): string {
    return [name.padEnd(this.#nameWidth), ...cells.map((cell) => cell.padStart(columnWidth)), ` ${end}`]
      .join("")
      .trimEnd();
  }
}

const names: Readonly<Record<EngineName, string>> = { interpreter: "interpr.", jit: "jit", native: "mach. code" };

const meanTitle = "geometric mean";

const columnWidth = 14;

const shown = (value: number | null, isRatio: boolean): string =>
  value === null ? "-" : isRatio ? multiple(value) : milliseconds(value);

const engineToJson = (measurement: Times) => ({
  ms: measurement.ms,
  firstMs: firstMs(measurement),
  first: measurement.first,
});

export const rowToJson = (
  { name, group, one, all, hostBytes, ok }: BenchRow,
  compiler: string | null,
  allThreads: number,
) => {
  const [jit, interpreter, machineCode] = (["jit", "interpreter", "native"] as const).map((e) => one.engines.get(e));
  const native = one.peers.get("native");
  const peers = (["tuned", "pocl"] as const).filter((peer) => one.peers.has(peer));
  const together = all?.engines.get("jit");
  return {
    name,
    group,
    ...(jit ? { jit: { ...engineToJson(jit), threads: jit.threads } } : {}),
    ...(together ? { jitAllThreads: { ms: together.ms, threads: together.threads } } : {}),
    ...(machineCode ? { machineCode: engineToJson(machineCode) } : {}),
    ...(interpreter ? { interpreter: engineToJson(interpreter) } : {}),
    ...(native === undefined ? {} : { native: { ms: native, compiler } }),
    ...Object.fromEntries(peers.map((peer) => [peer, { ms: one.peers.get(peer)! }])),
    ...Object.fromEntries(
      [...(all?.peers ?? [])].map(([peer, ms]) => [`${peer}AllThreads`, { ms, threads: allThreads }]),
    ),
    ...(hostBytes === null ? {} : { hostBytes }),
    ok,
  };
};

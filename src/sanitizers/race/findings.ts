import { originOf } from "../../ir/index.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { nearestVariable } from "../../machine/faults/locate.ts";
import type { Finding, Grid } from "../../machine/state/launch-state.ts";
import { hex } from "../../machine/memory/address-space.ts";
import { distance } from "../../machine/memory/extent.ts";
import type { Dim3, ThreadId } from "../../machine/reports/report.ts";
import type { AccessKind } from "./access-kind.ts";
import { adviceFor, afterInit, sameBlock } from "./advice.ts";
import type { ThreadNumbers } from "./clock.ts";
import type { Earlier, Later } from "./detector.ts";
import { addressOf, areSameStores, earlierValue, laterValue } from "./values.ts";

/** Two instructions that race, and the threads that have been reported at the later one. */
interface Pair {
  readonly later: AccessKind;
  /** The race as it was first found. */
  readonly finding: Omit<Finding, "activation" | "lanes">;
  readonly threads: Set<number>;
}

/**
 * Reports races: each pair of instructions once, at the one that came later in the run, with all threads that race
 * there.
 */
export class Findings {
  readonly #grid: Grid;
  readonly #threads: ThreadNumbers;
  readonly #pairs = new Map<AccessKind, Map<AccessKind, Pair>>();

  constructor(grid: Grid, threads: ThreadNumbers) {
    this.#grid = grid;
    this.#threads = threads;
  }

  add(earlier: Earlier, later: Later): void {
    const known = this.#pairs.get(later.kind)?.get(earlier.kind);
    if (known !== undefined && (known.later !== later.kind || known.threads.has(itemOf(later)))) return;
    if (areSameStores(earlier, later)) return;
    const { event, lane } = later;
    const pair = known ?? this.#open(earlier, later);
    pair.threads.add(itemOf(later));
    this.#grid.reports.add({ ...pair.finding, activation: event.activation, lanes: 1 << lane });
  }

  #open(earlier: Earlier, later: Later): Pair {
    const pair = { later: later.kind, finding: this.#describe(earlier, later), threads: new Set<number>() };
    this.#enter(later.kind, earlier.kind, pair);
    this.#enter(earlier.kind, later.kind, pair);
    return pair;
  }

  #enter(a: AccessKind, b: AccessKind, pair: Pair): void {
    let of = this.#pairs.get(a);
    if (of === undefined) this.#pairs.set(a, (of = new Map()));
    of.set(b, pair);
  }

  #describe(earlier: Earlier, later: Later): Pair["finding"] {
    const { event, kind, lane } = later;
    const { activation, site, access, warp } = event;
    const address = addressOf(later);
    const size = accessBytes(access);
    const near = nearestVariable(activation, lane, address);
    const where = near === null ? "" : `, ${distance(near, address.low, size)}`;
    const what =
      kind.effect === "free"
        ? `frees ${near?.name ?? `${size} bytes`} at ${hex(address)}`
        : `${verbs[kind.effect]} ${size} bytes (${access.space}) at ${hex(address)}${where}`;
    const [first, second] = [this.#idOf(earlier.thread), this.#idOf(itemOf(later))];
    const sameWarp = earlier.thread >>> 5 === later.thread >>> 5;
    const isInit = earlier.kind.makesMbarrier && !sameBlock(first, second);
    return {
      code: isInit ? "mbarrier-fence-missing" : "data-race",
      severity: "error",
      message: isInit
        ? `${what}, an mbarrier that another block has initialized; nothing orders the two`
        : `${what}; nothing orders it and ${nouns[earlier.kind.effect]} by another thread`,
      help: isInit ? afterInit : adviceFor(earlier.kind, kind, sameWarp, sameBlock(first, second), warp.lockstep),
      notes: [`${nameOf(second)} ${verbs[kind.effect]} ${kind.effect === "free" ? "it" : shown(laterValue(later))}`],
      related: [
        {
          message: `${nameOf(first)} ${verbs[earlier.kind.effect]} ${shown(earlierValue(earlier, later))}`,
          source: earlier.kind.site.code.ir.source,
          span: earlier.kind.site.instruction.span,
          origin: originOf(earlier.kind.site.code.ir, earlier.kind.site.instruction),
          thread: first,
        },
      ],
      site,
    };
  }

  #idOf(thread: number): ThreadId {
    const [gx, gy] = this.#grid.dimensions;
    const [bx, by] = this.#grid.block;
    const { perBlock } = this.#threads;
    const ticket = Math.floor(thread / perBlock);
    const width = this.#grid.threads?.width ?? 32;
    const within = thread - ticket * perBlock;
    const t = (within >>> 5) * width + (within & 31);
    const block: Dim3 = [ticket % gx, Math.floor(ticket / gx) % gy, Math.floor(ticket / (gx * gy))];
    return { block, thread: [t % bx, Math.floor(t / bx) % by, Math.floor(t / (bx * by))] };
  }
}

/** The number of the work item in messages. A vISA thread has many lanes, with a work item each. */
const itemOf = ({ event, thread, lane }: Later): number => (event.warp.lockstep ? thread + lane : thread);

const nouns = { load: "a load", store: "a store", atomic: "an atomic operation", free: "a call of free" } as const;
const verbs = { load: "loads", store: "stores", atomic: "updates", free: "frees" } as const;

const nameOf = ({ block, thread }: ThreadId): string => `thread (${thread.join(",")}) of block (${block.join(",")})`;

const shown = (value: bigint): string => `0x${value.toString(16)}`;

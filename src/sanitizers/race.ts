import { warpTraits } from "../ir/index.ts";
import type {
  AccessEvent,
  BarrierEvent,
  BarrierReleaseEvent,
  CallEvent,
  ClusterBarrierEvent,
  ClusterReleaseEvent,
  InstructionEvent,
  Observer,
  RangeEvent,
  WarpEvent,
} from "../machine/events.ts";
import type { Cluster, Cta, Grid, Warp } from "../machine/state/launch-state.ts";
import { type Clock, join, ThreadNumbers } from "./race/clock.ts";
import { Detector, type OnRace } from "./race/detector.ts";
import { Findings } from "./race/findings.ts";
import { accessOfRange } from "./race/range-access.ts";
import { PublishedValues } from "./race/published.ts";
import { Round } from "./race/round.ts";
import { WarpOrder } from "./race/warp-order.ts";

const shared = new Set(["generic", "global", "shared", "shared-cluster"]);

/**
 * Reports data races as the memory consistency model (chapter 8) defines them: unordered accesses of two threads to the
 * same memory, one of which writes. Accesses are ordered by the synchronization that happened in the run: barriers,
 * `bar.warp.sync`, fences, and strong accesses that read what others have published. The schedule does not order them:
 * converged lanes race like any others.
 *
 * Time counts the points of synchronization of the whole launch. One observer watches one launch.
 */
export class RaceSanitizer implements Observer {
  #time = 1;
  #threads!: ThreadNumbers;
  #detector!: Detector;
  readonly #orders = new WeakMap<Warp, WarpOrder>();
  readonly #rounds = new WeakMap<Cta, Map<number, Round>>();
  /** What is ordered before the phase of a cluster's barrier that goes on, and before the last one that is complete. */
  readonly #phases = new WeakMap<Cluster, { coming: Clock; complete: Clock }>();
  /**
   * What is ordered before the `fence.sc` so far: by block, for those of any scope; and for those of a larger scope
   * (8.9.3).
   */
  readonly #nearFences = new WeakMap<Cta, { block: number; clock: Clock }>();
  #farFences: Clock = 0;
  readonly #tick = (): number => ++this.#time;
  readonly #found: (() => void) | null;

  /** `found`: called for each race instead of reporting it, where that could not be described. */
  constructor(found: (() => void) | null = null) {
    this.#found = found;
  }

  launchBegin(grid: Grid): void {
    const [gx, gy, gz] = grid.dimensions;
    const [bx, by, bz] = grid.block;
    const warps = Math.ceil((bx * by * bz) / (grid.threads?.width ?? 32));
    this.#threads = new ThreadNumbers(gx * gy * gz, warps);
    const findings = new Findings(grid, this.#threads);
    const onRace: OnRace = this.#found ?? ((earlier, later) => findings.add(earlier, later));
    this.#detector = new Detector(grid, this.#threads, new PublishedValues(this.#tick), onRace);
  }

  blockBegin(cta: Cta): void {
    const time = this.#tick();
    for (const warp of cta.warps) this.#orders.set(warp, new WarpOrder(warp, this.#threads, time));
    this.#rounds.set(cta, new Map());
  }

  access(e: AccessEvent): void {
    if (!shared.has(e.access.space)) return;
    this.#detector.access(e, this.#orders.get(e.warp)!);
  }

  range(e: RangeEvent): void {
    if (!shared.has(e.access.space)) return;
    this.#detector.access(accessOfRange(e), this.#orders.get(e.warp)!, e);
  }

  instruction(e: InstructionEvent): void {
    const { op } = e.site.instruction;
    // A product is the whole warp's: its accesses, which one lane makes here, are ordered for all lanes with the fence
    // before it and with the wait after it.
    if (op.kind === "order-products" && op.step !== "commit") this.#orders.get(e.warp)!.meet(e.mask, this.#tick());
    if (op.kind !== "fence") return;
    const order = this.#orders.get(e.warp)!;
    const mask = order.threadsOf(e.mask);
    const wide = op.scope !== "cta";
    if (op.order !== "release") order.acquire(mask, wide);
    if (op.order === "sc") this.#sequential(e.warp.cta, order, mask, wide);
    if (op.order !== "acquire") order.fence(mask, this.#tick(), wide);
  }

  call(e: CallEvent): void {
    const { ir } = e.callee;
    this.#detector.optimistic.called(e.site.instruction, ir);
    if (ir.external && ir.name === "free") this.#detector.free(e, this.#orders.get(e.warp)!);
  }

  barrier({ warp, mask, barrier, mode }: BarrierEvent): void {
    const order = this.#orders.get(warp)!;
    const rounds = this.#rounds.get(warp.cta)!;
    let round = rounds.get(barrier);
    if (round === undefined) rounds.set(barrier, (round = new Round(barrier)));
    round.come(order, order.threadsOf(mask), mode, this.#tick);
  }

  barrierRelease({ cta, barrier }: BarrierReleaseEvent): void {
    this.#rounds.get(cta)!.get(barrier)?.complete(cta, this.#tick());
  }

  /**
   * Section 9.7.13.3: what threads did before they arrived is ordered before what those do that have waited. A relaxed
   * arrival orders only what a fence before it has published.
   */
  clusterBarrier({ warp, mask, mode, order: kind }: ClusterBarrierEvent): void {
    const order = this.#orders.get(warp)!;
    const phases = this.#phasesOf(warp.cta.cluster);
    if (mode === "wait") order.learn(mask, phases.complete);
    else {
      const past = kind === "relaxed" ? order.fencedPast(mask) : order.past(mask, this.#tick());
      phases.coming = join(phases.coming, past);
    }
  }

  clusterRelease({ cluster }: ClusterReleaseEvent): void {
    const phases = this.#phasesOf(cluster);
    phases.complete = phases.coming;
    phases.coming = 0;
  }

  #phasesOf(cluster: Cluster): { coming: Clock; complete: Clock } {
    let phases = this.#phases.get(cluster);
    if (phases === undefined) this.#phases.set(cluster, (phases = { coming: 0, complete: 0 }));
    return phases;
  }

  /**
   * Section 9.7.13.2: of the warp-wide operations, only `bar.warp.sync` orders memory. The others pass on what a lane
   * has acquired from other warps.
   */
  warp({ warp, mask, site }: WarpEvent): void {
    const { op } = site.instruction;
    if (op.kind !== "warp") return;
    const order = this.#orders.get(warp)!;
    if (warpTraits[op.warp.op].ordersMemory) order.meet(mask, this.#tick());
    else if (op.mask !== null && order.hasAcquired) order.learn(mask, order.acquiredBy(mask));
  }

  /** Section 8.9.4, rule 1: a `fence.sc` is ordered after those that were executed before it. */
  #sequential(cta: Cta, order: WarpOrder, mask: number, wide: boolean): void {
    let near = this.#nearFences.get(cta);
    if (near?.block !== order.block) this.#nearFences.set(cta, (near = { block: order.block, clock: 0 }));
    order.learn(mask, near.clock);
    if (wide) order.learn(mask, this.#farFences);
    const past = order.past(mask, this.#tick());
    near.clock = join(near.clock, past);
    if (wide) this.#farFences = join(this.#farFences, past);
  }
}

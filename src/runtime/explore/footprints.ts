import { lowestLane } from "../../ir/lane-mask.ts";
import { windows } from "../../ir/index.ts";
import type {
  AccessEvent,
  BarrierEvent,
  BarrierReleaseEvent,
  CallEvent,
  ClusterBarrierEvent,
  Observer,
} from "../../machine/events.ts";
import { placeInCluster, sharedOwner } from "../../machine/state/cluster.ts";
import type { Grid, Warp } from "../../machine/state/launch-state.ts";

/** At least as many as a block can have. */
const maxWarps = 1024;

/** A number that identifies a warp within its launch. */
export const warpId = ({ cta, index }: Warp): number => cta.ticket * maxWarps + index;

/** The effects of a warp, as far as others can observe them, between two places at which other warps could have run. */
interface Stretch {
  readonly warp: number;
  readonly launch: number;
  /** The number of barriers that the whole block had passed when it began. */
  readonly epoch: number;
  /** The choices since the previous stretch, and those that gave the warp its turn. */
  readonly choices: readonly number[];
  readonly begun: readonly number[];
  readonly reads: Set<number>;
  readonly writes: Set<number>;
}

/** For each choice, the warps for which switching to them there makes a difference. */
export type Conflicts = ReadonlyMap<number, ReadonlySet<number>>;

/** The most words remembered per run. */
const maxWords = 1 << 20;

/**
 * Keys of what a warp accesses: words of global memory, then words of the blocks' shared memory; below 0 the functions
 * that the machine provides, and barriers.
 */
const sharedKeys = 2 ** 33;
const sharedWords = (windows.shared.end - windows.shared.start) / 4;
const machineKey = -1;
const barrierKey = (block: number, barrier: number): number => -2 - block * 32 - barrier;

/**
 * Records what each warp accesses between two choices of a steered run. Two stretches that access nothing in common, or
 * only read it, can be swapped without any effect: switching from one to the other is pointless.
 */
export class Footprints implements Observer {
  readonly #choiceCount: () => number;
  readonly #stretches: Stretch[] = [];
  #launch = -1;
  #epochs = new Map<number, number>();
  /** The warps that wait at each barrier with all of their lanes. */
  readonly #arrived = new Map<number, Set<number>>();
  /** Barriers at which not all warps of the block wait: the order of arrival may matter there. */
  readonly #partial = new Set<number>();
  #from = 0;
  #begun: readonly number[] = [];
  #words = 0;
  #isKnown = true;

  /** `choiceCount` returns the number of choices so far. */
  constructor(choiceCount: () => number) {
    this.#choiceCount = choiceCount;
  }

  launchBegin(): void {
    this.#launch++;
    this.#epochs = new Map();
    this.#arrived.clear();
  }

  launchEnd(grid: Grid): void {
    // The value of a clock depends on everything that has run before.
    if (grid.clockReads > 0) this.#isKnown = false;
  }

  access(event: AccessEvent): void {
    const { warp, mask, addressWords: words, access, effect } = event;
    const { grid } = warp.cta;
    let stretch: Stretch | null = null;
    const bytes = (access.bits / 8) * access.count;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const low = words[2 * lane]! >>> 0;
      const { kind, ...rest } = grid.addresses.classify({ high: words[2 * lane + 1]! >>> 0, low });
      if (kind !== "global" && kind !== "shared") continue;
      const { block, low: own } = kind === "global" ? { block: null, low } : sharedOwner(warp.cta, low);
      const first = "offset" in rest ? rest.offset : own - windows.shared.start;
      const { ticket } = block === null || typeof block === "string" ? warp.cta : block;
      const base = kind === "global" ? 0 : sharedKeys + ticket * sharedWords;
      stretch ??= this.#begin(warp);
      for (let word = first >>> 2; word <= (first + bytes - 1) >>> 2; word++) {
        this.#touch(effect === "load" ? stretch.reads : stretch.writes, base + word);
      }
    }
  }

  call(event: CallEvent): void {
    if (event.callee.ir.external) this.#touch(this.#begin(event.warp).writes, machineKey);
  }

  /** What threads do at the barrier of their cluster is in order. */
  clusterBarrier({ warp }: ClusterBarrierEvent): void {
    const { grid, id } = warp.cta;
    const [x, y, z] = placeInCluster(grid, id).clusterid;
    const [gx, gy, gz] = grid.dimensions;
    // After the barriers of all blocks.
    this.#touch(this.#current(warp).writes, barrierKey(gx * gy * gz + x + gx * (y + gy * z), 0));
  }

  barrier({ warp, barrier, mode, mask }: BarrierEvent): void {
    const { ticket } = warp.cta;
    const key = barrierKey(ticket, barrier);
    this.#touch(this.#current(warp).writes, key);
    // Lanes that continue meanwhile are not ordered with what comes after the barrier.
    if (mode === "arrive" || mode === "wait" || mask !== warp.live) return;
    const arrived = this.#arrived.get(key) ?? new Set();
    this.#arrived.set(key, arrived.add(warpId(warp)));
  }

  barrierRelease({ cta, barrier }: BarrierReleaseEvent): void {
    const key = barrierKey(cta.ticket, barrier);
    const arrived = this.#arrived.get(key);
    this.#arrived.delete(key);
    if (cta.warps.every((warp) => warp.live === 0 || arrived?.has(warpId(warp)))) {
      this.#epochs.set(cta.ticket, (this.#epochs.get(cta.ticket) ?? 0) + 1);
    } else this.#partial.add(key);
  }

  /**
   * Returns the choices at which switching makes a difference, and to which warps; null if that is unknown, so that any
   * switch may.
   */
  conflicts(): Conflicts | null {
    if (!this.#isKnown) return null;
    const found = new Map<number, Set<number>>();
    let later = new Map<number, Map<number, Later>>();
    let launch = this.#launch;
    for (const stretch of this.#stretches.toReversed()) {
      // Launches run one after the other.
      if (stretch.launch !== launch) [later, launch] = [new Map(), stretch.launch];
      const { reads, writes, choices, begun } = stretch;
      const others = new Set<number>();
      for (const key of reads) addConflicts(stretch, later.get(key), false, others);
      for (const key of writes) if (this.#counts(key)) addConflicts(stretch, later.get(key), true, others);
      for (const at of others.size > 0 ? [...choices, ...begun] : []) {
        const known = found.get(at) ?? new Set();
        found.set(at, known);
        for (const warp of others) known.add(warp);
      }
      for (const key of reads) note(later, key, stretch, false);
      for (const key of writes) note(later, key, stretch, true);
    }
    return found;
  }

  /**
   * Whether accesses to this key can conflict. A barrier at which the whole block waits releases everybody, in whatever
   * order they arrive.
   */
  #counts(key: number): boolean {
    return key >= machineKey || this.#partial.has(key);
  }

  #touch(keys: Set<number>, key: number): void {
    if (!this.#isKnown || keys.has(key)) return;
    keys.add(key);
    if (++this.#words > maxWords) {
      this.#isKnown = false;
      this.#stretches.length = 0;
    }
  }

  /** The stretch that a warp's next effect belongs to: its last one, unless another warp ran in between. */
  #current(warp: Warp): Stretch {
    const last = this.#stretches.at(-1);
    return last?.warp === warpId(warp) && last.launch === this.#launch ? last : this.#begin(warp);
  }

  #begin(warp: Warp): Stretch {
    const count = this.#choiceCount();
    const choices = Array.from({ length: count - this.#from }, (_, i) => this.#from + i);
    this.#from = count;
    const last = this.#stretches.at(-1);
    if (last?.warp !== warpId(warp) || last.launch !== this.#launch) this.#begun = choices;
    const epoch = this.#epochs.get(warp.cta.ticket) ?? 0;
    const own = { warp: warpId(warp), launch: this.#launch, epoch, choices, begun: this.#begun };
    const stretch = { ...own, reads: new Set<number>(), writes: new Set<number>() };
    if (this.#isKnown) this.#stretches.push(stretch);
    return stretch;
  }
}

/** The number of the block's barriers passed when a warp next accesses something, and when it next writes it. */
interface Later {
  any: number;
  write: number | null;
}

function note(later: Map<number, Map<number, Later>>, key: number, { warp, epoch }: Stretch, writes: boolean): void {
  let ofKey = later.get(key);
  if (ofKey === undefined) later.set(key, (ofKey = new Map()));
  const known = ofKey.get(warp);
  ofKey.set(warp, { any: epoch, write: writes ? epoch : (known?.write ?? null) });
}

/**
 * Finds the warps that later access what a stretch accesses, where one of the two writes and no barrier separates them.
 */
function addConflicts(
  { warp, epoch }: Stretch,
  ofKey: ReadonlyMap<number, Later> | undefined,
  writes: boolean,
  found: Set<number>,
): void {
  for (const [other, { any, write }] of ofKey ?? []) {
    const next = writes ? any : write;
    if (other === warp || next === null) continue;
    const isOfBlock = Math.floor(other / maxWarps) === Math.floor(warp / maxWarps);
    if (!isOfBlock || next === epoch) found.add(other);
  }
}

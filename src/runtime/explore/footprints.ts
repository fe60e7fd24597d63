import { lowestLane } from "../../ir/lane-mask.ts";
import { windows } from "../../ir/index.ts";
import type { AccessEvent, BarrierEvent, BarrierReleaseEvent, CallEvent, Observer } from "../../machine/events.ts";
import type { Grid, Warp } from "../../machine/state/launch-state.ts";

/** More than a block has warps. */
const maxWarps = 1024;

/** A warp among all of its launch. */
export const warpId = ({ cta, index }: Warp): number => cta.ticket * maxWarps + index;

/** What a warp does from one place at which others could have come between to the next, as far as others can tell. */
interface Stretch {
  readonly warp: number;
  readonly launch: number;
  /** How many barriers of the whole block had been passed when it began. */
  readonly epoch: number;
  /** The choices since the last stretch, and those that gave the warp its turn. */
  readonly choices: readonly number[];
  readonly begun: readonly number[];
  readonly reads: Set<number>;
  readonly writes: Set<number>;
}

/** By choice: the warps to which it makes a difference to turn there. */
export type Conflicts = ReadonlyMap<number, ReadonlySet<number>>;

/** Words that are remembered of a run. */
const maxWords = 1 << 20;

/**
 * Keys of what is touched: words of global memory, then those of the blocks' shared memory; what the machine provides;
 * barriers.
 */
const sharedKeys = 2 ** 33;
const sharedWords = (windows.shared.end - windows.shared.start) / 4;
const machineKey = -1;
const barrierKey = (block: number, barrier: number): number => -2 - block * 32 - barrier;

/**
 * Notes what each warp touches between two choices of a steered run. Two stretches that touch nothing in common, or
 * only read it, may change places, and nobody can tell: to turn from the one to the other is of no use.
 */
export class Footprints implements Observer {
  readonly #choiceCount: () => number;
  readonly #stretches: Stretch[] = [];
  #launch = -1;
  #epochs = new Map<number, number>();
  /** Warps that wait at a barrier, with all of their lanes. */
  readonly #arrived = new Map<number, Set<number>>();
  /** Barriers for which not all warps of the block wait: who comes first may count. */
  readonly #partial = new Set<number>();
  #from = 0;
  #begun: readonly number[] = [];
  #words = 0;
  #isKnown = true;

  /** `choiceCount`: how many choices there have been. */
  constructor(choiceCount: () => number) {
    this.#choiceCount = choiceCount;
  }

  launchBegin(): void {
    this.#launch++;
    this.#epochs = new Map();
    this.#arrived.clear();
  }

  launchEnd(grid: Grid): void {
    // What clocks show depends on all that has been before.
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
      const first = "offset" in rest ? rest.offset : low - windows.shared.start;
      const base = kind === "global" ? 0 : sharedKeys + warp.cta.ticket * sharedWords;
      stretch ??= this.#begin(warp);
      for (let word = first >>> 2; word <= (first + bytes - 1) >>> 2; word++) {
        this.#touch(effect === "load" ? stretch.reads : stretch.writes, base + word);
      }
    }
  }

  call(event: CallEvent): void {
    if (event.callee.ir.external) this.#touch(this.#begin(event.warp).writes, machineKey);
  }

  barrier({ warp, barrier, mode, mask }: BarrierEvent): void {
    const { ticket } = warp.cta;
    const key = barrierKey(ticket, barrier);
    this.#touch(this.#current(warp).writes, key);
    // Lanes that go on meanwhile are not kept apart from those behind it.
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

  /** At which choices it makes a difference to turn, and to whom; null: not known, so at any, to anybody. */
  conflicts(): Conflicts | null {
    if (!this.#isKnown) return null;
    const found = new Map<number, Set<number>>();
    let later = new Map<number, Map<number, Later>>();
    let launch = this.#launch;
    for (const stretch of this.#stretches.toReversed()) {
      // Launches come one behind the other.
      if (stretch.launch !== launch) [later, launch] = [new Map(), stretch.launch];
      const { reads, writes, choices, begun } = stretch;
      const others = new Set<number>();
      for (const key of reads) meet(stretch, later.get(key), false, others);
      for (const key of writes) if (this.#counts(key)) meet(stretch, later.get(key), true, others);
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

  /** A barrier at which the whole block waits lets all go on, whoever comes first. */
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

  /** What a warp does belongs to its last stretch, if nobody came between. */
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

/** When a warp touches something next, and when it writes it next, in barriers of its block. */
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

/** The warps that touch later what a stretch does, where one of both writes it and no barrier keeps them apart. */
function meet(
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

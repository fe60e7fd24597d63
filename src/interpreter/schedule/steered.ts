import { popcount } from "../../ir/lane-mask.ts";
import type { Steering } from "../../machine/launch.ts";
import type { Restore } from "../../machine/memory/checkpoint.ts";
import type { BasicBlock, Cta, Group, Warp } from "../../machine/state/launch-state.ts";
import { deadlock } from "../../program/deadlock.ts";
import type { Limits } from "./limits.ts";
import { RecordedSteering } from "./recorded.ts";
import type { ResidentBlocks } from "./resident-blocks.ts";
import { pick } from "./run-warp.ts";
import type { Schedule } from "./schedule.ts";
import { Stalls } from "./stalls.ts";

/** Blocks that run at the same time, unless these wait for others. */
const usualResident = 4;

/** Basic blocks between two looks at the limits. */
const limitInterval = 256;

interface SteeredOptions {
  readonly limits: Limits;
  readonly steering: Steering;
  /** Whether groups of one warp may be interrupted as warps are. */
  readonly apart: boolean;
}

/**
 * All blocks of a grid as `steering` decides: before every access that others can see it says whether the warp goes on
 * or which other one runs, and, when a warp waits or has ended, which is next. Expects functions in fine blocks.
 */
export class SteeredSchedule implements Schedule {
  readonly quantum = 1;
  readonly #resident: ResidentBlocks;
  readonly #options: SteeredOptions;
  readonly #steering: RecordedSteering;
  #rounds = 0;
  /** The basic block that the current warp runs. */
  #block: BasicBlock | null = null;
  #current: Warp | null = null;
  /** What the steering has chosen to make the next visible access; it is not asked again before that. */
  #chosen: "warp" | "group" | null = null;
  /** The other warps that can run, in the order of their turns; null: not known. */
  #others: readonly Warp[] | null = null;
  /**
   * Warps that have given way, which do not run before all others wait, and whether any warp has waited or ended
   * meanwhile.
   */
  #spinning = new Set<Warp>();
  #progressed = false;
  /** Counts rounds in which all warps have waited in vain. */
  readonly #stalls = new Stalls();

  constructor(resident: ResidentBlocks, options: SteeredOptions) {
    this.#resident = resident;
    resident.late = true;
    this.#options = options;
    this.#steering = new RecordedSteering(options.steering);
  }

  get blocks(): readonly Cta[] {
    return this.#resident.blocks;
  }

  next(): Warp | null {
    const resident = this.#resident;
    while (!resident.ended) {
      const round = this.#rounds++;
      if (resident.blocks.length < usualResident) this.#open(usualResident - resident.blocks.length);
      const next = this.#next();
      if (next === null) continue;
      const { warp } = next.activation;
      if (warp !== this.#current) {
        this.#current = warp;
        this.#chosen = "warp";
        this.#others = null;
      }
      if (round % limitInterval === 0) this.#options.limits.check(warp);
      this.#block = next.at;
      return warp;
    }
    return null;
  }

  took(warp: Warp): void {
    const { visible, terminator } = this.#block!;
    const ending = terminator?.site.instruction.op.kind ?? null;
    // A warp that comes to a barrier may go on, and so may those that waited for it.
    if (visible || ending === "barrier" || ending === "cluster-barrier") this.#chosen = null;
    // Others begin or cease to wait only at the end of a block that is more than a jump.
    if (ending !== null && ending !== "branch") this.#others = null;
    if (warp.yielded) this.#spinning.add(warp);
    if (warp.live === 0) this.#end(warp);
  }

  checkpoint(): Restore {
    const parts = [this.#resident.checkpoint(), this.#steering.checkpoint(), this.#stalls.checkpoint()];
    const spinning = [...this.#spinning];
    const [rounds, block, current] = [this.#rounds, this.#block, this.#current];
    const [chosen, others, progressed] = [this.#chosen, this.#others, this.#progressed];
    return () => {
      for (const restore of parts) restore();
      this.#spinning = new Set(spinning);
      [this.#rounds, this.#block, this.#current] = [rounds, block, current];
      [this.#chosen, this.#others, this.#progressed] = [chosen, others, progressed];
    };
  }

  #open(count: number): void {
    this.#resident.open(count);
    this.#others = null;
  }

  #end({ cta }: Warp): void {
    if (cta.liveWarps > 0) return;
    this.#resident.close(cta);
    this.#current = null;
    this.#others = null;
    this.#options.limits.progress(this.#resident.done, this.#resident.total);
  }

  /** The group that runs next, which its warp then picks first; null when the question has to be asked again. */
  #next(): Group | null {
    const warp = this.#current;
    const spins = warp !== null && this.#spinning.has(warp);
    const group = warp === null || spins || warp.live === 0 ? null : pick(warp);
    if (group === null && !spins) this.#progressed = true;
    this.#others ??= this.#ready();
    if (group === null) return this.#another();
    if (!group.at.visible || this.#chosen === "group") return group;
    const siblings = this.#options.apart ? others(warp!, group) : [];
    const warps = this.#chosen === "warp" ? [] : this.#others;
    const ways = 1 + siblings.length + warps.length;
    const groupOf = (way: number): Group =>
      way === 0 ? group : way <= siblings.length ? siblings[way - 1]! : pick(warps[way - 1 - siblings.length]!)!;
    const way = ways === 1 ? 0 : this.#steering.choose(ways, group, groupOf);
    const next = groupOf(way);
    if (way === 0 || way > siblings.length) return next;
    this.#chosen = "group";
    return prefer(next);
  }

  /** The current warp cannot go on. */
  #another(): Group | null {
    const ready = this.#others!;
    const groupOf = (way: number): Group => pick(ready[way]!)!;
    if (ready.length > 0) return groupOf(ready.length === 1 ? 0 : this.#steering.choose(ready.length, null, groupOf));
    this.#others = null;
    if (!this.#progressed && this.#resident.completeEffects()) this.#progressed = true;
    if (this.#spinning.size === 0) throw deadlock(this.#resident.blocks[0]!);
    // If all only spin, the block that they wait for may not have begun.
    if (!this.#progressed) this.#open(this.#resident.blocks.length);
    const { blocks } = this.#resident;
    for (const cta of blocks) this.#stalls.turn(cta, blocks);
    this.#spinning.clear();
    this.#progressed = false;
    return null;
  }

  /** The other warps that can run, beginning with those after the current one. */
  #ready(): Warp[] {
    const all = this.#resident.blocks.flatMap((cta) => cta.warps);
    const at = this.#current === null ? -1 : all.indexOf(this.#current);
    const turn = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))];
    return turn.filter((warp) => warp.live !== 0 && !this.#spinning.has(warp) && pick(warp) !== null);
  }
}

/** The other groups of a warp that could run, the largest first. */
const others = (warp: Warp, group: Group): Group[] =>
  warp.groups
    .filter((g) => g !== group && g.wait === null)
    .sort((a, b) => popcount(b.mask) - popcount(a.mask) || (a.mask & -a.mask) - (b.mask & -b.mask));

/** Puts a group before the others of its warp. */
function prefer(group: Group): Group {
  const { groups } = group.activation.warp;
  group.turn = Math.min(...groups.map((g) => g.turn)) - 1;
  return group;
}

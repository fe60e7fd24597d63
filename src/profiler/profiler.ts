import { popcount } from "../ir/lane-mask.ts";
import type {
  AccessEvent,
  BarrierEvent,
  BarrierReleaseEvent,
  BranchEvent,
  CallEvent,
  EnterEvent,
  InstructionEvent,
  Observer,
} from "../machine/events.ts";
import type { Activation, Cta, Grid, Warp } from "../machine/state/launch-state.ts";
import type { Site } from "../machine/state/code.ts";
import { BarrierWaits } from "./barrier-waits.ts";
import { type CallNode, CallTree } from "./call-tree.ts";
import { newTally, type Tally } from "./counts.ts";
import { MemoryCounter } from "./memory-counter.ts";
import { type Timeline, TimelineRecorder } from "./timeline.ts";

/** Warps whose timelines are kept. */
const timelineLimits = { ofLaunch: 4, ofAll: 32 } as const;

export interface ProfilerOptions {
  /** How many warps of a launch have timelines (default: 4): the first of them. A profiler keeps 32 in all. */
  readonly timelinesOfLaunch?: number;
}

/** A launch that was watched. */
export interface ProfiledLaunch {
  readonly kernel: string;
  readonly grid: Grid["dimensions"];
  readonly block: Grid["block"];
  readonly warps: number;
  readonly warpInstructions: number;
  readonly threadInstructions: number;
}

/** What was seen at one instruction. */
export interface SiteCounts {
  readonly site: Site;
  readonly tally: Tally;
  /** By the name of the callee, how often lanes have gone there. */
  readonly targets: Map<string, number>;
}

/**
 * Counts what launches do, at every instruction; it may watch one launch after the other. The numbers are those of the
 * deterministic schedule: the same launch gives the same ones.
 */
export class Profiler implements Observer {
  readonly sites = new Map<Site, SiteCounts>();
  readonly launches: ProfiledLaunch[] = [];
  readonly tree = new CallTree();
  readonly #memory = new MemoryCounter();
  readonly #waits = new Map<Cta, BarrierWaits>();
  readonly #recorders = new Map<Warp, TimelineRecorder>();
  readonly #timelines: TimelineRecorder[] = [];
  readonly #timelinesOfLaunch: number;
  #recorded = 0;
  #running: { warps: number; warpInstructions: number; threadInstructions: number } | null = null;
  /** Where the last instruction was. */
  #activation: Activation | null = null;
  #node: CallNode | null = null;
  #width = 32;
  /** The lanes that execute the instruction which runs. */
  #lanes = 0;

  constructor({ timelinesOfLaunch = timelineLimits.ofLaunch }: ProfilerOptions = {}) {
    this.#timelinesOfLaunch = timelinesOfLaunch;
  }

  get timelines(): readonly Timeline[] {
    return this.#timelines.map((recorder) => recorder.timeline());
  }

  launchBegin(grid: Grid): void {
    this.#recorded = 0;
    this.#width = grid.threads?.width ?? 32;
    this.#running = { warps: 0, warpInstructions: 0, threadInstructions: 0 };
  }

  launchEnd(grid: Grid): void {
    const { kernel, dimensions, block } = grid;
    this.launches.push({ kernel, grid: dimensions, block, ...this.#running! });
    this.#waits.clear();
    this.#recorders.clear();
    this.#activation = null;
  }

  blockBegin(cta: Cta): void {
    this.#running!.warps += cta.warps.length;
    this.#waits.set(cta, new BarrierWaits(cta));
    for (const warp of cta.warps) {
      if (this.#recorded >= this.#timelinesOfLaunch || this.#timelines.length >= timelineLimits.ofAll) break;
      this.#recorded++;
      const recorder = new TimelineRecorder(warp);
      this.#recorders.set(warp, recorder);
      this.#timelines.push(recorder);
    }
  }

  blockEnd(cta: Cta): void {
    this.#waits.delete(cta);
    for (const warp of cta.warps) this.#recorders.delete(warp);
  }

  /** An instruction whose guard holds for no lane has been issued all the same, and lanes decide a branch that they do not take. */
  guard(e: InstructionEvent): void {
    this.#issue(e);
    if (e.site.instruction.op.kind === "branch") this.#execute(e);
  }

  instruction(e: InstructionEvent): void {
    const { site, mask } = e;
    // The end of a function's text stands for a return, and is no instruction.
    if (site.index === site.code.ir.instructions.length) return;
    const { op, guard } = site.instruction;
    if (guard === null) this.#issue(e);
    if (guard === null || op.kind !== "branch") this.#execute(e);
    this.#lanes = mask;
    if (op.kind === "barrier") this.#waits.get(e.warp.cta)!.come(e);
    else if (op.kind === "subroutine-call") this.#call(e, site.code.ir.name);
  }

  access(e: AccessEvent): void {
    this.#memory.add(e, this.#at(e.site).tally);
  }

  branch({ site, mask, group }: BranchEvent): void {
    const { tally } = this.#at(site);
    const { op, guard } = site.instruction;
    if (op.kind === "branch") {
      if (guard === null) return;
      tally.branches++;
      if (mask !== 0 && mask !== group) tally.divergentBranches++;
    } else if (this.#isFirst(mask)) {
      tally.branches++;
      if (mask !== this.#lanes) tally.divergentBranches++;
    }
  }

  call(e: CallEvent): void {
    this.#call(e, e.callee.ir.name);
  }

  enter({ activation }: EnterEvent): void {
    this.tree.enter(activation);
    if (activation === this.#activation) this.#activation = null;
  }

  barrier(e: BarrierEvent): void {
    this.#at(e.site).tally.barrierArrivals++;
    this.#waits.get(e.warp.cta)!.arrive(e);
  }

  barrierRelease(e: BarrierReleaseEvent): void {
    for (const { site, waited, behind } of this.#waits.get(e.cta)!.release(e)) {
      const { tally } = this.#at(site);
      tally.barrierWaited += waited;
      tally.barrierBehind += behind;
    }
  }

  #issue(e: InstructionEvent): void {
    const { warp, activation, site, group } = e;
    const { tally } = this.#at(site);
    tally.warpInstructions++;
    tally.reachedLanes += popcount(group);
    // In vISA an instruction says for how many lanes it is; one that moves all of them at once does not.
    const { lanes } = site.instruction;
    tally.laneSlots += lanes === undefined || lanes.uniform ? this.#width : lanes.count;
    this.#running!.warpInstructions++;
    if (activation !== this.#activation) {
      this.#activation = activation;
      this.#node = this.tree.at(activation);
    }
    this.#node!.warpInstructions++;
    this.#waits.get(warp.cta)!.tick(warp);
    this.#recorders.get(warp)?.add(e);
  }

  #execute({ site, mask }: InstructionEvent): void {
    const lanes = popcount(mask);
    this.#at(site).tally.threadInstructions += lanes;
    this.#node!.threadInstructions += lanes;
    this.#running!.threadInstructions += lanes;
  }

  #call({ site, mask }: InstructionEvent | CallEvent, callee: string): void {
    const { tally, targets } = this.#at(site);
    const lanes = popcount(mask);
    tally.callLanes += lanes;
    targets.set(callee, (targets.get(callee) ?? 0) + lanes);
    if (!this.#isFirst(mask)) return;
    tally.calls++;
    if (mask !== this.#lanes) tally.divergentCalls++;
  }

  /** Of the parts into which an indexed branch or a call splits its lanes, one has the lowest of them. */
  #isFirst(mask: number): boolean {
    return (mask & this.#lanes & -this.#lanes) !== 0;
  }

  #at(site: Site): SiteCounts {
    let found = this.sites.get(site);
    if (found === undefined) this.sites.set(site, (found = { site, tally: newTally(), targets: new Map() }));
    return found;
  }
}

import { popcount } from "../ir/lane-mask.ts";
import type {
  AccessEvent,
  BarrierEvent,
  BarrierReleaseEvent,
  BranchEvent,
  CallEvent,
  CellsEvent,
  EnterEvent,
  InstructionEvent,
  Observer,
  RangeEvent,
} from "../machine/events.ts";
import { accessBytes } from "../machine/faults/access-fault.ts";
import { isAsyncCopy } from "./async-copy.ts";
import type { Activation, Cta, Grid, Warp } from "../machine/state/launch-state.ts";
import type { Site } from "../machine/state/code.ts";
import { BarrierWaits } from "./barrier-waits.ts";
import { type CallNode, CallTree } from "./call-tree.ts";
import { newTally, type Tally } from "./counts.ts";
import { matrixWorkOf } from "./matrix-work.ts";
import { MemoryCounter } from "./memory-counter.ts";
import { type Timeline, TimelineRecorder } from "./timeline.ts";

/** The most warps whose timelines are kept: of a launch by default, and in all. */
const timelineLimits = { ofLaunch: 4, ofAll: 32 } as const;

/** Options of a profiler. */
export interface ProfilerOptions {
  /**
   * For how many warps of each launch a timeline is kept, from the first one on. Default: 4. A profiler keeps at most
   * 32 in all.
   */
  readonly timelinesOfLaunch?: number;
}

/** A launch that was profiled. */
export interface ProfiledLaunch {
  /** Name of the kernel. */
  readonly kernel: string;
  /** Blocks in x, y and z. */
  readonly grid: Grid["dimensions"];
  /** Threads of a block in x, y and z. */
  readonly block: Grid["block"];
  /** Warps that were started. */
  readonly warps: number;
  /** Instructions that groups of lanes issued. */
  readonly warpInstructions: number;
  /** Instructions that lanes executed. */
  readonly threadInstructions: number;
}

/** The counts of one instruction. */
export interface SiteCounts {
  readonly site: Site;
  readonly tally: Tally;
  /** By callee, how many lanes called it. */
  readonly targets: Map<string, number>;
}

/**
 * An observer that counts what launches do at every instruction. Pass it as one of the `observers` of one or several
 * launches, one launch at a time; `profileOf` evaluates it. The counts are those of the deterministic schedule, so the
 * same launch always gives the same ones.
 */
export class Profiler implements Observer {
  /** The counts of each instruction. @internal */
  readonly sites = new Map<Site, SiteCounts>();
  /** The launches that have ended. */
  readonly launches: ProfiledLaunch[] = [];
  /** The calls so far. @internal */
  readonly tree = new CallTree();
  readonly #memory = new MemoryCounter();
  readonly #waits = new Map<Cta, BarrierWaits>();
  readonly #recorders = new Map<Warp, TimelineRecorder>();
  readonly #timelines: TimelineRecorder[] = [];
  readonly #timelinesOfLaunch: number;
  #recorded = 0;
  #running: { warps: number; warpInstructions: number; threadInstructions: number } | null = null;
  /** The activation and the node of the last instruction. */
  #activation: Activation | null = null;
  #node: CallNode | null = null;
  #width = 32;
  /** The lanes that execute the current instruction. */
  #lanes = 0;

  constructor({ timelinesOfLaunch = timelineLimits.ofLaunch }: ProfilerOptions = {}) {
    this.#timelinesOfLaunch = timelinesOfLaunch;
  }

  /** The timelines recorded so far. */
  get timelines(): readonly Timeline[] {
    return this.#timelines.map((recorder) => recorder.timeline());
  }

  /** Begins to count a launch. */
  launchBegin(grid: Grid): void {
    this.#recorded = 0;
    this.#width = grid.threads?.width ?? 32;
    this.#running = { warps: 0, warpInstructions: 0, threadInstructions: 0 };
  }

  /** Adds the launch to `launches`. */
  launchEnd(grid: Grid): void {
    const { kernel, dimensions, block } = grid;
    this.launches.push({ kernel, grid: dimensions, block, ...this.#running! });
    this.#waits.clear();
    this.#recorders.clear();
    this.#activation = null;
  }

  /** Counts the block's warps, and begins timelines for the first ones. */
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

  /** Forgets the block's barriers and warps. */
  blockEnd(cta: Cta): void {
    this.#waits.delete(cta);
    for (const warp of cta.warps) this.#recorders.delete(warp);
  }

  /**
   * An instruction is issued even if its guard holds for no lane, and a guarded branch is executed by the lanes that do
   * not take it, too.
   */
  guard(e: InstructionEvent): void {
    this.#issue(e);
    if (e.site.instruction.op.kind === "branch") this.#execute(e);
  }

  instruction(e: InstructionEvent): void {
    const { site, mask } = e;
    // The end of a function's text acts as a return but is not an instruction.
    if (site.index === site.code.ir.instructions.length) return;
    const { op, guard } = site.instruction;
    if (guard === null) this.#issue(e);
    if (guard === null || op.kind !== "branch") this.#execute(e);
    this.#lanes = mask;
    const work = matrixWorkOf(e);
    if (work !== null) {
      const { tally } = this.#at(site);
      tally.matrixProducts += work.products;
      tally.multiplyAdds += work.multiplyAdds;
    }
    if (isAsyncCopy(op)) this.#at(site).tally.asyncCopies += popcount(mask);
    if (op.kind === "barrier") this.#waits.get(e.warp.cta)!.reach(e);
    else if (op.kind === "subroutine-call") this.#call(e, site.code.ir.name);
  }

  /** Counts an access to memory, its transactions and bank conflicts. */
  access(e: AccessEvent): void {
    const { tally } = this.#at(e.site);
    this.#memory.add(e, tally);
    if (e.effect === "store" && isAsyncCopy(e.site.instruction.op)) {
      tally.asyncBytes += popcount(e.mask) * accessBytes(e.access);
    }
  }

  /** Counts the bytes that an asynchronous copy writes. */
  range({ site, effect, access }: RangeEvent): void {
    // The mbarrier that counts a copy is accessed, too.
    if (effect === "load" || access.order === "release" || !isAsyncCopy(site.instruction.op)) return;
    this.#at(site).tally.asyncBytes += accessBytes(access);
  }

  /** Counts the bytes that a copy to tensor memory writes. */
  cells({ site, effect, cells }: CellsEvent): void {
    if (effect === "load" || !isAsyncCopy(site.instruction.op)) return;
    this.#at(site).tally.asyncBytes += 4 * cells.lanes * cells.columns;
  }

  /** Counts a branch, and whether it diverges. */
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

  /** Counts a call, and whether it diverges. */
  call(e: CallEvent): void {
    this.#call(e, e.callee.ir.name);
  }

  /** Notes the new activation in the tree of calls. */
  enter({ activation }: EnterEvent): void {
    this.tree.enter(activation);
    if (activation === this.#activation) this.#activation = null;
  }

  /** Counts an arrival at a barrier. */
  barrier(e: BarrierEvent): void {
    this.#at(e.site).tally.barrierArrivals++;
    this.#waits.get(e.warp.cta)!.arrive(e);
  }

  /** Counts how long the warps have waited at the barrier. */
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
    // A vISA instruction has an execution size, unless it acts on all lanes at once.
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

  /** An indexed branch or a call splits its lanes by target; this holds for the part that contains the lowest lane. */
  #isFirst(mask: number): boolean {
    return (mask & this.#lanes & -this.#lanes) !== 0;
  }

  #at(site: Site): SiteCounts {
    let found = this.sites.get(site);
    if (found === undefined) this.sites.set(site, (found = { site, tally: newTally(), targets: new Map() }));
    return found;
  }
}

import { lanesIn, lanesWhere, lowestLane } from "../../ir/lane-mask.ts";
import { deadlock, type Waiting } from "../../program/deadlock.ts";
import type { Fault } from "../../machine/faults/fault.ts";
import type { Grid } from "../../machine/state/launch-state.ts";
import { kernelFrame } from "../../machine/state/call-frame.ts";
import type { Site } from "../../machine/state/code.ts";
import { areComplete } from "../../program/warp-results.ts";
import type { Bindings } from "../../semantics/bind.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { warpWait, warpWaitBytes, warpWaitKinds, kindOf } from "../abi/warp-wait-layout.ts";
import type { CallStack } from "./call-stack.ts";
import { WarpAction } from "./warp-action.ts";

/** The launcher's side of lanes that wait for others of their warp; its state lies in the context. */
export class HostWarpWaits {
  readonly #grid: Grid;
  readonly #kernel: CompiledKernel;
  readonly #bindings: Bindings;
  readonly #stack: CallStack;
  /** The context whose lanes have arrived or exited last. */
  #context = 0;
  readonly #actions = new Map<number, WarpAction>();

  constructor(grid: Grid, kernel: CompiledKernel, bindings: Bindings, stack: CallStack) {
    this.#grid = grid;
    this.#kernel = kernel;
    this.#bindings = bindings;
    this.#stack = stack;
  }

  /** Lanes arrive at an operation. Those that name different member masks are separate groups. */
  arrive(context: number, site: number, lanes: number): void {
    this.#context = context;
    const warp = this.#warpIn(context);
    const fresh = lanes & ~warp.word(warpWait.done);
    const groups: number[] = [];
    for (let rest = fresh; rest !== 0; ) {
      const named = warp.lane(warpWait.named, lowestLane(rest));
      const together = lanesWhere(rest, (lane) => warp.lane(warpWait.named, lane) === named);
      rest &= ~together;
      for (const lane of lanesIn(together)) warp.setLane(warpWait.sites, lane, site + 1);
      // A group that is complete does not look whether lanes that wait elsewhere could join it.
      if (together === fresh && areComplete(named, warp.word(warpWait.live), together)) {
        this.#act(warp, together);
        return;
      }
      warp.set(warpWait.waiting, warp.word(warpWait.waiting) | together);
      const kind = this.#kindAt(site);
      warp.set(kind, warp.word(kind) | together);
      groups.push(together);
    }
    // The last group counts as the one that has arrived; the others have left it.
    for (const group of [...groups.slice(-1), ...groups.slice(0, -1)]) {
      const order = warp.word(warpWait.arrivals);
      for (const lane of lanesIn(group)) warp.setLane(warpWait.order, lane, order);
      warp.set(warpWait.arrivals, order + 1);
    }
    this.#settle(warp);
  }

  /** Performs what is complete now that lanes of the warp have exited. */
  settle(context: number): void {
    this.#context = context;
    this.#settle(this.#warpIn(context));
  }

  #settle(warp: WarpMemory): void {
    let waiting = warp.word(warpWait.waiting);
    while (waiting !== 0) {
      const first = lowestLane(waiting);
      const named = warp.lane(warpWait.named, first);
      const kind = this.#kindOf(warp, first);
      const arrived = lanesWhere(
        warp.word(warpWait.waiting) & warp.word(kind),
        (lane) => warp.lane(warpWait.named, lane) === named,
      );
      waiting &= ~arrived;
      if (!areComplete(named, warp.word(warpWait.live), arrived)) continue;
      warp.set(warpWait.waiting, warp.word(warpWait.waiting) & ~arrived);
      warp.set(kind, warp.word(kind) & ~arrived);
      this.#act(warp, arrived);
    }
  }

  /** Performs an operation for lanes that have arrived at it. */
  #act(warp: WarpMemory, lanes: number): void {
    const number = warp.lane(warpWait.sites, lowestLane(lanes)) - 1;
    let action = this.#actions.get(number);
    if (action === undefined) {
      const site = this.#stack.site(number);
      action = new WarpAction(site, this.#bindings, () => ({ site, activation: this.#stack.innermost(this.#context) }));
      this.#actions.set(number, action);
    }
    action.perform(warp, lanes);
    for (const lane of lanesIn(lanes)) {
      warp.setLane(warpWait.doneAt, lane, warp.lane(warpWait.sites, lane));
      warp.setLane(warpWait.sites, lane, 0);
    }
    warp.set(warpWait.done, warp.word(warpWait.done) | lanes);
  }

  /** The report for a block in which no lane can continue: which lanes wait where. */
  deadlock(context: number): Fault | Error {
    const block = this.#stack.block(context);
    const waiting = block.warps.map((warp): readonly Waiting[] => {
      const memory = this.#warpAt(context, warp.index);
      warp.live = memory.word(warpWait.live);
      const activation = kernelFrame(this.#stack.kernel, warp);
      const lanes = memory.word(warpWait.waiting);
      return Array.from({ length: memory.word(warpWait.arrivals) }, (_, order) =>
        lanesWhere(lanes, (lane) => memory.lane(warpWait.order, lane) === order),
      )
        .filter((mask) => mask !== 0)
        .map((mask) => {
          const site = this.#stack.site(memory.lane(warpWait.sites, lowestLane(mask)) - 1);
          const named = memory.lane(warpWait.named, lowestLane(mask));
          return { activation, mask, wait: { kind: "lanes", arrival: { site, key: "", named, act: () => {} } } };
        });
    });
    return deadlock(block, ({ index }) => waiting[index]!);
  }

  #kindOf(warp: WarpMemory, lane: number): number {
    return this.#kindAt(warp.lane(warpWait.sites, lane) - 1);
  }

  /** The offset of the mask of lanes that wait at operations of the same kind as a site's. */
  #kindAt(number: number): number {
    return warpWait.kinds + 4 * warpWaitKinds.indexOf(kindOf(warpOpAt(this.#stack.site(number))));
  }

  #warpIn(context: number): WarpMemory {
    const { i32 } = this.#grid.memory.views;
    return this.#warpAt(context, i32[(context + this.#kernel.layout.words.first) >>> 2]! >> 5);
  }

  #warpAt(context: number, index: number): WarpMemory {
    const { i32 } = this.#grid.memory.views;
    return new WarpMemory(i32, context + this.#kernel.layout.warpWaits + index * warpWaitBytes);
  }
}

/** The memory of a warp: see `warpWait`. */
export class WarpMemory {
  readonly #i32: Int32Array;
  readonly #at: number;

  constructor(i32: Int32Array, at: number) {
    this.#i32 = i32;
    this.#at = at;
  }

  word(at: number): number {
    return this.#i32[(this.#at + at) >>> 2]!;
  }

  set(at: number, value: number): void {
    this.#i32[(this.#at + at) >>> 2] = value;
  }

  lane(at: number, lane: number): number {
    return this.word(at + 4 * lane);
  }

  setLane(at: number, lane: number, value: number): void {
    this.set(at + 4 * lane, value);
  }
}

/** The warp-wide operation of an instruction. */
function warpOpAt({ instruction: { op } }: Site) {
  if (op.kind !== "warp") throw new Error(`${op.kind} is not a warp-wide operation`);
  return op.warp;
}

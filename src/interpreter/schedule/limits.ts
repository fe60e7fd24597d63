import { Fault } from "../../machine/faults/fault.ts";
import { blocksIn, blocksOf, type LaunchRequest } from "../../machine/launch.ts";
import type { Grid, Warp } from "../../machine/state/launch-state.ts";

const progressInterval = 100;

/** A block may take long: then its steps show that something happens. */
const looksPerProgress = 64;

/** Ends a launch that takes too long, and reports progress. */
export class Limits {
  readonly #grid: Grid;
  readonly #request: LaunchRequest;
  readonly #maxSteps: number;
  readonly #end: number;
  #nextProgress = 0;
  /** Looks at the limits until progress is reported within a block, and what was reported last. */
  #looks = looksPerProgress;
  #blocksDone = 0;
  #blocks: number;

  constructor(grid: Grid, request: LaunchRequest) {
    this.#grid = grid;
    this.#request = request;
    this.#maxSteps = request.maxSteps ?? Infinity;
    this.#blocks = blocksIn(blocksOf(request));
    this.#end = request.timeoutMs === undefined ? Infinity : Date.now() + request.timeoutMs;
  }

  /** Throws a fault when a limit has been passed. `warp`: one that has not ended. */
  check(warp: Warp): void {
    if (this.#grid.steps > this.#maxSteps) {
      throw stuck(warp, `the launch has not ended after ${this.#maxSteps} thread-instructions`);
    }
    if (this.#end !== Infinity && Date.now() > this.#end) {
      throw stuck(warp, `the launch has not ended after ${this.#request.timeoutMs} ms`);
    }
    if (--this.#looks > 0) return;
    this.#looks = looksPerProgress;
    this.progress(this.#blocksDone, this.#blocks);
  }

  progress(blocksDone: number, blocks: number): void {
    this.#blocksDone = blocksDone;
    this.#blocks = blocks;
    if (this.#request.onProgress === undefined) return;
    const now = Date.now();
    if (now < this.#nextProgress) return;
    this.#nextProgress = now + progressInterval;
    this.#request.onProgress({ blocksDone, blocks, steps: this.#grid.steps });
  }
}

/** The fault of a launch that does not end, at the loop in which the warp is, if it has jumped back. */
function stuck(warp: Warp, message: string): Fault {
  const running = warp.lockstep ? warp.pick() : warp.groups.find((g) => g.wait === null);
  const group = running ?? warp.groups[0]!;
  const { activation, at, mask } = group;
  const jump = warp.lastJump?.code === activation.code ? warp.lastJump : null;
  const site = jump ?? at.last ?? at.terminator!.site;
  const help = jump === null ? undefined : "the loop waits for something that does not happen, or needs more time";
  return new Fault("no-progress", message, { site, activation, lanes: mask }, { help });
}

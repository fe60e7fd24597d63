import { Barrier, type Reduction } from "../../machine/state/barrier.ts";
import type { Grid, Warp } from "../../machine/state/launch-state.ts";
import { countProblem, mismatch } from "../../program/barrier-rules.ts";
import { chunkState, reductionWords } from "../abi/chunk-state.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { GivenUp } from "../abi/refusal.ts";
import type { CallStack } from "./call-stack.ts";

/** The barriers of the block that runs in a context. */
interface BlockBarriers {
  readonly blockIndex: number;
  readonly barriers: readonly Barrier<Warp>[];
}

/** The barriers at which the host counts arrivals. Misuse is left to the interpreter, which reports it. */
export class HostBarriers {
  readonly #grid: Grid;
  readonly #kernel: CompiledKernel;
  readonly #stack: CallStack;
  readonly #blocks = new Map<number, BlockBarriers>();

  constructor(grid: Grid, kernel: CompiledKernel, stack: CallStack) {
    this.#grid = grid;
    this.#kernel = kernel;
    this.#stack = stack;
  }

  /**
   * Counts a chunk's arrival. Returns 1 if it passes the barrier, 0 if it waits. `threads`: the count that the
   * instruction names.
   */
  arrive(context: number, number: number, id: number, threads: number, lanes: number, votes: number): 0 | 1 {
    const { op } = this.#stack.site(number).instruction;
    if (op.kind !== "barrier") throw new Error(`${op.kind} is not a barrier`);
    const warp = this.#stack.warpOf(context);
    const barrier = this.#barriersOf(context)[id >>> 0];
    const given = op.count === null ? null : threads >>> 0;
    if (barrier === undefined || countProblem(warp.cta, given, op.mode) !== null) throw wrong();
    const count = given === 0 && !warp.lockstep ? null : given;
    if (op.mode !== "wait") {
      if (mismatch(warp.cta, barrier, count) !== null) throw wrong();
      barrier.arrive(count, lanes, votes);
    }
    if (op.mode === "arrive" && warp.lockstep) barrier.arriveEarly(warp);
    let passes = op.mode === "arrive" || (op.mode === "wait" && barrier.passed(warp));
    if (!passes) {
      let waits = false;
      const release = (reduction: Reduction): void => {
        if (waits) this.#setState(context, warp.index, chunkState.released);
        passes = true;
        this.#setReduction(context, warp.index, reduction);
      };
      barrier.waiters.push({ warp, release });
      if (op.mode !== "wait") this.#releaseIfComplete(context, barrier);
      waits = true;
    } else if (op.mode === "arrive") this.#releaseIfComplete(context, barrier);
    return passes ? 1 : 0;
  }

  /**
   * Releases barriers that are complete while no chunk of the block runs. `yielded`: whether some chunk has only
   * yielded.
   */
  settle(context: number, yielded: boolean): void {
    for (const barrier of this.#barriersOf(context)) {
      if (barrier.waiters.length > 0) this.#releaseIfComplete(context, barrier);
    }
    const isReleased = this.#stack
      .block(context)
      .warps.some(({ index }) => this.#stateOf(context, index) === chunkState.released);
    if (!isReleased && !yielded) throw wrong();
  }

  #barriersOf(context: number): readonly Barrier<Warp>[] {
    const { ticket: blockIndex, grid } = this.#stack.block(context);
    let block = this.#blocks.get(context);
    if (block?.blockIndex !== blockIndex) {
      const [most, weight] = grid.threads === null ? [16, 32] : [32, 1];
      block = { blockIndex, barriers: Array.from({ length: most }, (_, id) => new Barrier<Warp>(id, weight)) };
      this.#blocks.set(context, block);
    }
    return block.barriers;
  }

  #releaseIfComplete(context: number, barrier: Barrier<Warp>): void {
    const { warps } = this.#stack.block(context);
    const isPtx = this.#grid.threads === null;
    // In vISA threads that have ended are waited for, too.
    const live = warps.filter(({ index }) => !isPtx || this.#stateOf(context, index) !== chunkState.ended).length;
    if (barrier.complete(live)) barrier.release();
  }

  #wordOf(context: number, chunk: number): number {
    return (context + this.#kernel.layout.chunkStates + chunk * this.#kernel.stateBytes) >>> 2;
  }

  #stateOf(context: number, chunk: number): number {
    return this.#grid.memory.views.i32[this.#wordOf(context, chunk)]!;
  }

  #setState(context: number, chunk: number, state: number): void {
    this.#grid.memory.views.i32[this.#wordOf(context, chunk)] = state;
  }

  #setReduction(context: number, chunk: number, { popc, and, or }: Reduction): void {
    const { i32 } = this.#grid.memory.views;
    const at = this.#wordOf(context, chunk);
    i32[at + (reductionWords.popc >> 2)] = popc;
    i32[at + (reductionWords.and >> 2)] = Number(and);
    i32[at + (reductionWords.or >> 2)] = Number(or);
  }
}

const wrong = (): GivenUp => new GivenUp("barriers to which threads do not come as they should");

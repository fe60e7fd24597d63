import type { Guard } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { graphOf, type BarrierRegion } from "../analysis/flow/barrier-regions.ts";
import type { Layout } from "../analysis/flow/block-layout.ts";
import type { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import { waitMaskSlots } from "../analysis/flow/wait-mask-coloring.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { DeadRegisters } from "../emit/dead-registers.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import type { SuspensionKind, SuspensionPlace } from "../plan/suspension-points.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { Waker } from "../sync/warp-waits.ts";
import { LaneMasks } from "./lane-masks.ts";
import { ResumeOrder } from "./resume-order.ts";
import { StructuredCode, type WriteBlock } from "./structured-code.ts";

/** Writes the copies of registers that belong to a branch: for the lanes that take it, and for the others. */
export interface BranchCopies {
  readonly copy: () => void;
  readonly copyOthers: () => void;
}

export const noCopies: BranchCopies = { copy: () => {}, copyOthers: () => {} };

/** Lanes that wait for others of their warp, as control flow sees them. */
export interface LaneWaits {
  readonly blocks: Pick<WarpWaitBlocks, "withReturns">;
  /** The lanes that have not exited. */
  live(): readonly Wasm[];
  /** Lanes exit. */
  end(lanes: readonly Wasm[]): void;
  /** Lanes of a block have exited: releases those that were waiting for them alone. */
  settle(block: number, waker: Waker): void;
}

/**
 * The order in which diverged lanes run: of the pending lanes, those at the lowest block come first, and lanes that are
 * at the same block reconverge. Blocks are written in layout order. One mask says which lanes are active; each block at
 * which lanes may be pending has a mask of its own, which is added to the active lanes when control reaches the block.
 * Branches go forward to the end of wasm blocks and back to the beginning of loops, which suffices for any graph.
 */
export class Reconvergence {
  readonly #chunk: Chunk;
  readonly #code: StructuredCode;
  readonly #masks: LaneMasks;
  readonly #suspension: Suspension | null;
  readonly #waits: LaneWaits | null;
  readonly #order: ResumeOrder;

  constructor(chunk: Chunk, dead: DeadRegisters, suspension: Suspension | null, waits: LaneWaits | null) {
    this.#chunk = chunk;
    this.#waits = waits;
    this.#suspension = suspension;
    const { analysis, writer } = chunk;
    const { graph } = analysis.code;
    const pending = new Set(analysis.divergence.waitingAnywhere());
    for (const block of suspension?.maskedBlocks ?? []) pending.add(block);
    for (const { end, successors } of graph.blocks) {
      // Lanes are pending at all targets before any of them runs.
      if (analysis.code.instructions[end - 1]!.op.kind !== "branch-indexed") continue;
      for (const s of successors) if (!this.leaves(s)) pending.add(s);
    }
    const slots = waitMaskSlots(
      analysis,
      [...pending].sort((a, b) => a - b),
      waits === null ? new Set(suspension?.maskedBlocks) : pending,
    );
    this.#masks = new LaneMasks(chunk, slots);
    if (suspension?.isLockstep) suspension.keep(this.#masks.pending.flat());
    const needs = { start: 0, entries: suspension?.blocks ?? [], waiting: this.#masks.blocks };
    const blocks = (waits?.blocks.withReturns(graph) ?? graph).blocks;
    this.#code = new StructuredCode(writer, { blocks, count: graph.blocks.length }, needs, (block) => {
      if (dead.isWorthwhile(chunk.quads)) dead.forgetBefore(block);
    });
    this.#order = new ResumeOrder(analysis, () => this.#code.layout);
  }

  /** The layout of the blocks that `write` writes next. */
  get layout(): Layout {
    return this.#code.layout;
  }

  /** The code that `write` writes begins at a block; 0: at the first one. */
  enterAt(block: number): void {
    this.#code.enterAt(block);
  }

  /** From the code for converged lanes: all active lanes continue at a block. */
  continueAt(block: number): void {
    this.#code.continueAt(block);
  }

  /**
   * Has `write` write a single barrier region next. `barriers`: by the block that ends with one, the block after it.
   */
  enterRegion(region: BarrierRegion, barriers: ReadonlyMap<number, number>): void {
    const graph = graphOf(this.#chunk.analysis.code.graph, region, barriers);
    const waiting = this.#masks.blocks.filter((w) => region.blocks.has(w));
    const { needsEntry } = this.#code.lay(graph, { start: region.start, entries: [], waiting });
    if (needsEntry) this.enterAt(region.start);
  }

  /** A chunk begins: no lane is pending. */
  reset(): void {
    this.#masks.clearPending();
    if (this.#code.layout.needsEntry) this.enterAt(0);
  }

  /**
   * Lanes that are suspended for a reason resume in the code that `write` writes, beginning with the lowest of their
   * blocks.
   */
  resume(kind: SuspensionKind): void {
    this.#suspension!.release(kind, (block) => this.#masks.localsAt(block));
    this.#masks.deactivateAll();
    const lowest = this.#suspension!.maskedBlocks.reduceRight<Wasm>(
      (rest, block) => wasm.select(anyOf(this.#masks.pendingAt(block)), wasm.i32(block), rest),
      wasm.i32(0),
    );
    this.#code.enterAt(lowest);
  }

  /**
   * Suspends the lanes of a mask (null: all active ones), which will resume at a block. The others continue, unless in
   * lockstep.
   */
  suspend(place: SuspensionPlace, from: number, at: number, guard: readonly Wasm[] | null): void {
    const { writer } = this.#chunk;
    const lanes = guard === null ? this.#masks.active : this.#masks.within(from, guard);
    writer.assign(
      this.#suspension!.maskAt(at, place).map((local, q) => ({
        local,
        value: wasm.op("v128.or", wasm.local("v128", local), lanes[q]!),
      })),
    );
    if (this.#suspension!.isLockstep) {
      this.#suspendLockstep(from, lanes, guard);
      return;
    }
    if (guard === null) this.#masks.deactivateAll();
    else this.#masks.deactivate(guard);
    const next = this.#order.afterOthers(from);
    if (guard === null) this.#switchTo(next, from);
    else this.#switchToIfNoneActive(next, from);
  }

  /** A hardware thread is suspended if any of its lanes is: the others become pending at the next block. */
  #suspendLockstep(from: number, suspended: readonly Wasm[], guard: readonly Wasm[] | null): void {
    const { writer } = this.#chunk;
    if (guard === null) {
      this.#code.goToEnd();
      return;
    }
    writer.value(anyOf(suspended));
    writer.if(() => {
      const others = this.#masks.active.map((active, q) => wasm.op("v128.andnot", active, guard[q]!));
      if (!this.leaves(from + 1)) this.#masks.addPending(from + 1, others);
      this.#code.goToEnd();
    });
  }

  /** Notes at a call, which is a block, that lanes are suspended in callees. `switchIfNoneActive` has to follow. */
  suspendInCallees(
    block: number,
    { barrier, yield: yielded }: Readonly<Record<SuspensionKind, readonly number[]>>,
  ): void {
    const local = (l: number): Wasm => wasm.local("v128", l);
    const [atBarriers, inLoops] = [
      this.#suspension!.maskAt(block, "call at a barrier"),
      this.#suspension!.maskAt(block, "call in a loop"),
    ];
    this.#chunk.writer.assign([
      ...atBarriers.map((to, q) => ({ local: to, value: wasm.op("v128.or", local(to), local(barrier[q]!)) })),
      ...inLoops.map((to, q) => ({ local: to, value: wasm.op("v128.or", local(to), local(yielded[q]!)) })),
    ]);
    this.#masks.deactivate(barrier.map((l, q) => wasm.op("v128.or", local(l), local(yielded[q]!))));
  }

  /** If no lane is active after a block, the pending lanes at the lowest block run. */
  switchIfNoneActive(block: number): void {
    this.#switchToIfNoneActive(this.#order.afterOthers(block), block);
  }

  /** The lanes of the chunk that have not exited. */
  live(): readonly Wasm[] {
    if (this.#waits !== null) return this.#waits.live();
    return [...this.#masks.pending, ...(this.#suspension?.masks ?? [])].reduce<readonly Wasm[]>(
      (all, mask) => all.map((lanes, q) => wasm.op("v128.or", lanes, wasm.local("v128", mask[q]!))),
      this.#masks.active,
    );
  }

  /**
   * Writes the blocks. `writeBlock` writes the instructions of one, and its end by way of the methods here. `before`
   * writes the code for converged lanes, which runs first and jumps to the end or to one of these blocks.
   */
  write(writeBlock: WriteBlock, before: (() => void) | null = null): void {
    this.#order.begin();
    this.#code.write((block) => {
      if (this.#masks.mayBePendingAt(block.index)) this.#activatePending(block.index);
      writeBlock(block);
    }, before);
  }

  /** All active lanes jump to a block; the number of blocks stands for the end. */
  jump(from: number, to: number): void {
    if (this.leaves(to)) this.leave(from, null);
    else if (to <= from) this.#code.goBack(to);
    else if (this.#mayBePendingBetween(from, to)) {
      this.#masks.addPending(to, this.#masks.active);
      this.#masks.deactivateAll();
      this.#switchTo(this.#order.after(from), from);
    } else this.#code.goTo(to, to === from + 1);
  }

  /** Branches: the lanes in which a guard holds jump to a block, the others continue at the next. */
  branch(from: number, to: number, guard: Guard | null, { copy, copyOthers } = noCopies): void {
    const { writer } = this.#chunk;
    const mask = this.#chunk.movedMask(guard);
    const isBack = mask !== null && to <= from && !this.leaves(to);
    if (!isBack) copyOthers();
    if (to === from + 1) {
      copy();
      return;
    }
    const jump = (): void => {
      copy();
      this.jump(from, to);
    };
    if (mask === null) {
      if (guard === null) jump();
      else {
        writer.value(this.#chunk.guardScalar(guard));
        writer.if(jump);
      }
      return;
    }
    if (!isBack) this.#branchForward(from, to, mask, copy);
    else {
      copy();
      this.#branchBack(from, to, mask, copyOthers);
    }
  }

  /** All lanes leave the function, pending ones included. */
  end(): void {
    this.#code.goToEnd();
  }

  /** From the code for converged lanes: all lanes of the chunk leave the function. */
  leaveConverged(from: number): void {
    if (this.#waits === null) this.end();
    else this.leave(from, null);
  }

  /** The lanes of a mask (null: all active ones) leave the function. */
  leave(from: number, mask: readonly Wasm[] | null): void {
    this.#waits?.end(mask === null ? this.#masks.active : this.#masks.within(from, mask));
    if (mask === null) this.#masks.deactivateAll();
    else this.#masks.deactivate(mask);
    this.#waits?.settle(from, this);
    if (mask === null) this.#switchTo(this.#order.after(from), from);
    else this.#switchToIfNoneActive(this.#order.after(from), from);
  }

  /**
   * Lanes that have waited for their warp resume, those at the lowest block first. Others may be active at the end of
   * `from`.
   */
  wake(from: number, woken: readonly { readonly at: number; readonly mask: readonly Wasm[] }[]): void {
    const { writer } = this.#chunk;
    for (const { at, mask } of woken) this.#masks.addPending(at, mask);
    const back = woken.map(({ at }) => at).filter((at) => at <= from);
    if (back.length > 0) {
      writer.value(anyOf(back.flatMap((at) => this.#masks.pendingAt(at))));
      writer.if(() => {
        const continues = this.#code.layout.blocks[from]!.successors.includes(from + 1) && !this.leaves(from + 1);
        if (continues) this.#masks.addPending(from + 1, this.#masks.active);
        this.#masks.deactivateAll();
        for (const at of back.toSorted((a, b) => a - b)) {
          writer.value(anyOf(this.#masks.pendingAt(at)));
          writer.if(() => this.#code.goBack(at));
        }
      });
    }
    this.#switchToIfNoneActive(this.#order.after(from), from);
  }

  /** Lanes jump to several blocks. Afterwards none is active. */
  scatter(from: number, choices: readonly { readonly to: number; readonly mask: readonly Wasm[] }[]): void {
    const { writer } = this.#chunk;
    const inside = choices.filter(({ to }) => !this.leaves(to));
    for (const { to, mask } of inside) this.#masks.addPending(to, mask);
    this.#masks.deactivateAll();
    if (this.#waits !== null && inside.length < choices.length) {
      for (const { to, mask } of choices) if (this.leaves(to)) this.#waits.end(mask);
      this.#waits.settle(from, this);
    }
    for (const to of [...new Set(inside.map((c) => c.to))].sort((a, b) => a - b)) {
      if (to > from) break;
      writer.value(anyOf(this.#masks.pendingAt(to)));
      writer.if(() => this.#code.goBack(to));
    }
    this.#switchTo(this.#order.after(from), from);
  }

  #branchForward(from: number, to: number, guard: readonly Wasm[], copy: () => void): void {
    const { writer } = this.#chunk;
    const taken = this.#masks.within(from, guard);
    writer.value(anyOf(taken));
    writer.if(() => {
      copy();
      if (!this.leaves(to) && !this.#masks.mayBePendingAt(to)) {
        // The other lanes leave, and none is pending in between.
        this.#masks.setActive(taken);
        this.#code.goTo(to, false);
        return;
      }
      if (this.leaves(to)) {
        this.leave(from, guard);
        return;
      }
      this.#masks.addPending(to, taken);
      this.#masks.deactivate(guard);
      this.#switchToIfNoneActive(this.#order.after(from), from);
    });
  }

  /** Lanes that do not branch back become pending at the next block. */
  #branchBack(from: number, to: number, guard: readonly Wasm[], copyOthers: () => void): void {
    const { writer } = this.#chunk;
    const next = from + 1;
    const others = guard.map((part) => wasm.op("v128.not", part));
    writer.value(wasm.op("i32.eqz", anyOf(this.#masks.within(from, others))));
    writer.if(() => this.#code.goBack(to));
    copyOthers();
    writer.value(anyOf(this.#masks.within(from, guard)));
    writer.if(() => {
      if (!this.leaves(next)) {
        this.#masks.addPending(
          next,
          this.#masks.active.map((a, q) => wasm.op("v128.andnot", a, guard[q]!)),
        );
      }
      this.#masks.setActive(this.#masks.active.map((a, q) => wasm.op("v128.and", a, guard[q]!)));
      this.#code.goBack(to);
    });
  }

  /**
   * Whether others may be pending at a block between, which run before those that jump. Those that wait there for a
   * barrier, and go on together with all others alone, do not.
   */
  #mayBePendingBetween(from: number, to: number): boolean {
    const { divergence } = this.#chunk.analysis;
    for (const w of divergence.waiting(from)) if (w > from && w < to && divergence.waiting(w).has(to)) return true;
    return false;
  }

  /** Whether lanes that jump to a block only leave the function. */
  leaves(to: number): boolean {
    return to >= this.#chunk.analysis.code.graph.blocks.length || this.#chunk.analysis.isDeparture[to] === true;
  }

  /**
   * No lane is active: jumps to where others may be pending; undefined: nowhere. `from`: the block whose end is
   * written.
   */
  #switchTo(next: number | undefined, from: number | null): void {
    if (next === undefined) this.#code.goToEnd();
    else this.#code.goTo(next, next === (from ?? Number.NaN) + 1);
  }

  #switchToIfNoneActive(next: number | undefined, from: number | null): void {
    const { writer } = this.#chunk;
    writer.value(wasm.op("i32.eqz", anyOf(this.#masks.active)));
    writer.if(() => this.#switchTo(next, from));
  }

  /** The lanes pending at a block become active. If none is active then, control goes on to the next block to test. */
  #activatePending(block: number): void {
    const { writer, active } = this.#chunk;
    const pending = this.#masks.pendingAt(block);
    const here = this.#masks.active.map((lanes, q) => wasm.op("v128.or", lanes, pending[q]!));
    const none = this.#masks.localsAt(block).map((local) => ({ local, value: wasm.i32x4(0) }));
    const next = this.#order.insteadOf(block);
    if (this.#chunk.analysis.isPartial(block)) {
      writer.assign([...active.map((local, q) => ({ local, value: here[q]! })), ...none]);
      this.#switchToIfNoneActive(next, null);
      return;
    }
    // All lanes are here or none is: the first quad tells.
    writer.value(wasm.op("i32.eqz", anyOf([here[0]!])));
    writer.if(() => this.#switchTo(next, null));
    writer.assign([...active.map((local) => ({ local, value: wasm.i32x4(-1) })), ...none]);
  }
}

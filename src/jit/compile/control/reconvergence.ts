import type { Guard } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { graphOf, type BarrierRegion } from "../analysis/flow/barrier-regions.ts";
import type { Layout } from "../analysis/flow/block-layout.ts";
import type { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import { waitMaskSlots } from "../analysis/flow/wait-mask-coloring.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import type { SuspensionKind, SuspensionPlace } from "../plan/pauses.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { Waker } from "../sync/warp-waits.ts";
import { LaneMasks } from "./lane-masks.ts";
import { ResumeOrder } from "./resume-order.ts";
import { StructuredCode, type WriteBlock } from "./structured-code.ts";

/** Copies of registers that belong to a branch: for the lanes that take it, and for the others. */
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
 * The order in which lanes go through a function: of those that wait, the ones at the lowest block run, and lanes that meet
 * go on together. Blocks are written in layout order. A mask (`active`) says which lanes run; each block at which lanes may
 * wait has a mask of its own (`waiting`), which is added to the active lanes when the order comes to the block. Branches
 * go forward to the end of wasm blocks and backward to the beginning of loops; any graph can be written like that.
 */
export class Reconvergence {
  readonly #chunk: Chunk;
  readonly #code: StructuredCode;
  /** The lanes that run, and those that wait. */
  readonly #masks: LaneMasks;
  readonly #suspension: Suspension | null;
  readonly #waits: LaneWaits | null;
  readonly #order: ResumeOrder;

  constructor(chunk: Chunk, suspension: Suspension | null, waits: LaneWaits | null) {
    this.#chunk = chunk;
    this.#waits = waits;
    this.#suspension = suspension;
    const { analysis, writer } = chunk;
    const { graph } = analysis.code;
    const waiting = new Set<number>();
    for (const { index } of graph.blocks) for (const w of analysis.divergence.waiting(index)) waiting.add(w);
    for (const block of suspension?.masked ?? []) waiting.add(block);
    for (const { end, successors } of graph.blocks) {
      // Lanes go to all of the targets before any of them goes on.
      if (analysis.code.instructions[end - 1]!.op.kind !== "branch-indexed") continue;
      for (const s of successors) if (!this.leaves(s)) waiting.add(s);
    }
    const places = waitMaskSlots(
      analysis,
      [...waiting].sort((a, b) => a - b),
      waits === null ? new Set(suspension?.masked) : waiting,
    );
    this.#masks = new LaneMasks(chunk, places);
    if (suspension?.isLockstep) suspension.keep(this.#masks.ofWaiting.flat());
    const needs = { start: 0, entries: suspension?.blocks ?? [], waiting: this.#masks.blocks };
    const blocks = (waits?.blocks.withReturns(graph) ?? graph).blocks;
    this.#code = new StructuredCode(writer, { blocks, count: graph.blocks.length }, needs);
    this.#order = new ResumeOrder(analysis, () => this.#code.layout);
  }

  /** How the blocks are written that `write` writes next. */
  get layout(): Layout {
    return this.#code.layout;
  }

  /** All active lanes go on at a block, once `write` comes; 0 for where it begins. */
  enterAt(block: number): void {
    this.#code.enterAt(block);
  }

  /** From other code: all active lanes go on at a block. */
  goOnAt(block: number): void {
    this.#code.goOnAt(block);
  }

  /** What `write` writes next: a phase alone. `barriers`: by the block that ends with one, the block behind. */
  enterPhase(phase: BarrierRegion, barriers: ReadonlyMap<number, number>): void {
    const graph = graphOf(this.#chunk.analysis.code.graph, phase, barriers);
    const waiting = this.#masks.blocks.filter((w) => phase.blocks.has(w));
    const { needsEntry } = this.#code.lay(graph, { start: phase.start, entries: [], waiting });
    if (needsEntry) this.enterAt(phase.start);
  }

  /** The masks of waiting lanes are to be empty when lanes begin. */
  reset(): void {
    this.#masks.clearWaiting();
    if (this.#code.layout.needsEntry) this.enterAt(0);
  }

  /** Those that have paused for a reason go on, once `write` comes: from the lowest of their blocks. */
  resume(kind: SuspensionKind): void {
    this.#suspension!.wake(kind, (block) => this.#masks.localsAt(block));
    this.#masks.setNobody();
    const lowest = this.#suspension!.masked.reduceRight<Wasm>(
      (rest, block) => wasm.select(anyOf(this.#masks.waitingAt(block)), wasm.i32(block), rest),
      wasm.i32(0),
    );
    this.#code.enterAt(lowest);
  }

  /** The lanes of a mask (null: all) pause, and will go on at a block; the others go on now, where they are not in lockstep. */
  pause(place: SuspensionPlace, from: number, at: number, guard: readonly Wasm[] | null): void {
    const { writer } = this.#chunk;
    const lanes = guard === null ? this.#masks.active : this.#masks.within(from, guard);
    writer.assign(
      this.#suspension!.maskAt(at, place).map((local, q) => ({
        local,
        value: wasm.op("v128.or", wasm.local("v128", local), lanes[q]!),
      })),
    );
    if (this.#suspension!.isLockstep) {
      this.#stop(from, lanes, guard);
      return;
    }
    if (guard === null) this.#masks.setNobody();
    else this.#masks.deactivate(guard);
    const next = this.#order.behindOthers(from);
    if (guard === null) this.#goOn(next, from);
    else this.#goOnIfEmpty(next, from);
  }

  /** A hardware thread stops if any lanes have paused: the others wait, too. */
  #stop(from: number, paused: readonly Wasm[], guard: readonly Wasm[] | null): void {
    const { writer } = this.#chunk;
    if (guard === null) {
      this.#code.goToEnd();
      return;
    }
    writer.value(anyOf(paused));
    writer.if(() => {
      const others = this.#masks.active.map((active, q) => wasm.op("v128.andnot", active, guard[q]!));
      if (!this.leaves(from + 1)) this.#masks.addWaiting(from + 1, others);
      this.#code.goToEnd();
    });
  }

  /** At a block that is a call, lanes wait in what they have called; the others go on behind it, if there are any: see `goOnIfNobody`. */
  stay(block: number, { barrier, yield: turn }: Readonly<Record<SuspensionKind, readonly number[]>>): void {
    const local = (l: number): Wasm => wasm.local("v128", l);
    const [atBarriers, inLoops] = [
      this.#suspension!.maskAt(block, "call at a barrier"),
      this.#suspension!.maskAt(block, "call in a loop"),
    ];
    this.#chunk.writer.assign([
      ...atBarriers.map((to, q) => ({ local: to, value: wasm.op("v128.or", local(to), local(barrier[q]!)) })),
      ...inLoops.map((to, q) => ({ local: to, value: wasm.op("v128.or", local(to), local(turn[q]!)) })),
    ]);
    this.#masks.deactivate(barrier.map((l, q) => wasm.op("v128.or", local(l), local(turn[q]!))));
  }

  /** If no lane is active behind a block, those go on that wait lowest. */
  goOnIfNobody(block: number): void {
    this.#goOnIfEmpty(this.#order.behindOthers(block), block);
  }

  /** The lanes that have not ended. */
  everybody(): readonly Wasm[] {
    if (this.#waits !== null) return this.#waits.live();
    return [...this.#masks.ofWaiting, ...(this.#suspension?.masks ?? [])].reduce<readonly Wasm[]>(
      (all, mask) => all.map((lanes, q) => wasm.op("v128.or", lanes, wasm.local("v128", mask[q]!))),
      this.#masks.active,
    );
  }

  /** `before`: other code that begins with the same lanes. It goes to the end, or to where these blocks go on. */
  write(writeBlock: WriteBlock, before: (() => void) | null = null): void {
    this.#order.begin();
    this.#code.write((block) => {
      if (this.#masks.mayWaitAt(block.index)) this.#takeIn(block.index);
      writeBlock(block);
    }, before);
  }

  /** All active lanes go to a block, or (the number of blocks) to the end. */
  jump(from: number, to: number): void {
    if (this.leaves(to)) this.leave(from, null);
    else if (to <= from) this.#code.goBack(to);
    else if (this.#mayWaitBetween(from, to)) {
      this.#masks.addWaiting(to, this.#masks.active);
      this.#masks.setNobody();
      this.#goOn(this.#order.behind(from), from);
    } else this.#code.goTo(to, to === from + 1);
  }

  /** The lanes in which a guard holds go to a block, the others to the next. `copies`: what is done before, for those and these. */
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

  /** All lanes leave the function, those that wait elsewhere, too. */
  end(): void {
    this.#code.goToEnd();
  }

  /** From other code: all lanes of the chunk leave the function. */
  leaveTogether(from: number): void {
    if (this.#waits === null) this.end();
    else this.leave(from, null);
  }

  /** The lanes of a mask leave the function, or (null) all. */
  leave(from: number, mask: readonly Wasm[] | null): void {
    this.#waits?.end(mask === null ? this.#masks.active : this.#masks.within(from, mask));
    if (mask === null) this.#masks.setNobody();
    else this.#masks.deactivate(mask);
    this.#waits?.settle(from, this);
    if (mask === null) this.#goOn(this.#order.behind(from), from);
    else this.#goOnIfEmpty(this.#order.behind(from), from);
  }

  /** Lanes that have waited for others go on: at the blocks where they are, the lowest first. Others are active behind `from`. */
  wake(from: number, woken: readonly { readonly at: number; readonly mask: readonly Wasm[] }[]): void {
    const { writer } = this.#chunk;
    for (const { at, mask } of woken) this.#masks.addWaiting(at, mask);
    const back = woken.map(({ at }) => at).filter((at) => at <= from);
    if (back.length > 0) {
      writer.value(anyOf(back.flatMap((at) => this.#masks.waitingAt(at))));
      writer.if(() => {
        const goesOn = this.#code.layout.blocks[from]!.successors.includes(from + 1) && !this.leaves(from + 1);
        if (goesOn) this.#masks.addWaiting(from + 1, this.#masks.active);
        this.#masks.setNobody();
        for (const at of back.toSorted((a, b) => a - b)) {
          writer.value(anyOf(this.#masks.waitingAt(at)));
          writer.if(() => this.#code.goBack(at));
        }
      });
    }
    this.#goOnIfEmpty(this.#order.behind(from), from);
  }

  /** Lanes go to several blocks: `chosen` are the lanes of each. Afterwards none is active. */
  scatter(from: number, choices: readonly { readonly to: number; readonly mask: readonly Wasm[] }[]): void {
    const { writer } = this.#chunk;
    const staying = choices.filter(({ to }) => !this.leaves(to));
    for (const { to, mask } of staying) this.#masks.addWaiting(to, mask);
    this.#masks.setNobody();
    if (this.#waits !== null && staying.length < choices.length) {
      for (const { to, mask } of choices) if (this.leaves(to)) this.#waits.end(mask);
      this.#waits.settle(from, this);
    }
    for (const to of [...new Set(staying.map((c) => c.to))].sort((a, b) => a - b)) {
      if (to > from) break;
      writer.value(anyOf(this.#masks.waitingAt(to)));
      writer.if(() => this.#code.goBack(to));
    }
    this.#goOn(this.#order.behind(from), from);
  }

  #branchForward(from: number, to: number, guard: readonly Wasm[], copy: () => void): void {
    const { writer } = this.#chunk;
    const taken = this.#masks.within(from, guard);
    writer.value(anyOf(taken));
    writer.if(() => {
      copy();
      if (!this.leaves(to) && !this.#masks.mayWaitAt(to)) {
        // The others leave, and nobody is on the way.
        this.#masks.setActive(taken);
        this.#code.goTo(to, false);
        return;
      }
      if (this.leaves(to)) {
        this.leave(from, guard);
        return;
      }
      this.#masks.addWaiting(to, taken);
      this.#masks.deactivate(guard);
      this.#goOnIfEmpty(this.#order.behind(from), from);
    });
  }

  /** Lanes that do not jump back wait at the next block. */
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
        this.#masks.addWaiting(
          next,
          this.#masks.active.map((a, q) => wasm.op("v128.andnot", a, guard[q]!)),
        );
      }
      this.#masks.setActive(this.#masks.active.map((a, q) => wasm.op("v128.and", a, guard[q]!)));
      this.#code.goBack(to);
    });
  }

  #mayWaitBetween(from: number, to: number): boolean {
    for (const w of this.#chunk.analysis.divergence.waiting(from)) if (w > from && w < to) return true;
    return false;
  }

  /** Whether lanes that go there only leave the function. */
  leaves(to: number): boolean {
    return to >= this.#chunk.analysis.code.graph.blocks.length || this.#chunk.analysis.isDeparture[to] === true;
  }

  /** No lane is active any more: on with those that wait lowest. `from`: the block that is at its end. */
  #goOn(next: number | undefined, from: number | null): void {
    if (next === undefined) this.#code.goToEnd();
    else this.#code.goTo(next, next === (from ?? Number.NaN) + 1);
  }

  #goOnIfEmpty(next: number | undefined, from: number | null): void {
    const { writer } = this.#chunk;
    writer.value(wasm.op("i32.eqz", anyOf(this.#masks.active)));
    writer.if(() => this.#goOn(next, from));
  }

  /** Lanes that wait at a block become active. If there are none, others go on elsewhere. */
  #takeIn(block: number): void {
    const { writer, active } = this.#chunk;
    const waiting = this.#masks.waitingAt(block);
    const here = this.#masks.active.map((lanes, q) => wasm.op("v128.or", lanes, waiting[q]!));
    const none = this.#masks.localsAt(block).map((local) => ({ local, value: wasm.i32x4(0) }));
    const next = this.#order.insteadOf(block);
    if (this.#chunk.analysis.isPartial(block)) {
      writer.assign([...active.map((local, q) => ({ local, value: here[q]! })), ...none]);
      this.#goOnIfEmpty(next, null);
      return;
    }
    // All lanes are here, or none is: the first tells.
    writer.value(wasm.op("i32.eqz", anyOf([here[0]!])));
    writer.if(() => this.#goOn(next, null));
    writer.assign([...active.map((local) => ({ local, value: wasm.i32x4(-1) })), ...none]);
  }
}

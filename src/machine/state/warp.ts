import { type Restore, restoreAll } from "../memory/checkpoint.ts";
import { LaneStack } from "../memory/lane-stack.ts";
import { Activation } from "./activation.ts";
import type { BasicBlock, FunctionCode, Site } from "./code.ts";
import type { Cta } from "./cta.ts";
import { Group } from "./group.ts";

/** What a group may spend on jumping backwards before it gives way. */
const patience = 0x1_0000;

/** What a jump costs after an access that can see other threads' progress: 64 rounds of a spinning loop. */
const watchfulJump = patience / 64;

/** Up to 32 lanes, in groups that run together: a warp of PTX, a hardware thread of vISA. */
export class Warp {
  readonly cta: Cta;
  readonly index: number;
  /** Lanes that exist (the last warp of a block may be partial), and those that have not exited. */
  readonly lanes: number;
  live = 0;
  /** `tid.x` of the lanes, then `tid.y`, then `tid.z`. */
  readonly tid: Int32Array;
  /** A hardware thread of vISA: its groups share one instruction pointer, and none overtakes another that waits. */
  readonly lockstep: boolean;
  readonly stack = new LaneStack();
  readonly groups: Group[] = [];
  /** Set by accesses that can see what other threads do: atomics, volatile and strong loads. */
  watched = false;
  /** The running group has given way; the schedule turns to others. */
  yielded = false;
  /** The last backward jump: where a launch that does not end is. */
  lastJump: Site | null = null;
  #patience = patience;
  #calls = 0;

  constructor(cta: Cta, index: number, lanes: number, tid: Int32Array) {
    this.cta = cta;
    this.index = index;
    this.lanes = lanes;
    this.tid = tid;
    this.lockstep = cta.grid.threads !== null;
  }

  start(code: FunctionCode): void {
    this.live = this.lanes;
    this.watched = false;
    this.yielded = false;
    this.lastJump = null;
    this.#patience = patience;
    const x = Activation.enter(code, this, this.lanes);
    x.depth = 0;
    x.base = 0;
    x.top = code.frame.size;
    x.cost = code.stackCost;
    this.stack.reserve(x.top);
    this.stack.clear(0, x.top, this.lanes);
    while (this.groups.length > 0) this.groups.pop();
    this.groups.push(new Group(x, code.entry, this.lanes, 0));
    const { ticket, id, warps, grid, slot } = this.cta;
    grid.threads?.start(x.file, {
      group: id,
      index: this.index,
      serial: ticket * warps.length + this.index,
      slot,
      lanes: this.lanes,
      localIds: this.tid,
    });
  }

  /**
   * The group to run: among those that gave way least, the one in the deepest frame, of several such frames in the one that was
   * entered first, and there the lowest place. Groups that stand at its place become one with it. Null when all wait or none
   * is left.
   */
  pick(): Group | null {
    if (this.lockstep) return this.#atPointer();
    let best: Group | null = null;
    for (const g of this.groups) if (g.wait === null && (best === null || before(g, best))) best = g;
    if (best !== null && this.groups.length > 1) this.#merge(best);
    return best;
  }

  /**
   * The group at the thread's instruction pointer, if it does not wait. One activation is the deepest, and its groups are
   * the last of the list.
   */
  #atPointer(): Group | null {
    const { groups } = this;
    let i = groups.length - 1;
    if (i < 0) return null;
    let best = groups[i]!;
    const { activation } = best;
    while (--i >= 0 && groups[i]!.activation === activation) if (groups[i]!.at.index < best.at.index) best = groups[i]!;
    if (best.wait !== null) return null;
    if (groups.length - i > 2) this.#merge(best);
    return best;
  }

  /** Lanes of a group go their own way. */
  fork(group: Group, mask: number, at: BasicBlock): Group {
    const other = new Group(group.activation, at, mask, group.turn);
    group.mask &= ~mask;
    this.groups.push(other);
    return other;
  }

  /** Lanes that are elsewhere in the group's activation come to the group. */
  gather(group: Group): void {
    for (const other of [...this.groups]) {
      if (other === group || other.activation !== group.activation) continue;
      group.mask |= other.mask;
      this.remove(other);
    }
  }

  /** Lanes of a group begin to execute a function at `entry`; `resume` is where they go on afterwards. */
  call(group: Group, callee: Activation, entry: BasicBlock, mask: number, site: Site, resume: BasicBlock): void {
    callee.caller = group.activation;
    callee.callSite = site;
    callee.resume = resume;
    callee.depth = group.activation.depth + 1;
    callee.serial = this.#calls++;
    group.mask &= ~mask;
    if (group.mask === 0) this.remove(group);
    this.groups.push(new Group(callee, entry, mask, group.turn));
  }

  /** All lanes of the thread begin to execute a function; then the group goes on as it was, at `resume`. */
  callAll(group: Group, callee: Activation, entry: BasicBlock, site: Site, resume: BasicBlock): void {
    const { mask } = group;
    this.call(group, callee, entry, mask, site, resume);
    this.groups[this.groups.length - 1]!.mask = this.live;
    callee.live = this.live;
    callee.resumeMask = mask;
  }

  /** Lanes of a group leave its function. The caller goes on when no lane is left in it. */
  return(group: Group, mask: number): void {
    const x = group.activation;
    x.onReturn?.(x, mask);
    x.live &= ~mask;
    x.returned |= mask;
    this.#retire(group, mask);
    if (x.live === 0) this.#leave(x, group.turn);
  }

  /** Lanes of a group end. */
  exit(group: Group, mask: number): void {
    const x = group.activation;
    this.live &= ~mask;
    this.#retire(group, mask);
    for (let frame: Activation | null = x; frame !== null; frame = frame.caller) frame.live &= ~mask;
    if (x.live === 0) this.#leave(x, group.turn);
  }

  /** A group jumps to an earlier block. One that keeps doing so gives way, so that whoever it waits for can run. */
  jumpBack(group: Group, site: Site): void {
    this.lastJump = site;
    this.#patience -= this.watched ? watchfulJump : 1;
    this.watched = false;
    if (this.#patience <= 0) this.giveWay(group);
  }

  giveWay(group: Group): void {
    this.#patience = patience;
    this.yielded = true;
    if (!this.lockstep && (this.groups.length > 1 || group.mask !== this.live)) {
      group.turn++;
      this.flushReturned(group);
    }
  }

  /**
   * Lanes that have returned and wait for others of their activation go on without them; else a lane that spins in a callee
   * for one that has returned from it would spin for ever. True when there were any.
   */
  flushReturned(group: Group): boolean {
    let any = false;
    for (let x = group.activation; x.caller !== null; x = x.caller) {
      if (x.returned === 0) continue;
      this.groups.push(new Group(x.caller, x.resume!, x.returned, group.turn - 1));
      x.returned = 0;
      any = true;
    }
    return any;
  }

  remove(group: Group): void {
    const { groups } = this;
    const last = groups.pop()!;
    if (last === group) return;
    let at = groups.lastIndexOf(group);
    if (this.lockstep) for (; at + 1 < groups.length; at++) groups[at] = groups[at + 1]!;
    groups[at] = last;
  }

  /** All that its groups execute and will return to, callers behind their callees. */
  get activations(): ReadonlySet<Activation> {
    const found = new Set<Activation>();
    for (const { activation } of this.groups) {
      for (let x: Activation | null = activation; x !== null && !found.has(x); x = x.caller) found.add(x);
    }
    return found;
  }

  /** Bytes that a checkpoint of the warp keeps, about. */
  get stateBytes(): number {
    let bytes = 0;
    let top = 0;
    for (const x of this.activations) {
      if (x.within === null) bytes += x.i32.byteLength;
      top = Math.max(top, x.top);
    }
    return bytes + 32 * top;
  }

  checkpoint(): Restore {
    const { live, watched, yielded, lastJump } = this;
    const left = this.#patience;
    const calls = this.#calls;
    const groups = [...this.groups];
    const activations = [...this.activations];
    const top = activations.reduce((most, x) => Math.max(most, x.top), 0);
    const parts = [...activations, ...groups].map((part) => part.checkpoint());
    const restore = restoreAll([...parts, this.stack.checkpoint(Math.min(top, this.stack.stride))]);
    return () => {
      Object.assign(this, { live, watched, yielded, lastJump });
      this.#patience = left;
      this.#calls = calls;
      this.groups.splice(0, this.groups.length, ...groups);
      restore();
    };
  }

  #retire(group: Group, mask: number): void {
    group.mask &= ~mask;
    if (group.mask === 0) this.remove(group);
  }

  #leave(innermost: Activation, turn: number): void {
    let x: Activation | null = innermost;
    while (x !== null && x.live === 0) {
      const caller: Activation | null = x.caller;
      const mask = x.resumeMask === 0 ? x.returned : x.resumeMask & this.live;
      if (caller !== null && mask !== 0) this.groups.push(new Group(caller, x.resume!, mask, turn));
      x.release();
      x = caller;
    }
  }

  #merge(into: Group): void {
    const groups = this.groups;
    let kept = 0;
    for (const g of groups) {
      if (g !== into && g.wait === null && g.at === into.at && g.activation === into.activation) into.mask |= g.mask;
      else groups[kept++] = g;
    }
    while (groups.length > kept) groups.pop();
  }
}

const before = (a: Group, b: Group): boolean => {
  if (a.turn !== b.turn) return a.turn < b.turn;
  if (a.activation.depth !== b.activation.depth) return a.activation.depth > b.activation.depth;
  // Places in different functions do not compare: of those that one call has entered, the first comes first.
  if (a.activation !== b.activation) return a.activation.serial < b.activation.serial;
  return a.at.index < b.at.index;
};

import { type Restore, restoreAll } from "../memory/checkpoint.ts";
import { LaneStack } from "../memory/lane-stack.ts";
import { enterFunction } from "./activation.ts";
import type { Site } from "./code.ts";
import { LaneGroup } from "./group.ts";
import type { Activation, BasicBlock, Cta, FunctionCode, Group, Warp } from "./launch-state.ts";

/** The cost of backward jumps after which a group gives way. */
const patience = 0x1_0000;

/** The cost of a jump after an access that can see other threads' progress: 64 rounds of a spinning loop. */
const watchfulJump = patience / 64;

export class BlockWarp implements Warp {
  readonly cta: Cta;
  readonly index: number;
  readonly lanes: number;
  live = 0;
  readonly tid: Int32Array;
  readonly lockstep: boolean;
  readonly stack = new LaneStack();
  readonly groups: Group[] = [];
  watched = false;
  yielded = false;
  passesTurn = false;
  polled = 0;
  pollWord = 0n;
  pollPlace: Warp["pollPlace"] = null;
  pollSite: Site | null = null;
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
    this.passesTurn = false;
    this.polled = 0;
    this.lastJump = null;
    this.#patience = patience;
    const x = enterFunction(code, this, this.lanes);
    x.depth = 0;
    x.base = 0;
    x.top = code.frame.size;
    x.cost = code.stackCost;
    this.stack.reserve(x.top);
    this.stack.clear(0, x.top, this.lanes);
    while (this.groups.length > 0) this.groups.pop();
    this.groups.push(new LaneGroup(x, code.entry, this.lanes, 0));
    if (this.lockstep) this.#startThread(x);
  }

  /** Gives a hardware thread its payload. */
  #startThread(x: Activation): void {
    const { ticket, id, warps, grid, slot } = this.cta;
    grid.threads!.start(x.file, {
      group: id,
      index: this.index,
      serial: ticket * warps.length + this.index,
      slot,
      lanes: this.lanes,
      localIds: this.tid,
    });
  }

  pick(): Group | null {
    if (this.lockstep) return this.#atPointer();
    let best: Group | null = null;
    const { groups } = this;
    for (let i = 0; i < groups.length; i++) {
      const g = groups[i]!;
      if (g.wait === null && (best === null || before(g, best))) best = g;
    }
    if (best !== null && groups.length > 1) this.#merge(best);
    return best;
  }

  /**
   * The group at the thread's instruction pointer, if it does not wait. One activation is the deepest, and its groups
   * are at the end of the list.
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

  fork(group: Group, mask: number, at: BasicBlock): Group {
    const other = new LaneGroup(group.activation, at, mask, group.turn);
    group.mask &= ~mask;
    this.groups.push(other);
    return other;
  }

  gather(group: Group): void {
    for (const other of [...this.groups]) {
      if (other === group || other.activation !== group.activation) continue;
      group.mask |= other.mask;
      this.remove(other);
    }
  }

  call(group: Group, callee: Activation, entry: BasicBlock, mask: number, site: Site, resume: BasicBlock): void {
    callee.caller = group.activation;
    callee.callSite = site;
    callee.resume = resume;
    callee.depth = group.activation.depth + 1;
    callee.serial = this.#calls++;
    group.mask &= ~mask;
    if (group.mask === 0) this.remove(group);
    this.groups.push(new LaneGroup(callee, entry, mask, group.turn));
  }

  callAll(group: Group, callee: Activation, entry: BasicBlock, site: Site, resume: BasicBlock): void {
    const { mask } = group;
    this.call(group, callee, entry, mask, site, resume);
    this.groups[this.groups.length - 1]!.mask = this.live;
    callee.live = this.live;
    callee.resumeMask = mask;
  }

  return(group: Group, mask: number): void {
    const x = group.activation;
    x.onReturn?.(x, mask);
    x.live &= ~mask;
    x.returned |= mask;
    this.#retire(group, mask);
    if (x.live === 0) this.#leave(x, group.turn);
  }

  exit(group: Group, mask: number): void {
    const x = group.activation;
    this.live &= ~mask;
    this.#retire(group, mask);
    for (let frame: Activation | null = x; frame !== null; frame = frame.caller) frame.live &= ~mask;
    if (x.live === 0) this.#leave(x, group.turn);
  }

  jumpBack(group: Group, site: Site, mayAwait: boolean): void {
    this.lastJump = site;
    this.#patience -= mayAwait && this.watched ? watchfulJump : 1;
    // A loop within one that may wait can be what comes after the access.
    if (mayAwait) this.watched = false;
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

  flushReturned(group: Group): boolean {
    let any = false;
    for (let x = group.activation; x.caller !== null; x = x.caller) {
      if (x.returned === 0) continue;
      this.groups.push(new LaneGroup(x.caller, x.resume!, x.returned, group.turn - 1));
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

  get activations(): ReadonlySet<Activation> {
    const found = new Set<Activation>();
    for (const { activation } of this.groups) {
      for (let x: Activation | null = activation; x !== null && !found.has(x); x = x.caller) found.add(x);
    }
    return found;
  }

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
    const { live, watched, yielded, passesTurn, lastJump } = this;
    const left = this.#patience;
    const calls = this.#calls;
    const groups = [...this.groups];
    const activations = [...this.activations];
    const top = activations.reduce((most, x) => Math.max(most, x.top), 0);
    const parts = [...activations, ...groups].map((part) => part.checkpoint());
    const restore = restoreAll([...parts, this.stack.checkpoint(Math.min(top, this.stack.stride))]);
    return () => {
      Object.assign(this, { live, watched, yielded, passesTurn, lastJump });
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
      if (caller !== null && mask !== 0) this.groups.push(new LaneGroup(caller, x.resume!, mask, turn));
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
  // Places in different functions cannot be compared: of the activations of one call, the first comes first.
  if (a.activation !== b.activation) return a.activation.serial < b.activation.serial;
  return a.at.index < b.at.index;
};

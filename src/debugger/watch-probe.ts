import { lowestLane } from "../ir/lane-mask.ts";
import { executingLanes, type Execution, type Moment } from "../interpreter/execution.ts";
import { writesOf } from "../ir/flow/index.ts";
import type { Destination } from "../ir/index.ts";
import { byteOf } from "../ir/region.ts";
import type { Activation, Group, Warp } from "../machine/state/launch-state.ts";
import type { LaneAddresses } from "../machine/state/code.ts";
import type { Probe } from "./probe.ts";
import { BlockMarks } from "./probes.ts";
import { plainAddress, readMemory } from "./view/memory-view.ts";
import type { VisaVariable } from "./view/variables.ts";
import type { Watched, WatchOwner, Watchpoint } from "./watchpoint.ts";

/** An access to something watched by the instruction at a time. */
export interface WatchHit {
  /** The watchpoint that was hit. */
  readonly watchpoint: Watchpoint;
  /** The accessing lanes, as a signed 32-bit mask. */
  readonly lanes: number;
  /** The bytes before and after the access; null if they could not be read. */
  readonly old: Uint8Array | null;
  readonly now: Uint8Array | null;
}

/** The part of a session that the probe needs. */
export interface WatchContext {
  readonly now: number;
  /** Changes whenever the watchpoints do. */
  readonly revision: number;
  readonly launch: number;
  readonly execution: Execution;
}

type WatchedRegister = Extract<Watched, { kind: "register" }>;
type WatchedMemory = Extract<Watched, { kind: "memory" }>;

interface Seen {
  readonly watchpoint: Watchpoint;
  readonly lanes: number;
  readonly old: Uint8Array | null;
}

const same = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a === b || (a !== null && b !== null && a.length === b.length && a.every((byte, i) => byte === b[i]));

const wide = new BigInt64Array(32);
const addresses: LaneAddresses = { wide, words: new Int32Array(wide.buffer) };

/**
 * Finds accesses to what is watched: determines before an instruction which lanes will access it, and after it what has
 * changed.
 */
export class WatchProbe implements Probe {
  readonly #machine: WatchContext;
  readonly #source: { values(): Iterable<Watchpoint> };
  #watchpoints: readonly Watchpoint[] = [];
  #watchesMemory = false;
  #revision = -1;
  readonly #accesses = new BlockMarks(({ steps }) => steps.some((step) => step.accesses.length > 0));
  #seen: readonly Seen[] = [];
  #now = 0;
  /** The hits at the last instruction that had any, and the time of it. */
  hits: readonly WatchHit[] = [];
  time = -1;

  constructor(watchpoints: { values(): Iterable<Watchpoint> }, machine: WatchContext) {
    this.#source = watchpoints;
    this.#machine = machine;
    this.#refresh();
  }

  wants(group: Group): boolean {
    if (this.#revision !== this.#machine.revision) this.#refresh();
    if (this.#watchpoints.length === 0) return false;
    if (this.#watchesMemory && this.#accesses.has(group.at)) return true;
    const { warp } = group.activation;
    return this.#watchpoints.some(({ watched }) => watched.kind === "register" && this.#isOfWarp(watched.owner, warp));
  }

  before(moment: Moment): boolean {
    this.#now = this.#machine.now;
    this.#seen = this.#watchpoints.flatMap((watchpoint) => {
      const lanes = this.#lanesThatAccess(watchpoint, moment);
      if (lanes === 0) return [];
      return [{ watchpoint, lanes, old: this.#bytesOf(watchpoint.watched, moment) }];
    });
    return false;
  }

  after(moment: Moment): boolean {
    if (this.#seen.length === 0) return false;
    const hits = this.#seen.flatMap(({ watchpoint, lanes, old }) => {
      const now = this.#bytesOf(watchpoint.watched, moment);
      return watchpoint.on === "change" && same(old, now) ? [] : [{ watchpoint, lanes, old, now }];
    });
    if (hits.length === 0) return false;
    this.hits = hits;
    this.time = this.#now;
    return true;
  }

  #refresh(): void {
    this.#revision = this.#machine.revision;
    this.#watchpoints = [...this.#source.values()].filter((w) => w.enabled);
    this.#watchesMemory = this.#watchpoints.some(({ watched }) => watched.kind === "memory");
  }

  #isOfWarp(owner: WatchOwner, warp: Warp): boolean {
    return owner.launch === this.#machine.launch && warp.index === owner.warp && warp.cta.ticket === owner.block;
  }

  /** Whether a warp can access this memory. */
  #isInReach({ owner, place: { space } }: WatchedMemory, warp: Warp): boolean {
    if (owner === null) return true;
    if (space === "local") return this.#isOfWarp(owner, warp);
    return owner.launch === this.#machine.launch && (space !== "shared" || owner.block === warp.cta.ticket);
  }

  #lanesThatAccess({ watched, on }: Watchpoint, moment: Moment): number {
    if (watched.kind === "memory") {
      return this.#isInReach(watched, moment.warp) ? lanesAtMemory(watched, on, moment, this.#machine.execution) : 0;
    }
    return this.#isOfWarp(watched.owner, moment.warp) ? lanesAtRegister(watched, on, moment) : 0;
  }

  #bytesOf(watched: Watched, { warp, group }: Moment): Uint8Array | null {
    const { grid } = this.#machine.execution;
    if (watched.kind === "memory") {
      const lane = watched.owner?.lane ?? lowestLane(group.mask);
      return readMemory({ grid, activation: group.activation, lane }, watched.address, watched.bytes);
    }
    const activation = [...warp.activations].find((x) => isActivation(watched, x));
    return activation === undefined ? null : watched.register.read({ grid, activation, lane: watched.owner.lane });
  }
}

const isActivation = (watched: WatchedRegister, x: Activation): boolean =>
  x.depth === watched.depth && x.serial === watched.serial && x.code.ir.name === watched.function;

/** Returns the lanes in which an instruction is about to access the watched memory in the requested way. */
function lanesAtMemory(
  { place, bytes, owner }: WatchedMemory,
  on: Watchpoint["on"],
  moment: Moment,
  { grid }: Execution,
): number {
  const { step, group } = moment;
  if (step === null || step.accesses.length === 0) return 0;
  const executing = executingLanes(moment);
  if (executing === 0) return 0;
  let found = 0;
  for (const { effect, access, addresses: write } of step.accesses) {
    if (on === "read" ? effect === "store" : on !== "access" && effect === "load") continue;
    const lanes = write(group.activation, executing, addresses);
    const size = (access.bits / 8) * access.count;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      if (owner !== null && place.space === "local" && lane !== owner.lane) continue;
      const at = plainAddress(grid, BigInt.asUintN(64, wide[lane]!));
      if (at === null || at.space !== place.space) continue;
      if (at.low < place.low + bytes && at.low + size > place.low) found |= 1 << lane;
    }
  }
  return found;
}

/** Whether a result may overlap a variable. If its position is computed, it may be anywhere. */
function mayTouch(to: Destination, { at, bytes }: VisaVariable): boolean {
  if (to === null || typeof to === "number") return false;
  if (to.kind === "indirect") return true;
  for (let lane = 0; lane < 32; lane++) {
    const byte = byteOf(to.region, to.bits, lane);
    if (byte < at + bytes && byte + to.bits / 8 > at) return true;
  }
  return false;
}

function lanesAtRegister(watched: WatchedRegister, on: Watchpoint["on"], moment: Moment): number {
  const { group, site } = moment;
  const { register, owner } = watched;
  // A variable of vISA belongs to all lanes.
  const bit = register.kind === "register" ? 1 << owner.lane : -1;
  if (isActivation(watched, group.activation)) {
    let writes = register.kind === "file" && site.instruction.dst.some((to) => mayTouch(to, register));
    writesOf(site.instruction, (r) => {
      writes ||= register.kind === "register" && r === register.register;
    });
    return writes ? executingLanes(moment) & bit : 0;
  }
  // A return writes results into the caller's registers.
  const { caller } = group.activation;
  const returns = site.instruction.op.kind === "return" && caller !== null && isActivation(watched, caller);
  return returns && on === "change" ? executingLanes(moment) & bit : 0;
}

import { lowestLane } from "../../ir/lane-mask.ts";
import { type Space, windows } from "../../ir/index.ts";
import { locate, stackByte } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import { extentAt } from "../../machine/memory/extent.ts";
import type { Allocation } from "../../machine/memory/allocation.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { sharedOwner } from "../../machine/state/cluster.ts";
import type { Activation, Cta, Warp } from "../../machine/state/launch-state.ts";
import { ByteShadow } from "./byte-shadow.ts";
import type { Shade } from "./shade.ts";

/** The largest alignment, in bytes, of types that have padding. */
const widestAlignment = 16;

/** The assumed alignment of shared memory that has no variables of its own. */
const usualAlignment = 8;

/** The shadow of the stacks of a warp's lanes. */
interface Stacks {
  stride: number;
  bytes: ByteShadow;
}

/**
 * The undefined bits of the memory of a launch: of shared memory, stacks, `malloc`, and what the host has allocated if
 * its writes are noted. All other memory is initialized before.
 */
export class MemoryShadow {
  /** Results of `find`. */
  bytes!: ByteShadow;
  at = 0;
  readonly #shared = new WeakMap<Cta, ByteShadow>();
  #lastCta: Cta | null = null;
  #lastShared: ByteShadow | undefined;
  readonly #stacks = new WeakMap<Warp, Stacks>();
  /**
   * Shadows of private memory that something undefined was stored to, of memory from `malloc` in this launch, and of
   * memory of which all writes are noted.
   */
  readonly #private = new Map<Allocation, ByteShadow>();
  /** Whether there may be memory that gets a shadow when it is accessed: of `malloc`, or whose writes are noted. */
  hasHeap = false;

  beginLaunch(memory: DeviceMemory): void {
    this.hasHeap = memory.allocations.some(({ unwritten }) => unwritten !== undefined);
  }

  beginBlock(cta: Cta): void {
    let shared = this.#shared.get(cta);
    if (shared === undefined) this.#shared.set(cta, (shared = new ByteShadow(cta.shared.u8.length)));
    shared.forget(0, shared.size);
  }

  /** Marks a frame of the lanes as never written. */
  beginFrame(warp: Warp, start: number, end: number, mask: number): void {
    if (start === end) return;
    const { bytes, stride } = this.#stacksOf(warp);
    for (let m = mask; m !== 0; m &= m - 1) {
      const at = lowestLane(m) * stride;
      bytes.forget(at + start, at + end);
    }
  }

  /** Forgets what lies beyond the frames: `alloca` or a call may reuse it. */
  dropBeyond(warp: Warp, top: number, mask: number): void {
    const { bytes, stride } = this.#stacksOf(warp);
    for (let m = mask; m !== 0; m &= m - 1) {
      const at = lowestLane(m) * stride;
      bytes.define(at + top, at + stride);
    }
  }

  /** Reads up to eight bytes of a lane's stack. */
  readStack(warp: Warp, lane: number, offset: number, size: number, into: Shade): void {
    const { bytes, stride } = this.#stacksOf(warp);
    bytes.read(lane * stride + offset, Math.max(size, 0), into);
  }

  writeStack(warp: Warp, lane: number, offset: number, size: number, shade: Shade): void {
    const { bytes, stride } = this.#stacksOf(warp);
    bytes.write(lane * stride + offset, size, shade);
  }

  copyStack(warp: Warp, lane: number, from: number, to: number, size: number): void {
    const { bytes, stride } = this.#stacksOf(warp);
    bytes.copy(bytes, lane * stride + from, lane * stride + to, size);
  }

  defineStack(warp: Warp, offset: number, size: number, mask: number): void {
    const { bytes, stride } = this.#stacksOf(warp);
    for (let m = mask; m !== 0; m &= m - 1) {
      const at = lowestLane(m) * stride + offset;
      bytes.define(at, at + size);
    }
  }

  /**
   * Notes a first read of all bytes of a stack variable that have not been read; `originOf` depends on whether some are
   * written.
   */
  readFirst(
    x: Activation,
    lane: number,
    { at, size }: { readonly at: number; readonly size: number },
    originOf: (doubtful: boolean) => number,
  ): void {
    const { bytes, stride } = this.#stacksOf(x.warp);
    const start = lane * stride + at;
    if (!bytes.mayHave(start, start + size)) return;
    let written = false;
    for (let b = start; b < start + size; b++) written ||= bytes.bits[b] !== 0xff;
    bytes.readFirst(start, start + size, originOf(written));
  }

  /** Whether an access to this space may read or store something undefined. */
  covers(space: Space): boolean {
    if (space === "const" || space === "kernel-param") return false;
    return space !== "global" || this.#private.size > 0 || this.hasHeap;
  }

  /** Sets `bytes` and `at` to the shadow of a lane's memory at an address; false if it has none. */
  find(x: Activation, lane: number, space: Space, address: AddressParts, size: number): boolean {
    const { low } = address;
    if (space !== "global" && !this.#isGlobal(x, space, address)) {
      const { shared, local } = windows;
      if (low >= shared.from && low < shared.end) return this.#findShared(x.warp.cta, low, size);
      if (low < local.start || low >= local.end) return false;
      const { bytes, stride } = this.#stacksOf(x.warp);
      const offset = stackByte(x, lane, low - local.start);
      return offset + size <= stride && this.#set(bytes, lane * stride + offset, size);
    }
    if (this.#private.size === 0 && !this.hasHeap) return false;
    const allocation = this.#allocationOf(x, address);
    if (allocation === null) return false;
    const bytes = this.#private.get(allocation) ?? this.#taken(allocation, x);
    return this.#set(bytes, this.#offsetOf(x, address) - allocation.start, size);
  }

  #findShared(cta: Cta, low: number, size: number): boolean {
    const { block, low: own } = sharedOwner(cta, low);
    if (block === null || typeof block === "string") return false;
    return this.#set(this.#sharedOf(block), own - windows.shared.start, size);
  }

  #sharedOf(cta: Cta): ByteShadow | undefined {
    if (cta !== this.#lastCta) {
      this.#lastCta = cta;
      this.#lastShared = this.#shared.get(cta);
    }
    return this.#lastShared;
  }

  /**
   * The shadow of memory from `malloc` in this launch, which is initially unwritten, or of what the host has allocated.
   */
  #taken(allocation: Allocation, x: Activation): ByteShadow | undefined {
    if (allocation.unwritten !== undefined) {
      const kept = new ByteShadow(allocation.unwritten);
      this.#private.set(allocation, kept);
      return kept;
    }
    if (allocation.origin?.launch !== x.warp.cta.grid.id) return undefined;
    const bytes = new ByteShadow(allocation.end - allocation.start);
    bytes.forget(0, bytes.size);
    this.#private.set(allocation, bytes);
    return bytes;
  }

  /** The same for private memory that something undefined is stored to: it gets a shadow then. */
  findPrivate(x: Activation, address: AddressParts, size: number): boolean {
    const allocation = this.#allocationOf(x, address);
    if (allocation === null || !allocation.perThread) return false;
    let bytes = this.#private.get(allocation);
    if (bytes === undefined) this.#private.set(allocation, (bytes = new ByteShadow(allocation.end - allocation.start)));
    return this.#set(bytes, this.#offsetOf(x, address) - allocation.start, size);
  }

  /**
   * Whether unwritten bytes may be padding, or a part of an aggregate that has no value yet: if something before them
   * within their alignment is written or, on the stack, if anything of the variable is.
   */
  maybePadding(x: Activation, lane: number, address: AddressParts): boolean {
    const { grid } = x.warp.cta;
    const place = locate(x, lane, address);
    if (place === null) return false;
    const { low } = address;
    if (place.kind === "shared") {
      const { low: own } = sharedOwner(x.warp.cta, low);
      const align = extentAt(grid.sharedExtents, own)?.align ?? usualAlignment;
      return this.#written(low - (low % Math.min(align, widestAlignment)), low, this.at - low);
    }
    return this.#written(place.start, place.end, this.at - low);
  }

  /** Whether any byte between two addresses is written. */
  #written(from: number, to: number, shift: number): boolean {
    for (let a = from; a < to; a++) if (this.bytes.bits[a + shift] !== 0xff) return true;
    return false;
  }

  #set(bytes: ByteShadow | undefined, at: number, size: number): boolean {
    if (bytes === undefined || at < 0 || at + size > bytes.size) return false;
    this.bytes = bytes;
    this.at = at;
    return true;
  }

  #isGlobal(x: Activation, space: Space, address: AddressParts): boolean {
    return space === "generic" && x.warp.cta.grid.addresses.classify(address).kind === "global";
  }

  #offsetOf(x: Activation, { low }: AddressParts): number {
    return low - x.warp.cta.grid.addresses.globalLow;
  }

  #allocationOf(x: Activation, address: AddressParts): ReturnType<DeviceMemory["find"]> {
    const { addresses, memory } = x.warp.cta.grid;
    const classified = addresses.classify(address);
    return classified.kind === "global" ? memory.find(classified.offset) : null;
  }

  #stacksOf(warp: Warp): Stacks {
    const { stride } = warp.stack;
    let stacks = this.#stacks.get(warp);
    if (stacks?.stride === stride) return stacks;
    const bytes = new ByteShadow(stride * 32);
    if (stacks !== undefined) {
      for (let lane = 0; lane < 32; lane++)
        bytes.copy(stacks.bytes, lane * stacks.stride, lane * stride, stacks.stride);
    }
    this.#stacks.set(warp, (stacks = { stride, bytes }));
    return stacks;
  }
}

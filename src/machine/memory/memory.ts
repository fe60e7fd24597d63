import type { WasmMemory } from "../../wasm/host.ts";
import { type Allocation, type AllocationOptions, noteWritten, unwrittenBits } from "./allocation.ts";
import { ImageTable } from "../images/image-table.ts";
import type { Restore } from "./checkpoint.ts";
import type { FrozenMemory } from "./frozen-memory.ts";
import { DeviceHeap } from "./device-heap.ts";
import { copiedBytes } from "./fill.ts";
import { FreeRanges } from "./free-ranges.ts";
import { growMemory, type HostPages, makeMemory } from "./host-pages.ts";
import { bytesIn, extentAt, lastAtOrBefore, nearestExtent } from "./extent.ts";
import { MemoryHistory } from "./memory-history.ts";
import { MemoryPages } from "./memory-pages.ts";
import { PendingLaunches } from "./pending-launches.ts";
import { clearBytes, type Underlay } from "./underlay.ts";
import { Views } from "./views.ts";

const alignment = 256;
const gap = 256;
const maxBytes = 2 ** 32 - 2 ** 16;

/** Bytes of freed memory that stay in quarantine; beyond that, the oldest is used again. */
const maxQuarantined = 64 * 2 ** 20;

/** Bytes that are kept for copies of small allocations. */
const maxKeptCopies = 2 ** 20;

/** A device of more bytes than this lies in WebAssembly's memory in any case: to move it later would copy all of it. */
const maxToMove = 2 ** 20;

/** The bytes that an allocation of a size takes, with the gap after it. */
const roomFor = (size: number): number => Math.ceil(Math.max(size, 1) / alignment) * alignment + gap;

/**
 * The memory of one device: allocations in one growable range of 32-bit offsets. An allocation is 256-byte aligned,
 * never at 0, surrounded by gaps, filled with zeros, and stays where it is until it is freed.
 */
export class DeviceMemory {
  /** Keep freed memory unused, so that an access after `free` is an error rather than other data. */
  quarantine = false;
  /** Counts the changes after which a remembered range or view is no longer valid. */
  epoch = 0;
  /** How it has become what it is, for launches that may have to be undone. @internal */
  readonly history: MemoryHistory;
  /** The launches that run on it while the host does something else. */
  readonly pending = new PendingLaunches();
  #allocationsVersion = 0;
  #counted = { version: 0, bytes: 0 };
  /** Where the next allocations begin, if that is not for this memory to decide. */
  #places: number[] = [];
  #copies = new Uint8Array();
  /** The textures, surfaces and samplers whose texels lie in it. */
  readonly images = new ImageTable();
  /** What device code has allocated. */
  readonly heap = new DeviceHeap();
  #views = new Views(1 << 20);
  readonly #allocations: Allocation[] = [];
  #free = new FreeRanges();
  readonly #freed: Allocation[] = [];
  #freedBytes = 0;
  #top = 0x1_0000;
  #wasm: WasmMemory | null = null;
  #shared = false;
  readonly #underlay: Underlay | null;
  readonly #pages: HostPages | null;

  /**
   * `underlay`: see `Underlay`. The memory then is shared, since a shared one is never moved. `pages`: null for those
   * that the host gives by itself.
   */
  constructor(underlay: Underlay | null = null, pages: HostPages | null = null) {
    this.#underlay = underlay;
    this.#pages = pages;
    this.history = new MemoryHistory(underlay === null);
    if (underlay === null) return;
    this.#shared = true;
    this.#move();
  }

  /** Views of all bytes; others replace them when the memory grows (`epoch`). */
  get views(): Views {
    return this.#views;
  }

  /** Bytes that have been in use so far. */
  get used(): number {
    return this.#top;
  }

  /** All allocations, sorted by offset. */
  get allocations(): readonly Allocation[] {
    return this.#allocations;
  }

  /** Changes whenever the allocations do. */
  get allocationsVersion(): number {
    return this.#allocationsVersion;
  }

  /**
   * Allocates bytes and returns their offset. Throws a RangeError when the device's 4 GiB, or the host's memory, are
   * exhausted.
   */
  alloc(size: number, name?: string, options: AllocationOptions = {}): number {
    if (!Number.isSafeInteger(size) || size < 0) throw new RangeError(`cannot allocate ${size} bytes`);
    this.history.forget();
    const { perThread = false, origin, align = alignment, notesWrites = false } = options;
    const room = roomFor(size);
    const start = this.#zeroed(
      () => this.#placeOf(room) ?? this.#free.take(room, align) ?? this.#fresh(room, align),
      room,
    );
    const known = name ?? `the allocation of ${size} bytes`;
    this.#allocationsVersion++;
    const allocation = {
      start,
      end: start + size,
      name: known,
      freed: false,
      perThread,
      origin,
      ...(notesWrites ? { unwritten: unwrittenBits(size) } : {}),
    };
    this.#allocations.splice(lastAtOrBefore(this.#allocations, start) + 1, 0, allocation);
    return start;
  }

  /** Where the next allocation has to begin, if that is not for this memory to decide. */
  #placeOf(room: number): number | undefined {
    const place = this.#places.shift();
    if (place === undefined) return undefined;
    this.keepFree(place + room);
    this.#free.remove([[place, place + room]]);
    return place;
  }

  /** Lets the next allocations begin at these offsets, one after the other: where they lay in another device. */
  placeNext(offsets: readonly number[]): void {
    this.#places = [...offsets];
  }

  /** Lets all room up to an offset be for what is placed there. Throws a RangeError if there is not so much. */
  keepFree(end: number): void {
    if (end > maxBytes) throw new RangeError(`out of device memory: it has no byte ${end}`);
    this.#reserve(end);
    this.#top = Math.max(this.#top, Math.ceil(end / alignment) * alignment);
  }

  /** Takes the allocations of another device, sorted, which must not overlap, and those of device code among them. */
  assume(allocations: readonly Allocation[], heap: readonly number[]): void {
    this.history.forget();
    this.#allocations.splice(0, this.#allocations.length, ...allocations);
    this.#free.clear();
    this.#freed.splice(0, this.#freed.length);
    this.#freedBytes = 0;
    const sizes = new Map(allocations.map(({ start, end }) => [start, end - start]));
    this.heap.assume(heap.map((offset) => [offset, sizes.get(offset) ?? 0]));
    this.#allocationsVersion++;
    this.epoch++;
  }

  /** Frees an allocation. Returns false when none that is in use begins at the offset. */
  free(offset: number): boolean {
    const i = lastAtOrBefore(this.#allocations, offset);
    const allocation = this.#allocations[i];
    if (allocation === undefined || allocation.start !== offset || allocation.freed) return false;
    this.history.forget();
    this.epoch++;
    this.#allocationsVersion++;
    this.images.forget(allocation.start, Math.max(allocation.end, allocation.start + 1));
    if (!this.quarantine) {
      this.#recycle(i);
      return true;
    }
    allocation.freed = true;
    this.#freed.push(allocation);
    this.#freedBytes += allocation.end - allocation.start;
    while (this.#freedBytes > maxQuarantined) {
      const oldest = this.#freed.shift()!;
      this.#freedBytes -= oldest.end - oldest.start;
      this.#recycle(lastAtOrBefore(this.#allocations, oldest.start));
    }
    return true;
  }

  /** The allocation (freed ones in quarantine included) that holds the offset, or null. */
  find(offset: number): Allocation | null {
    return extentAt(this.#allocations, offset);
  }

  /** The host has written to some bytes: see `Allocation.unwritten`. */
  noteWritten(offset: number, bytes: number): void {
    noteWritten(this.find(offset), offset, bytes);
  }

  /** The allocation nearest to the offset, for messages. */
  nearest(offset: number): Allocation | null {
    return nearestExtent(this.#allocations, offset);
  }

  /** A copy of `length` bytes; throws a RangeError outside an allocation in use. */
  read(offset: number, length: number): Uint8Array {
    this.#check(offset, length);
    return copiedBytes(this.#views.u8, offset, offset + length);
  }

  /** Throws a RangeError outside an allocation in use. */
  write(offset: number, bytes: Uint8Array): void {
    this.#check(offset, bytes.length);
    this.history.write(bytes, (kept) => this.#views.u8.set(kept, offset));
  }

  /** Bytes of all allocations. */
  get allocatedBytes(): number {
    const version = this.#allocationsVersion;
    if (this.#counted.version !== version) this.#counted = { version, bytes: bytesIn(this.#allocations) };
    return this.#counted.bytes;
  }

  /**
   * Saves all allocations and their bytes. The function that it returns restores them, once, and frees what device code
   * has allocated since. Allocations of the host since then stay: no kernel knows of them yet. An earlier checkpoint
   * must not be restored any more.
   */
  checkpoint(): Restore {
    return this.history.checkpoint(() => this.#copy(), this.allocatedBytes <= maxKeptCopies);
  }

  #copy(): Restore {
    const copies = this.#roomForCopies();
    let at = 0;
    const kept = this.#allocations.map((a) => {
      const bytes = copies.subarray(at, (at += a.end - a.start));
      bytes.set(this.#views.u8.subarray(a.start, a.end));
      return { ...a, allocation: a, bytes };
    });
    const quarantine = [...this.#freed];
    const bytes = this.#freedBytes;
    const heap = this.heap.entries();
    return () => {
      const before = new Set(kept.map((a) => a.allocation));
      const isHosts = (a: Allocation): boolean => a.origin === undefined && !this.heap.has(a.start);
      const hosts = new Set(this.#allocations.filter((a) => !before.has(a) && isHosts(a)));
      const all = [...before, ...hosts].sort((a, b) => a.start - b.start);
      for (const a of this.#allocations) this.#recycleRoom(a);
      this.#free.remove(all.map(({ start, end }) => [start, start + roomFor(end - start)]));
      this.#allocations.splice(0, this.#allocations.length, ...all);
      for (const a of kept) {
        a.allocation.freed = a.freed;
        this.#views.u8.set(a.bytes, a.start);
      }
      const freed = this.#freed.filter((a) => hosts.has(a));
      this.#freed.splice(0, this.#freed.length, ...quarantine, ...freed);
      this.#freedBytes = freed.reduce((sum, { start, end }) => sum + end - start, bytes);
      this.heap.assume(heap);
      this.#allocationsVersion++;
      this.epoch++;
    };
  }

  /**
   * Room for the bytes of all allocations, which is kept for the next time if it is small: fresh memory of the host
   * takes many times as long as the copy.
   */
  #roomForCopies(): Uint8Array {
    const bytes = this.allocatedBytes;
    if (bytes > maxKeptCopies) return new Uint8Array(bytes);
    if (this.#copies.length < bytes) this.#copies = new Uint8Array(Math.min(maxKeptCopies, 2 * bytes));
    return this.#copies;
  }

  /**
   * Saves everything, so that a run from here on gets the same addresses again: unlike `checkpoint`, its restoring
   * keeps nothing that has been allocated or reserved since. `before`: an earlier one, with which it shares the pages
   * that are the same.
   */
  freeze(before: FrozenMemory | null): FrozenMemory {
    const { quarantine } = this;
    const top = this.#top;
    const pages = new MemoryPages(this.#views.i32, top, before?.pages ?? null);
    const allocations = this.#allocations.map((allocation) => ({ allocation, freed: allocation.freed }));
    const free = new FreeRanges(this.#free.entries());
    const freed = [...this.#freed];
    const freedBytes = this.#freedBytes;
    const heap = this.heap.entries();
    const images = this.images.freeze();
    const restore = (): void => {
      this.history.forget();
      images();
      pages.restore(this.#views.i32, Math.max(top, this.#top));
      this.quarantine = quarantine;
      this.#top = top;
      for (const kept of allocations) kept.allocation.freed = kept.freed;
      this.#allocations.splice(0, this.#allocations.length, ...allocations.map(({ allocation }) => allocation));
      this.#free = new FreeRanges(free.entries());
      this.#freed.splice(0, this.#freed.length, ...freed);
      this.#freedBytes = freedBytes;
      this.heap.assume(heap);
      this.#allocationsVersion++;
      this.epoch++;
    };
    return { pages, restore };
  }

  /** The memory as WebAssembly sees it: byte n is offset n. From the first call on the device lies in it. @internal */
  get wasm(): WasmMemory {
    return this.#wasm ?? this.#move();
  }

  /** Whether several threads of the host can use `wasm`. Only modules that import a shared memory fit it. */
  get isShared(): boolean {
    return this.#shared;
  }

  /** Lets several threads of the host use `wasm` from now on; an unshared memory is replaced by a shared one. */
  share(): void {
    if (this.#shared) return;
    this.#shared = true;
    if (this.#wasm !== null) this.#move();
  }

  #move(): WasmMemory {
    const memory = makeMemory(this.#top, this.#shared, this.#pages);
    this.#underlay?.put(memory, 0);
    // Launches can only be repeated where they were.
    this.history.forget();
    const moved = new Views(memory.buffer);
    moved.u8.set(this.#views.u8.subarray(0, this.#top));
    this.#views = moved;
    this.#wasm = memory;
    this.epoch++;
    return memory;
  }

  /** Room that no kernel can reach, filled with zeros and never given back. Throws as `alloc` does. */
  reserve(size: number): number {
    const room = roomFor(size);
    return this.#zeroed(() => this.#fresh(room), room);
  }

  #recycle(index: number): void {
    const [allocation] = this.#allocations.splice(index, 1);
    this.#recycleRoom(allocation!);
  }

  #recycleRoom({ start, end }: Allocation): void {
    this.#free.add(start, start + roomFor(end - start));
  }

  #check(offset: number, length: number): void {
    const allocation = this.find(offset);
    if (length === 0) return;
    if (allocation === null || allocation.freed || offset + length > allocation.end) {
      throw new RangeError(`${length} bytes at offset ${offset} are not within an allocation`);
    }
  }

  /** Fills room with zeros, except what has never been in use: touching that would take memory of the host. */
  #zeroed(placed: () => number, room: number): number {
    const [top, start] = [this.#top, placed()];
    if (start < top) clearBytes(this.#views, start, Math.min(start + room, top), this.#underlay);
    return start;
  }

  /** Room at the end, which begins with what is free just before it. */
  #fresh(room: number, align = alignment): number {
    const start = Math.ceil(this.#free.startBefore(this.#top) / align) * align;
    if (start + room > maxBytes) throw new RangeError(`out of device memory: ${room} bytes do not fit`);
    this.#reserve(start + room);
    this.#free.takeEnd(start, this.#top);
    if (this.#top < start) this.#free.add(this.#top, start);
    this.#top = start + room;
    return start;
  }

  #reserve(bytes: number): void {
    const have = this.#views.u8.length;
    if (bytes <= have) return;
    this.epoch++;
    if (this.#wasm !== null || bytes > maxToMove) {
      this.#growWasm(this.wasm, bytes);
      return;
    }
    const grown = new Views(Math.min(maxBytes, Math.max(bytes, have * 2)));
    grown.u8.set(this.#views.u8);
    this.#views = grown;
  }

  #growWasm(memory: WasmMemory, bytes: number): void {
    const from = growMemory(memory, bytes, this.#pages);
    this.#underlay?.put(memory, from);
    this.#views = new Views(memory.buffer);
  }
}

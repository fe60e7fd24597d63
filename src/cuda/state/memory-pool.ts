import { fail, errors } from "../base/errors.ts";
import { newHandle } from "../base/handles.ts";
import { addressOf } from "../base/addresses.ts";
import type { Allocation, Allocations, MemoryOwner } from "./allocations.ts";

/** What a pool reserves at a time, in bytes. */
const chunkBytes = 32 << 20;

const rounded = (bytes: number): number => Math.ceil(bytes / chunkBytes) * chunkBytes;

/** Attributes of a pool by number, where they are settings that are kept and have no effect. */
const poolHint = { followEvents: 1, opportunistic: 2, internalDependencies: 3 } as const;

/** Memory that is allocated and freed in the order of streams. */
export class MemoryPool implements MemoryOwner {
  readonly handle = newHandle();
  readonly device: number;
  /** The most bytes that it may have; 0 if nothing was said. */
  readonly most: number;
  /** Bytes that it keeps when they are not in use. */
  threshold = 0n;
  /** Settings by number. */
  readonly hints = new Map<number, number>();
  /** How each device may access it, by number. */
  readonly access = new Map<number, number>();
  used = 0;
  usedHigh = 0;
  reserved = 0;
  reservedHigh = 0;
  readonly #allocations: Allocations;

  constructor(allocations: Allocations, device: number, most = 0) {
    this.#allocations = allocations;
    this.device = device;
    this.most = most;
    for (const hint of Object.values(poolHint)) this.hints.set(hint, 1);
  }

  /** Allocates, and returns the address. Throws if there is no room. */
  allocate(bytes: number): bigint {
    if (this.most > 0 && this.used + bytes > this.most) fail(errors.memoryAllocation);
    const made = this.#allocations.add(bytes, { kind: "device", device: this.device, flags: 0, owner: this });
    this.used += bytes;
    this.usedHigh = Math.max(this.usedHigh, this.used);
    this.reserved = Math.max(this.reserved, rounded(this.used));
    this.reservedHigh = Math.max(this.reservedHigh, this.reserved);
    return addressOf(made.offset);
  }

  freed(allocation: Allocation): void {
    this.#allocations.free(allocation);
    this.used -= allocation.bytes;
    this.trim(this.threshold);
  }

  /** Forgets what it gave out, which the device has freed. */
  reset(): void {
    this.used = 0;
    this.trim(0n);
  }

  isHeld(): boolean {
    return true;
  }

  /** Gives back what is not in use, down to a number of bytes. */
  trim(keep: bigint): void {
    const least = Math.max(rounded(this.used), Number(keep));
    this.reserved = Math.min(this.reserved, least);
  }
}

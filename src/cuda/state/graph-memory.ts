import { errors, require } from "../base/errors.ts";
import { addressOf } from "../base/addresses.ts";
import type { Allocations, MemoryOwner } from "./allocations.ts";

/** Memory that nodes of graphs allocate and free. Its address is known when the node is made, and stays. */
export class GraphMemory implements MemoryOwner {
  readonly address: bigint;
  readonly bytes: number;
  /** The parameters of the node that allocates it, as the program gave them. */
  readonly params: Uint8Array;
  readonly #use: GraphMemoryUse;
  #isLive = false;

  constructor(
    { allocations, graphMemory }: { readonly allocations: Allocations; readonly graphMemory: GraphMemoryUse },
    about: { readonly bytes: number; readonly device: number; readonly params: Uint8Array },
  ) {
    this.#use = graphMemory;
    this.bytes = about.bytes;
    this.params = about.params;
    const made = allocations.add(about.bytes, { kind: "device", device: about.device, flags: 0, owner: this });
    this.address = addressOf(made.offset);
  }

  /** Whether it was allocated by a launch and not freed since. */
  isHeld(): boolean {
    return this.#isLive;
  }

  allocate(): void {
    if (!this.#isLive) this.#use.change(this.bytes);
    this.#isLive = true;
  }

  free(): void {
    if (this.#isLive) this.#use.change(-this.bytes);
    this.#isLive = false;
  }

  /** Freed by the program itself, after a launch that has left it allocated. */
  freed(): void {
    require(this.#isLive, errors.invalidValue);
    this.free();
  }
}

/**
 * Bytes of the memory of graphs. What launches have had at the same time stays with their graphs until it is trimmed,
 * though it may be free: it is used, and reserved, as CUDA counts. Making a graph reserves addresses alone.
 */
export class GraphMemoryUse {
  used = 0;
  usedHigh = 0;
  reservedHigh = 0;
  #live = 0;

  get reserved(): number {
    return this.used;
  }

  /** A launch allocates bytes, or frees them (less than 0). */
  change(bytes: number): void {
    this.#live += bytes;
    this.used = Math.max(this.used, this.#live);
    this.usedHigh = Math.max(this.usedHigh, this.used);
    this.reservedHigh = Math.max(this.reservedHigh, this.reserved);
  }

  trim(): void {
    this.used = this.#live;
  }
}

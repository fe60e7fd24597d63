import { copiedBytes, fillBytes } from "../../machine/memory/fill.ts";
import { CudaError, errors, require } from "../base/errors.ts";
import { newHandle } from "../base/handles.ts";
import { addressOf } from "../base/addresses.ts";
import type { Allocation, Allocations } from "./allocations.ts";

/** Memory without addresses (cuMemCreate): as long as it is mapped nowhere, it keeps its bytes by itself. */
export class PhysicalMemory {
  readonly handle = newHandle();
  readonly bytes: number;
  /** The CUmemAllocationProp of which it was made. */
  readonly properties: Uint8Array;
  /** How often the program has it, and where it is mapped. It lives as long as there is one or the other. */
  references = 1;
  mapping: Mapping | null = null;
  contents: Uint8Array | null = null;

  constructor(bytes: number, properties: Uint8Array) {
    this.bytes = bytes;
    this.properties = properties;
  }
}

/** A part of a range at which memory lies. */
export interface Mapping {
  readonly memory: PhysicalMemory;
  readonly at: number;
  readonly bytes: number;
  /** CUmemAccess_flags: nobody may use it before the program says so. */
  access: number;
}

/** Addresses that are kept free for memory to be mapped there. */
export class ReservedRange {
  readonly allocation: Allocation;
  readonly #allocations: Allocations;
  readonly #mappings = new Set<Mapping>();

  constructor(allocations: Allocations, bytes: number, { device, align }: { device: number; align: number }) {
    this.#allocations = allocations;
    const about = { kind: "device", device, flags: 0, owner: this, align } as const;
    this.allocation = allocations.add(bytes, about, "a reserved range");
  }

  get address(): bigint {
    return addressOf(this.allocation.offset);
  }

  get isMapped(): boolean {
    return this.#mappings.size > 0;
  }

  /** It is no memory of cudaMalloc. */
  freed(): void {
    throw new CudaError(errors.invalidValue);
  }

  /** Whether it is left over at the end: as nobody must free it, never. */
  isHeld(): boolean {
    return false;
  }

  covers(offset: number, bytes: number): boolean {
    let at = offset;
    while (at < offset + bytes) {
      const found = this.find(at);
      if (found === null || found.access === 0) return false;
      at = found.at + found.bytes;
    }
    return true;
  }

  /** Sets who may use some bytes. Throws unless they are whole mappings, without gaps. */
  setAccess(at: number, bytes: number, access: number): void {
    const inside = [...this.#mappings].filter((m) => m.at >= at && m.at + m.bytes <= at + bytes);
    require(bytes > 0 && inside.reduce((sum, mapping) => sum + mapping.bytes, 0) === bytes);
    for (const mapping of inside) mapping.access = access;
  }

  /** The mapping at a byte of device memory, or null. */
  find(offset: number): Mapping | null {
    return [...this.#mappings].find(({ at, bytes }) => offset >= at && offset < at + bytes) ?? null;
  }

  map(memory: PhysicalMemory, at: number, bytes: number): void {
    const { offset, bytes: room } = this.allocation;
    require(at >= offset && at + bytes <= offset + room && bytes === memory.bytes);
    require([...this.#mappings].every((other) => at + bytes <= other.at || at >= other.at + other.bytes));
    if (memory.mapping !== null) {
      throw new CudaError(errors.notSupported, "memory that is mapped at two addresses is not supported");
    }
    const mapping: Mapping = { memory, at, bytes, access: 0 };
    const { views } = this.#allocations.memory;
    if (memory.contents === null) fillBytes(views, at, at + bytes);
    else views.u8.set(memory.contents, at);
    memory.contents = null;
    memory.mapping = mapping;
    this.#mappings.add(mapping);
  }

  /** Takes away all that is mapped within some bytes. Throws if something is mapped there in part. */
  unmap(at: number, bytes: number): void {
    const inside = [...this.#mappings].filter((m) => m.at < at + bytes && m.at + m.bytes > at);
    require(inside.length > 0 && inside.every((m) => m.at >= at && m.at + m.bytes <= at + bytes));
    const { u8 } = this.#allocations.memory.views;
    for (const mapping of inside) {
      if (mapping.memory.references > 0)
        mapping.memory.contents = copiedBytes(u8, mapping.at, mapping.at + mapping.bytes);
      mapping.memory.mapping = null;
      this.#mappings.delete(mapping);
    }
  }

  /** Gives the addresses back. */
  release(): void {
    this.#allocations.free(this.allocation);
  }
}

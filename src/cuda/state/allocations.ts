import type { AllocationOptions } from "../../machine/memory/allocation.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { addressOf, offsetOf } from "../base/addresses.ts";
import { CudaError, errors, require } from "../base/errors.ts";

/**
 * The kinds of memory that a program has asked for: of the device; of the host, which kernels see too (`pinned`), or
 * the program's own pages made so (`registered`); of both (`managed`); what stands for constant memory (`constant`).
 */
export type AllocationKind = "device" | "pinned" | "registered" | "managed" | "constant";

/** What gave out memory, and takes it back instead of the machine: a pool, a graph. */
export interface MemoryOwner {
  /** Called when the program frees it. Throws if it must not. */
  freed(allocation: Allocation): void;
  /** Whether the program has it now. */
  isHeld(): boolean;
  /** Whether there is memory at all of these bytes of device memory; everywhere where this is absent. */
  covers?(offset: number, bytes: number): boolean;
}

/** Whole pages of the program that have become device memory. */
interface RegisteredPages {
  /** The byte of device memory where they begin, their address in the program, and their size. */
  readonly offset: number;
  readonly host: bigint;
  readonly bytes: number;
  /** The registered memory in them. */
  readonly users: Set<Allocation>;
}

/** Memory that a program has asked for. */
export interface Allocation {
  readonly kind: AllocationKind;
  /** The byte of device memory where it begins, and its size. */
  readonly offset: number;
  readonly bytes: number;
  /** The device that was current. */
  readonly device: number;
  /** The flags that it was asked for with. */
  readonly flags: number;
  /** The address for the host; null where the host has none. */
  readonly host: bigint | null;
  /** The pages in which it lies, if they were the program's own. */
  readonly pages?: RegisteredPages;
  /** Called after the host has written to it. */
  readonly written?: () => void;
  readonly owner?: MemoryOwner;
  /** The entry point by which the program has asked for it. */
  readonly call: string;
  /** Return addresses of the program where it has asked for it; none unless calls are checked. */
  readonly stack: readonly bigint[];
}

const pageBytes = 4096;

/** Bytes of device memory that programs are told of. */
export const totalMemory = 0xf000_0000;

const gibibytes = (bytes: number): string => `${Math.round((bytes / 2 ** 30) * 100) / 100} GiB`;

/** What `Allocations` needs to know, and to tell. */
interface Listener {
  /** The call that is being answered: its name, and the program's stack. */
  readonly call: () => { readonly name: string; readonly stack: readonly bigint[] };
  /** Called with a text for the user the first time that something does not fit. */
  readonly onFull: (text: string) => void;
}

/** All memory that a program has asked for, of all devices: they share one range of addresses. */
export class Allocations {
  readonly memory: DeviceMemory;
  readonly #byOffset = new Map<number, Allocation>();
  readonly #registered = new Map<bigint, Allocation>();
  readonly #listener: Listener;
  #used = 0;
  #ofHost = 0;
  #wasFull = false;

  constructor(memory: DeviceMemory, listener: Listener) {
    this.memory = memory;
    this.#listener = listener;
  }

  /** Bytes for which there is room. What the host sees too has its place in device memory as well. */
  get room(): number {
    return Math.max(0, totalMemory - this.#used - this.#ofHost);
  }

  /** All of them, in no order. */
  values(): IterableIterator<Allocation> {
    return this.#byOffset.values();
  }

  /** Allocates. Throws a CudaError if there is no room. */
  add(
    bytes: number,
    {
      align,
      ...about
    }: Pick<Allocation, "kind" | "device" | "flags" | "written" | "owner"> & { readonly align?: number },
    name?: string,
    notesWrites = false,
  ): Allocation {
    // The host sees whole pages, and all of them at once.
    const isSeen = about.kind === "pinned" || about.kind === "managed" || about.kind === "registered";
    const how = { notesWrites, ...(isSeen ? { align: pageBytes } : {}), ...(align === undefined ? {} : { align }) };
    const offset = this.#place(bytes, name, how);
    const host = about.kind === "pinned" || about.kind === "managed" ? addressOf(offset) : null;
    const { name: call, stack } = this.#listener.call();
    const allocation = { ...about, offset, bytes, host, call, stack };
    this.#byOffset.set(offset, allocation);
    this.#count(allocation, bytes);
    return allocation;
  }

  /** Finds room. Throws a CudaError if there is none. */
  #place(bytes: number, name: string | undefined, how: AllocationOptions): number {
    try {
      if (bytes <= this.room) return this.memory.alloc(bytes, name, how);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    const pinned = this.#ofHost === 0 ? "" : `, and ${gibibytes(this.#ofHost)} by pinned memory of the host`;
    const uses = `${gibibytes(this.#used)} of ${gibibytes(totalMemory)} are in use${pinned}`;
    const detail = `${bytes} bytes do not fit: ${uses}`;
    if (!this.#wasFull) {
      this.#wasFull = true;
      this.#listener.onFull(`device memory is exhausted: ${detail}. Kernels run in WebAssembly, which addresses 4 GiB`);
    }
    throw new CudaError(errors.memoryAllocation, null, detail);
  }

  #count({ kind }: Pick<Allocation, "kind">, bytes: number): void {
    if (kind === "pinned" || kind === "registered") this.#ofHost += bytes;
    else this.#used += bytes;
  }

  /**
   * Makes memory of the program device memory too: the pages in which it lies. Those of other registered memory are
   * shared, if that has all of them. Throws a CudaError if there is no room, or it is registered already.
   */
  register(address: bigint, bytes: number, about: Pick<Allocation, "device" | "flags">): Allocation {
    const end = address + BigInt(bytes);
    const others = [...this.#registered.values()];
    const overlaps = (from: bigint, size: number): boolean => from < end && address < from + BigInt(size);
    require(!others.some((a) => overlaps(a.host!, a.bytes)), errors.hostMemoryAlreadyRegistered);
    const inPage = Number(address & BigInt(pageBytes - 1));
    const first = address - BigInt(inPage);
    const size = Math.ceil((inPage + bytes) / pageBytes) * pageBytes;
    const near = others.find(
      ({ pages }) => pages!.host < first + BigInt(size) && first < pages!.host + BigInt(pages!.bytes),
    );
    const { name: call, stack } = this.#listener.call();
    const own = { ...about, kind: "registered", bytes, host: address, call, stack } as const;
    let pages = near?.pages;
    if (pages === undefined) {
      const { offset } = this.add(size, { ...about, kind: "registered" }, "the registered memory of the host");
      pages = { offset, host: first, bytes: size, users: new Set() };
    } else if (first < pages.host || first + BigInt(size) > pages.host + BigInt(pages.bytes)) {
      throw new CudaError(
        errors.hostMemoryAlreadyRegistered,
        "memory is registered that shares only some of its pages with other registered memory: that is not supported",
      );
    }
    const allocation = { ...own, offset: pages.offset + Number(address - pages.host), pages };
    pages.users.add(allocation);
    this.#byOffset.set(pages.offset, allocation);
    this.#registered.set(address, allocation);
    return allocation;
  }

  /** Registered memory that begins exactly there. */
  registeredAt(address: bigint): Allocation | null {
    return this.#registered.get(address) ?? null;
  }

  /** Registered memory in which an address of the host lies. */
  registeredAround(address: bigint): Allocation | null {
    for (const a of this.#registered.values()) {
      if (address >= a.host! && address < a.host! + BigInt(a.bytes)) return a;
    }
    return null;
  }

  /** Whether the program has not freed an allocation. */
  has(allocation: Allocation): boolean {
    const { pages, offset } = allocation;
    return pages === undefined ? this.#byOffset.get(offset) === allocation : pages.users.has(allocation);
  }

  /** The allocation in which an address lies, or null. */
  find(address: bigint): Allocation | null {
    const offset = offsetOf(address);
    if (offset === null) return null;
    const found = this.memory.find(offset);
    return found === null || found.freed ? null : (this.#byOffset.get(found.start) ?? null);
  }

  /** The allocation that begins at an address, or null. */
  at(address: bigint): Allocation | null {
    const offset = offsetOf(address);
    return offset === null ? null : (this.#byOffset.get(offset) ?? null);
  }

  /** Gives memory back to what gave it out. Throws if the program must not free it. */
  giveBack(allocation: Allocation): void {
    if (allocation.owner === undefined) this.free(allocation);
    else allocation.owner.freed(allocation);
  }

  free(allocation: Allocation): void {
    const { pages } = allocation;
    if (pages !== undefined) {
      this.#registered.delete(allocation.host!);
      pages.users.delete(allocation);
      const [other] = pages.users;
      if (other !== undefined) {
        this.#byOffset.set(pages.offset, other);
        return;
      }
    }
    const { offset, bytes } = pages ?? allocation;
    this.#byOffset.delete(offset);
    this.#count(allocation, -bytes);
    this.memory.free(offset);
  }

  /** Frees all that a device has. */
  freeAll(device: number): void {
    for (const a of [...this.#byOffset.values()]) if (a.device === device) this.free(a);
  }
}

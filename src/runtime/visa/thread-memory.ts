import { surfaceIndex } from "../../ir/index.ts";
import type { Surface, ThreadStart } from "../../machine/state/thread-model.ts";
import { type Platform, platforms } from "../../visa/isa/row.ts";
import type { LaunchMemory } from "./launch-memory.ts";
import { product, type WorkSize } from "./work-size.ts";

/** The most hardware threads that kernels can tell apart: the number of bits that `%sr0` and `%msg0` have for it. */
const maxThreads = 4096;

/** The most private memory and scratch space for all hardware threads together, in bytes. */
const maxBytes = 0x2000_0000;

/** The sizes of a hardware thread's own memory, in bytes. */
export interface ThreadBytes {
  readonly privateBytes: number;
  readonly scratchBytes: number;
  /**
   * Whether the private memory of each thread is an allocation of its own, so that an access past its end hits nothing;
   * otherwise it is one array.
   */
  readonly apart?: boolean;
}

/** How the memory of threads is made. */
interface ThreadMemoryOptions extends ThreadBytes {
  /** Lanes of a thread. */
  readonly width: number;
  readonly scratch: ScratchKind;
  /** Whether nothing is allocated, until it is known whether threads begin: all addresses are 0. */
  readonly isUnused?: boolean;
}

/** Numbers the hardware threads that run at the same time, and assigns memory to them by that number. */
export class ThreadMemory {
  /** The number of threads in a group. */
  readonly perGroup: number;
  /** The number of groups that may run at the same time; null if unlimited. */
  readonly residentGroups: number | null;
  /** The address of thread 0's private memory; 0 if there is none. */
  readonly privateBase: bigint;
  readonly #privateOf: (thread: number) => bigint;
  readonly #scratch: ScratchSpace;
  readonly #surfaces: ReadonlyMap<number, Surface>;

  constructor(
    memory: LaunchMemory,
    size: WorkSize,
    { width, privateBytes, scratchBytes, apart = false, scratch, isUnused = false }: ThreadMemoryOptions,
  ) {
    this.perGroup = Math.ceil(product(size.local) / width);
    const each = roundUp(scratchBytes, scratchUnit);
    const bytes = privateBytes + each;
    const limit = bytes === 0 ? maxThreads : Math.min(maxThreads, Math.floor(maxBytes / bytes));
    const groups = Math.min(product(size.groups), Math.max(1, Math.floor(limit / this.perGroup)));
    this.residentGroups = bytes === 0 ? null : groups;
    const threads = groups * this.perGroup;
    const alloc = (bytes: number, name: string): bigint => memory.alloc(bytes, name, true).address;
    if (privateBytes === 0 || isUnused) this.#privateOf = () => 0n;
    else if (apart) {
      const blocks = Array.from({ length: threads }, (_, n) =>
        alloc(privateBytes, `the private memory of thread ${n}`),
      );
      this.#privateOf = (n) => blocks[n]!;
    } else {
      const base = alloc(threads * privateBytes, "the private memory of the threads");
      this.#privateOf = (n) => base + BigInt(n * privateBytes);
    }
    this.privateBase = this.#privateOf(0);
    this.#scratch = scratchSpaces[scratch](each);
    const block =
      each === 0 || isUnused ? null : memory.alloc(threads * each, "the scratch space of the threads", true);
    this.#surfaces = new Map(block === null ? [] : this.#scratch.surfaces(block, threads));
  }

  /** The number of a thread, as in `%hw_id`. */
  numberOf({ slot, index }: ThreadStart): number {
    return slot * this.perGroup + index;
  }

  /** The address of a thread's private memory. */
  privateOf(thread: number): bigint {
    return this.#privateOf(thread);
  }

  /** Dword 5 of a thread's r0, which locates its scratch space. */
  scratchOffset(thread: number): number {
    return this.#scratch.offset(thread);
  }

  /** The value of `%scratch` when a thread begins. */
  scratchSurface(thread: number): number {
    return this.#scratch.surface(thread);
  }

  /** The surfaces of scratch space, by index. */
  get surfaces(): ReadonlyMap<number, Surface> {
    return this.#surfaces;
  }
}

/** The alignment of scratch space: the lower bits of r0.5 have another meaning. */
const scratchUnit = 1024;
export const roundUp = (n: number, unit: number): number => Math.ceil(n / unit) * unit;

/**
 * How a thread finds its scratch space. `offset`: `%scratch` is one surface for all threads, and r0.5 an offset into
 * it. `state`: each thread has its own surface, whose index for `ss` accesses is in the bits of r0.5 from 4 on.
 */
export type ScratchKind = "offset" | "state";

/** The kind that a routine uses: `state` on XeHP and later, or, if the platform is unknown, with 64-byte registers. */
export const scratchKind = (platform: Platform | null, grfBytes: 32 | 64): ScratchKind => {
  const late = platform === null ? grfBytes === 64 : platforms.indexOf(platform) >= platforms.indexOf("xehp");
  return late ? "state" : "offset";
};

interface ScratchSpace {
  offset(thread: number): number;
  surface(thread: number): number;
  surfaces(block: Surface, threads: number): [index: number, surface: Surface][];
}

/** Larger than all offsets that could be mistaken for the index of another surface. */
const firstState = 0x2000;
const stateOffset = (thread: number): number => (firstState + thread) << 10;

/** `each` is the scratch space of a thread in bytes. */
const scratchSpaces: Readonly<Record<ScratchKind, (each: number) => ScratchSpace>> = {
  offset: (each) => ({
    offset: (thread) => thread * each,
    surface: () => surfaceIndex.scratch,
    surfaces: (block) => [[surfaceIndex.scratch, block]],
  }),
  state: (each) => ({
    offset: stateOffset,
    surface: (thread) => stateOffset(thread) >>> 4,
    surfaces: ({ address }, threads) =>
      Array.from({ length: threads }, (_, n) => [
        stateOffset(n) >>> 4,
        { address: address + BigInt(n * each), bytes: each },
      ]),
  }),
};

/** The index of the surface of a buffer argument that is accessed through `bss`, distinct from all other indices. */
export const bindlessIndex = (argument: number): number => firstBindless + argument * 64;
const firstBindless = 2 * surfaceIndex.slm;

/** The indices of the surfaces of a compiled program's own data, distinct from all others too. */
export const dataIndex = { const_base: firstBindless - 64, global_base: firstBindless - 128 } as const;

/** Inserts `count` zero bits into a number at bit `at`. */
const spread = (value: number, at: number, count: number): number =>
  ((value >>> at) << (at + count)) | (value & ((1 << at) - 1));

/**
 * Encodes the number of a hardware thread in `%sr0.0` and, on newer platforms, `%msg0`. Compiled kernels reassemble it
 * from the fields for slices, execution units and threads, leaving out the bits between them that are always zero.
 */
export function stateOfThread(
  thread: number,
  platform: Platform | null,
): { readonly sr0: number; readonly msg0: number } {
  switch (platform) {
    case "bmg":
    case "lnl":
    case "ptl":
      return { sr0: spread(thread & 0x3f, 3, 1), msg0: thread >>> 6 };
    case "pvc":
    case "pvcxt":
      return { sr0: spread(spread(thread, 3, 1), 6, 2), msg0: 0 };
    default:
      return { sr0: spread(spread(thread, 3, 1), 6, 1), msg0: 0 };
  }
}

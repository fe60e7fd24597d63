import { surfaceIndex } from "../../ir/index.ts";
import type { Surface, ThreadStart } from "../../machine/state/thread-model.ts";
import { type Platform, platforms } from "../../visa/isa/row.ts";
import type { LaunchMemory } from "./launch-memory.ts";
import { product, type WorkSize } from "./work-size.ts";

/** What kernels can tell apart: `%sr0` and `%msg0` have as many bits for the number of a hardware thread. */
const maxThreads = 4096;

/** Bytes of private memory and scratch space of all hardware threads together. */
const maxBytes = 0x2000_0000;

/** What a hardware thread has for itself, in bytes. */
export interface ThreadBytes {
  readonly privateBytes: number;
  readonly scratchBytes: number;
  /** The private memory of each thread lies apart, so that a run past its end meets nothing; else one behind the other. */
  readonly apart?: boolean;
}

/** Numbers the hardware threads that run at the same time, and gives them memory by that number. */
export class ThreadMemory {
  /** Threads of a group. */
  readonly perGroup: number;
  /** Groups that may run at the same time; null where nothing limits them. */
  readonly residentGroups: number | null;
  /** Where the private memory of thread 0 begins; 0 where there is none. */
  readonly privateBase: bigint;
  readonly #privateOf: (thread: number) => bigint;
  readonly #scratch: ScratchSpace;
  readonly #surfaces: ReadonlyMap<number, Surface>;

  constructor(
    memory: LaunchMemory,
    size: WorkSize,
    {
      width,
      privateBytes,
      scratchBytes,
      apart = false,
      scratch,
    }: ThreadBytes & { width: number; scratch: ScratchKind },
  ) {
    this.perGroup = Math.ceil(product(size.local) / width);
    const each = roundUp(scratchBytes, scratchUnit);
    const bytes = privateBytes + each;
    const most = bytes === 0 ? maxThreads : Math.min(maxThreads, Math.floor(maxBytes / bytes));
    const groups = Math.min(product(size.groups), Math.max(1, Math.floor(most / this.perGroup)));
    this.residentGroups = bytes === 0 ? null : groups;
    const threads = groups * this.perGroup;
    const alloc = (bytes: number, name: string): bigint => memory.alloc(bytes, name, true).address;
    if (privateBytes === 0) this.#privateOf = () => 0n;
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
    const block = each === 0 ? null : memory.alloc(threads * each, "the scratch space of the threads", true);
    this.#surfaces = new Map(block === null ? [] : this.#scratch.surfaces(block, threads));
  }

  /** The number of a thread: what `%hw_id` is. */
  numberOf({ slot, index }: ThreadStart): number {
    return slot * this.perGroup + index;
  }

  /** Where the private memory of a thread begins. */
  privateOf(thread: number): bigint {
    return this.#privateOf(thread);
  }

  /** Dword 5 of a thread's r0, which says where its scratch space is. */
  scratchOffset(thread: number): number {
    return this.#scratch.offset(thread);
  }

  /** What `%scratch` is when a thread begins. */
  scratchSurface(thread: number): number {
    return this.#scratch.surface(thread);
  }

  /** The surfaces of scratch space, by index. */
  get surfaces(): ReadonlyMap<number, Surface> {
    return this.#surfaces;
  }
}

/** Scratch space begins at multiples of this: the lower bits of r0.5 mean something else. */
const scratchUnit = 1024;
export const roundUp = (n: number, unit: number): number => Math.ceil(n / unit) * unit;

/**
 * How a thread finds its scratch space. `offset`: `%scratch` is one surface for all, and r0.5 an offset into it. `state`: r0.5
 * leads to a surface of its own, for `ss` accesses by its bits from 4 on.
 */
export type ScratchKind = "offset" | "state";

/** As on platforms from XeHP on, and where a routine has their large registers. */
export const scratchKind = (platform: Platform | null, grfBytes: 32 | 64): ScratchKind => {
  const late = platform === null ? grfBytes === 64 : platforms.indexOf(platform) >= platforms.indexOf("xehp");
  return late ? "state" : "offset";
};

interface ScratchSpace {
  offset(thread: number): number;
  surface(thread: number): number;
  surfaces(block: Surface, threads: number): [index: number, surface: Surface][];
}

/** Beyond all offsets that would be the index of a surface that something else has. */
const firstState = 0x2000;
const stateOffset = (thread: number): number => (firstState + thread) << 10;

/** `each`: bytes of a thread. */
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

/** The surface of a buffer that is an argument and accessed through `bss`: none of the indices that others have. */
export const bindlessIndex = (argument: number): number => firstBindless + argument * 64;
const firstBindless = 2 * surfaceIndex.slm;

/** The surfaces of a compiled program's own data, likewise. */
export const dataIndex = { const_base: firstBindless - 64, global_base: firstBindless - 128 } as const;

/** Zero bits put into a number: `count` of them at bit `at`. */
const spread = (value: number, at: number, count: number): number =>
  ((value >>> at) << (at + count)) | (value & ((1 << at) - 1));

/**
 * Where the number of a hardware thread lies in `%sr0.0` and, on newer platforms, `%msg0`: compiled kernels put the fields
 * for slices, execution units and threads together again, without the bits between them that are always zero.
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

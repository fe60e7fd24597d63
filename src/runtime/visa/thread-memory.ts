import { surfaceIndex } from "../../ir/index.ts";
import type { Surface, ThreadStart } from "../../machine/launch.ts";
import type { Platform } from "../../visa/isa/row.ts";
import type { LaunchMemory } from "./launch-memory.ts";
import type { WorkSize } from "./work-size.ts";
import { product } from "./work-size.ts";

/** What kernels can tell apart: `%sr0` and `%msg0` have as many bits for the number of a hardware thread. */
const mostThreads = 4096;
/** Bytes of private memory and scratch space of all hardware threads together. */
const mostBytes = 0x2000_0000;

/** Numbers the hardware threads that run at the same time, and gives them memory by that number. */
export class ThreadMemory {
  /** Threads of a group. */
  readonly perGroup: number;
  /** Groups that may run at the same time; null where nothing limits them. */
  readonly residentGroups: number | null;
  /** Private memory: that of thread n begins at n times a thread's bytes. Null where there is none. */
  readonly privateBase: bigint | null;
  readonly #scratch: { readonly base: bigint; readonly bytes: number } | null;
  readonly #threads: number;

  /** `privateBytes`, `scratchBytes`: of a hardware thread. */
  constructor(
    memory: LaunchMemory,
    size: WorkSize,
    { width, privateBytes, scratchBytes }: { width: number; privateBytes: number; scratchBytes: number },
  ) {
    this.perGroup = Math.ceil(product(size.local) / width);
    const bytes = privateBytes + scratchBytes;
    const most = bytes === 0 ? mostThreads : Math.min(mostThreads, Math.floor(mostBytes / bytes));
    const groups = Math.min(product(size.groups), Math.max(1, Math.floor(most / this.perGroup)));
    this.residentGroups = bytes === 0 ? null : groups;
    this.#threads = groups * this.perGroup;
    const block = (each: number, name: string): bigint | null =>
      each === 0 ? null : memory.alloc(this.#threads * each, name).address;
    this.privateBase = block(privateBytes, "the private memory of the threads");
    const base = block(scratchBytes, "the scratch space of the threads");
    this.#scratch = base === null ? null : { base, bytes: scratchBytes };
  }

  /** The number of a thread: what `%hw_id` is. */
  numberOf({ slot, index }: ThreadStart): number {
    return slot * this.perGroup + index;
  }

  /** The scratch space of each thread, by the index that its `%scratch` and the offset in its r0 mean. */
  surfaces(): [index: number, surface: Surface][] {
    const scratch = this.#scratch;
    if (scratch === null) return [];
    const { base, bytes } = scratch;
    return Array.from({ length: this.#threads }, (_, n) => [
      scratchIndex(n),
      { address: base + BigInt(n * bytes), bytes },
    ]);
  }
}

/** r0.5 has the scratch space in its bits from 10 on; `ss` accesses take it shifted right by 4. */
const firstScratch = 0x2000;
export const scratchOffset = (thread: number): number => (firstScratch + thread) << 10;
export const scratchIndex = (thread: number): number => scratchOffset(thread) >>> 4;

/** The surface of a buffer that is an argument and accessed through `bss`: none of the indices that others have. */
export const bindlessIndex = (argument: number): number => 2 * surfaceIndex.slm + argument * 64;

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

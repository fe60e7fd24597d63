import { type IrFunction, windows } from "../../../ir/index.ts";
import type { Extent } from "../../../machine/memory/extent.ts";
import type { ObservedInstruction } from "./observed.ts";
import type { PointerRoot } from "./pointer-roots.ts";

/**
 * What is noted of each cell of memory: who wrote it last and who read it since, and, where threads of a block may be
 * ordered by barriers, in which of the intervals between them that was. A plane has a word of 32 bits for each cell.
 */
export type Plane = "writer" | "writtenIn" | "reader" | "readIn";

/** A parameter that the launcher gives to watched code, after those of the kernel. */
export type HiddenParam =
  /** The word that is not 0 if there may be anything to report. */
  | { readonly kind: "alarm"; readonly offset: number }
  /** The first number of the launch: see `GlobalRecords`. 32 bits. */
  | { readonly kind: "firstNumber"; readonly offset: number }
  /** What is added to an address, times the cells' scale, to find a plane's word. */
  | { readonly kind: "plane"; readonly offset: number; readonly root: PointerRoot; readonly plane: Plane }
  /** Where the allocation begins, or how large it is. 64 bits. */
  | { readonly kind: "start"; readonly offset: number; readonly root: PointerRoot }
  | { readonly kind: "bytes"; readonly offset: number; readonly root: PointerRoot };

/** The shadow of a block's shared memory, which lies after it. */
export interface SharedShadow {
  /**
   * The words with which threads compare how they came to a barrier, and after these a word for each thread, if that is
   * how functions find how many barriers it has passed.
   */
  readonly words: Extent;
  /** The groups of the asynchronous copies to each cell; empty where there are none. */
  readonly copied: Extent;
  readonly writer: Extent;
  readonly reader: Extent;
}

/** Bytes of a cell: those of a kernel's narrowest access. The words of a plane lie four bytes apart. */
export type CellBytes = 1 | 2 | 4;

/** What a launcher must know of a watched kernel. */
export interface ShadowPlan {
  /** What the kernel may write in global memory; null where that is not known. */
  readonly written: readonly PointerRoot[] | null;
  /** What its own accesses may reach there; null where that is not known. */
  readonly accessed: readonly PointerRoot[] | null;
  /** Whether units of the machine may write global memory, too. */
  readonly unitsStore: boolean;
  /** What is shown to the sanitizers themselves; null where woven code alone watches. */
  readonly observed: { readonly ir: IrFunction; readonly list: readonly ObservedInstruction[] } | null;
  /** What asynchronous copies read in global memory. */
  readonly copied: readonly PointerRoot[];
  readonly hidden: readonly HiddenParam[];
  /** The cells of global memory. */
  readonly globalCell: CellBytes;
  /** Null where nothing of the kernel's shared memory is noted. */
  readonly shared: SharedShadow | null;
}

/** The words of a block: where those begin in which threads compare their copies, and the threads' own ones. */
export const wordPlaces = { copies: 16, threads: 32 } as const;

/** What a shadow of shared memory has, besides the cells' accesses. */
export interface SharedExtras {
  /** Threads that have a word of their own. */
  readonly threads: number;
  /** Whether there are asynchronous copies. */
  readonly hasCopies: boolean;
}

const gap = 256;
const aligned = (at: number): number => Math.ceil(at / 256) * 256;

/**
 * Lays out the shadow of shared memory that ends after some bytes. The plane that every access looks at is the last.
 * `cell`: null where no accesses are noted.
 */
export function sharedShadowFor(
  sharedBytes: number,
  cell: CellBytes | null,
  { threads, hasCopies }: SharedExtras,
): SharedShadow {
  const { start } = windows.shared;
  const bytes = cell === null ? 0 : sharedBytes * (4 / cell);
  const extent = (name: string, from: number, size: number): Extent => ({ name, start: from, end: from + size });
  const words = extent("barrier words", aligned(start + sharedBytes + gap), wordPlaces.threads + 4 * threads);
  const copied = extent("copied cells", aligned(words.end + gap), hasCopies ? bytes : 0);
  const writer = extent("written cells", aligned(copied.end + gap), bytes);
  return { words, copied, writer, reader: extent("read cells", aligned(writer.end + gap), bytes) };
}

/** Bytes of a kernel's parameters. */
export const paramBytesOf = ({ params }: IrFunction): number =>
  params.reduce(
    (end, { storage, type }) => (storage.kind === "kernel" ? Math.max(end, storage.offset + type.size) : end),
    0,
  );

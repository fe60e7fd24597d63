import type { Instruction, IrFunction } from "../../ir/index.ts";
import type { StackEntry, ThreadId } from "../reports/report.ts";
import type { Extent } from "./extent.ts";

/** The call of `malloc` in device code that made an allocation. */
export interface HeapOrigin {
  /** The number of the launch. */
  readonly launch: number;
  readonly kernel: string;
  /** The call: an instruction of a function. */
  readonly function: IrFunction;
  readonly instruction: Instruction;
  readonly thread: ThreadId;
  /** Empty where no sanitizer needs it. */
  readonly stack: readonly StackEntry[];
}

export interface Allocation extends Extent {
  /** Freed, but kept so that a late access is recognised. */
  freed: boolean;
  /** Whether it is private memory of threads: neither other threads nor the host read what a thread leaves there. */
  readonly perThread: boolean;
  /** Set for allocations of device code. */
  readonly origin?: HeapOrigin | undefined;
  /**
   * Bits to which nothing has been written so far, over all launches; absent where all count as written. Its size is a
   * multiple of 4 bytes.
   */
  unwritten?: Uint8Array | undefined;
}

/** How an allocation is to be made. */
export interface AllocationOptions {
  /** Whether it is private memory of threads. Default: false. */
  readonly perThread?: boolean;
  /** The call in device code that makes it. */
  readonly origin?: HeapOrigin;
  /** Whether to note what has been written to it (`unwritten`). Default: false, as all of it reads as zeros. */
  readonly notesWrites?: boolean;
  /** A multiple of 256 bytes at which it begins. Default: 256. */
  readonly align?: number;
}

/** The bits of an allocation to which nothing has been written. */
export const unwrittenBits = (bytes: number): Uint8Array => new Uint8Array(Math.ceil(bytes / 4) * 4).fill(0xff);

/** Notes that bytes of an allocation have been written: by their offset in device memory. */
export function noteWritten(allocation: Allocation | null, offset: number, bytes: number): void {
  if (allocation?.unwritten === undefined) return;
  const from = offset - allocation.start;
  if (from === 0 && bytes >= allocation.end - allocation.start) allocation.unwritten = undefined;
  else allocation.unwritten.fill(0, from, from + bytes);
}

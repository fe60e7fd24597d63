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
}

/** How an allocation is to be made. */
export interface AllocationOptions {
  /** Whether it is private memory of threads. Default: false. */
  readonly perThread?: boolean;
  /** The call in device code that makes it. */
  readonly origin?: HeapOrigin;
  /** A multiple of 256 bytes at which it begins. Default: 256. */
  readonly align?: number;
}

import type { Observers } from "../events.ts";
import type { ReportSink } from "../faults/report-sink.ts";
import type { AddressSpace } from "../memory/address-space.ts";
import type { Extent } from "../memory/extent.ts";
import type { DeviceMemory } from "../memory/memory.ts";
import type { Views } from "../memory/views.ts";
import type { Dim3 } from "../reports/report.ts";
import type { ThreadModel } from "./thread-model.ts";

/** Memory whose contents do not change during a launch: constants, and the kernel's parameters. */
export interface Bank {
  readonly views: Views;
  /** The address of byte 0. */
  readonly start: number;
  readonly extents: readonly Extent[];
}

/** One launch of a kernel: what all of its blocks share. */
export interface Grid {
  readonly id: number;
  readonly kernel: string;
  readonly dimensions: Dim3;
  readonly block: Dim3;
  readonly addresses: AddressSpace;
  readonly memory: DeviceMemory;
  readonly constants: Bank;
  readonly params: Bank;
  /** The shared variables of a block, the dynamic ones included; each block has its own copy of the bytes. */
  readonly sharedExtents: readonly Extent[];
  readonly staticSharedBytes: number;
  readonly dynamicSharedBytes: number;
  /** Bytes of stack that a lane may use. */
  readonly stackLimit: number;
  readonly processors: number;
  /** Of a vISA kernel: its hardware threads, which are the warps. */
  readonly threads: ThreadModel | null;
  /** Who watches; a debugger that goes through the same again lets nobody see it twice. */
  observers: Observers | null;
  readonly reports: ReportSink;
  readonly print: (text: string) => void;
  /** Executed thread-instructions. */
  steps: number;
  /** Bytes of the activations that calls of vISA's functions have made so far. */
  activationBytes: number;
  /** How often the clock has been read. */
  clockReads: number;
  /** A clock that counts issued warp-instructions, and never shows the same time twice. */
  clock(): bigint;
}

import type { Dim3 } from "../reports/report.ts";

/** A launch that a kernel makes (dynamic parallelism). */
export interface DeviceLaunch {
  readonly kind: "launch";
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes: number;
  /** The kernel's parameter block. */
  readonly params: Uint8Array;
  /** Whether it begins only when the launch that makes it, and all else that this has made, has ended. */
  readonly isTail: boolean;
}

/** A copy or a fill that a kernel has appended to a stream. */
export interface DeviceCopy {
  readonly kind: "copy";
  readonly run: () => void;
}

/** What kernels may ask of the device that they run on; null is the answer to what there is not. */
export interface DeviceFacts {
  /** A cudaDeviceAttr. */
  readonly attribute: (id: number) => number | null;
  /** A cudaLimit. */
  readonly limit: (id: number) => bigint | null;
  /** The bytes of a cudaFuncAttributes. */
  readonly functionAttributes: (kernel: string) => Uint8Array | null;
  /** Blocks of a kernel that fit onto one multiprocessor. */
  readonly residentBlocks: (kernel: string, threads: number, sharedBytes: number) => number;
}

/** Work that a kernel hands to the device. It begins no sooner than the kernel has ended. */
export type DeviceWork = DeviceLaunch | DeviceCopy;

/** The device as a kernel sees it. */
export interface DeviceSide {
  /** Takes work; null if kernels cannot hand any over. */
  readonly handOver: ((work: DeviceWork) => void) | null;
  /** Null if kernels cannot ask. */
  readonly facts: DeviceFacts | null;
}

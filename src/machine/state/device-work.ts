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
interface DeviceCopy {
  readonly kind: "copy";
  readonly run: () => void;
}

/** Work that a kernel hands to the device. It begins no sooner than the kernel has ended. */
export type DeviceWork = DeviceLaunch | DeviceCopy;

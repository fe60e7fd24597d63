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

/** What a kernel has the device do besides: a copy or a fill that it has appended to a stream, a launch of a graph. */
export interface DeviceOperation {
  readonly kind: "operation";
  readonly run: () => void;
}

/**
 * When a graph begins that a kernel launches: by itself, as a part of the graph of that kernel; after that graph; or by
 * itself, as a part of what that graph is a part of.
 */
export type GraphTurn = "fire-and-forget" | "tail" | "sibling";

/** A launch of a graph by a kernel. */
export interface DeviceGraphLaunch {
  /** The handle of the executable graph. */
  readonly graph: bigint;
  readonly turn: GraphTurn;
}

/** A change of a kernel node of an executable graph: of its parameters from a byte on, its grid, or whether it runs. */
export type DeviceNodeUpdate =
  | { readonly kind: "parameters"; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: "grid"; readonly grid: Dim3 }
  | { readonly kind: "enabled"; readonly isEnabled: boolean };

/** What a kernel that is a node of a graph may do with executable graphs. Results are numbers of errors, or 0. */
export interface DeviceGraphs {
  /** The handle of its own graph, if kernels may launch that; else 0. */
  readonly current: number;
  /** Why a graph cannot be launched after those that this kernel has launched already; 0 if it can. */
  readonly refusal: (launch: DeviceGraphLaunch, earlier: readonly DeviceGraphLaunch[]) => number;
  readonly launch: (launch: DeviceGraphLaunch) => void;
  /** Changes a node, by the handle that kernels have for it. */
  readonly update: (node: bigint, update: DeviceNodeUpdate) => number;
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
export type DeviceWork = DeviceLaunch | DeviceOperation;

/** The device as a kernel sees it. */
export interface DeviceSide {
  /** Takes work; null if kernels cannot hand any over. */
  readonly handOver: ((work: DeviceWork) => void) | null;
  /** Null if kernels cannot ask. */
  readonly facts: DeviceFacts | null;
  /** Null for a kernel that is no node of a graph. */
  readonly graphs: DeviceGraphs | null;
}

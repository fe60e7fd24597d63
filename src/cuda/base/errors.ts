/**
 * Errors of the runtime, by the names of its enumerators without `cudaError`. The driver has the same numbers for most.
 */
export const errors = {
  invalidValue: 1,
  memoryAllocation: 2,
  initializationError: 3,
  cudartUnloading: 4,
  invalidConfiguration: 9,
  invalidPitchValue: 12,
  invalidSymbol: 13,
  invalidHostPointer: 16,
  invalidDevicePointer: 17,
  invalidTexture: 18,
  invalidChannelDescriptor: 20,
  invalidMemcpyDirection: 21,
  invalidFilterSetting: 26,
  invalidNormSetting: 27,
  insufficientDriver: 35,
  missingConfiguration: 52,
  launchPendingCountExceeded: 69,
  invalidDeviceFunction: 98,
  noDevice: 100,
  invalidDevice: 101,
  invalidKernelImage: 200,
  deviceUninitialized: 201,
  noKernelImageForDevice: 209,
  unsupportedLimit: 215,
  peerAccessUnsupported: 217,
  invalidPtx: 218,
  unsupportedPtxVersion: 222,
  unsupportedExecAffinity: 224,
  invalidSource: 300,
  fileNotFound: 301,
  operatingSystem: 304,
  invalidResourceHandle: 400,
  illegalState: 401,
  lossyQuery: 402,
  symbolNotFound: 500,
  notReady: 600,
  illegalAddress: 700,
  launchOutOfResources: 701,
  launchTimeout: 702,
  peerAccessAlreadyEnabled: 704,
  peerAccessNotEnabled: 705,
  setOnActiveProcess: 708,
  contextIsDestroyed: 709,
  assert: 710,
  tooManyPeers: 711,
  hostMemoryAlreadyRegistered: 712,
  hostMemoryNotRegistered: 713,
  illegalInstruction: 715,
  misalignedAddress: 716,
  invalidAddressSpace: 717,
  invalidPc: 718,
  launchFailure: 719,
  cooperativeLaunchTooLarge: 720,
  notPermitted: 800,
  notSupported: 801,
  streamCaptureUnsupported: 900,
  streamCaptureInvalidated: 901,
  streamCaptureMerge: 902,
  streamCaptureUnmatched: 903,
  streamCaptureUnjoined: 904,
  streamCaptureIsolation: 905,
  streamCaptureImplicit: 906,
  capturedEvent: 907,
  streamCaptureWrongThread: 908,
  graphExecUpdateFailure: 910,
  invalidClusterSize: 912,
  invalidResourceType: 914,
  invalidResourceConfiguration: 915,
  unknown: 999,
} as const;

/** An error as the runtime names it, with its number, as in "cudaErrorInvalidValue (1)". */
export function errorName(code: number): string {
  const name = Object.entries(errors).find(([, number]) => number === code)?.[0];
  return name === undefined ? `error ${code}` : `cudaError${name[0]!.toUpperCase()}${name.slice(1)} (${code})`;
}

/** Errors to which the driver gives names of its own. The others are the runtime's in capitals. */
const driverNames: Readonly<Partial<Record<keyof typeof errors, string>>> = {
  memoryAllocation: "OUT_OF_MEMORY",
  initializationError: "NOT_INITIALIZED",
  cudartUnloading: "DEINITIALIZED",
  invalidKernelImage: "INVALID_IMAGE",
  deviceUninitialized: "INVALID_CONTEXT",
  noKernelImageForDevice: "NO_BINARY_FOR_GPU",
  invalidResourceHandle: "INVALID_HANDLE",
  symbolNotFound: "NOT_FOUND",
  setOnActiveProcess: "PRIMARY_CONTEXT_ACTIVE",
  launchFailure: "LAUNCH_FAILED",
};

/** An error as the driver names it, with its number, as in "CUDA_ERROR_INVALID_VALUE (1)". */
export function driverErrorName(code: number): string {
  const [name] = (Object.entries(errors) as [keyof typeof errors, number][]).find(([, n]) => n === code) ?? [];
  if (name === undefined) return `error ${code}`;
  const words = driverNames[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return `CUDA_ERROR_${words} (${code})`;
}

/** An error that a call returns. */
export class CudaError extends Error {
  readonly code: number;
  /** What is to be told to the user besides; null if the number says all. */
  readonly reason: string | null;
  /** What is to be told to a user who wants calls to be checked; null if there is no more to say. */
  readonly detail: string | null;

  constructor(code: number, reason: string | null = null, detail: string | null = null) {
    super(reason ?? detail ?? `CUDA error ${code}`);
    this.code = code;
    this.reason = reason;
    this.detail = detail;
  }

  /** The same error by another number. */
  recoded(code: number): CudaError {
    return new CudaError(code, this.reason, this.detail);
  }
}

/** What is said of an error that is no error of CUDA. */
export const ownError = (error: unknown): string =>
  `this is an error of Lanewise itself: ${error instanceof Error ? error.stack : error}`;

/** Throws what a call then returns. */
export function fail(code: number): never {
  throw new CudaError(code);
}

/** Throws `code` unless the condition holds. `detail` says why, where calls are checked. */
export function require(
  condition: boolean,
  code: number = errors.invalidValue,
  detail: () => string | null = () => null,
): asserts condition {
  if (!condition) throw new CudaError(code, null, detail());
}

/** Throws that a value is invalid, and why: that is told where calls are checked. */
export function invalid(detail: string): never {
  throw new CudaError(errors.invalidValue, null, detail);
}

import { nearest } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";
import type { AsyncLaunchOptions, LaunchDefaults, LaunchOptions } from "./launch-options.ts";

/** All keys of a union of types. */
type KeyOf<T> = T extends unknown ? keyof T : never;

const defaults: Readonly<Record<keyof LaunchDefaults, true>> = {
  engine: true,
  hostThreads: true,
  sanitize: true,
  seed: true,
  steering: true,
  matrix: true,
  maxSteps: true,
  timeoutMs: true,
};

const launch: Readonly<Record<KeyOf<LaunchOptions | AsyncLaunchOptions>, true>> = {
  ...defaults,
  grid: true,
  block: true,
  shared: true,
  cluster: true,
  global: true,
  local: true,
  args: true,
  blocks: true,
  onReport: true,
  onProgress: true,
  onOutput: true,
  observers: true,
  onBegin: true,
  environment: true,
  hostClock: true,
  stream: true,
};

/** Words of other libraries for the same. */
const meanings: Readonly<Record<string, string>> = {
  gridDim: "grid",
  blockDim: "block",
  gridSize: "grid",
  blockSize: "block",
  clusterDim: "cluster",
  clusterSize: "cluster",
  threads: "block",
  blocks: "grid",
  sharedMem: "shared",
  sharedMemBytes: "shared",
  sharedBytes: "shared",
  arguments: "args",
  timeout: "timeoutMs",
  globalSize: "global",
  localSize: "local",
};

function refuseUnknown(what: string, options: object, known: object): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known);
    const other = Object.hasOwn(meanings, name) ? meanings[name]! : null;
    const meant = other !== null && names.includes(other) ? other : nearest(name, names);
    const hint = meant === null ? `there are ${names.join(", ")}` : `did you mean "${meant}"?`;
    throw new UsageError(`${what} has no option "${name}"; ${hint}`);
  }
}

/** @throws UsageError for an unknown option of a launch, which would have no effect */
export const requireLaunchOptions = (options: object): void => refuseUnknown("a launch", options, launch);

/** @throws UsageError for an unknown option of a device */
export const requireDeviceOptions = (options: object): void =>
  refuseUnknown("a device", options, { ...defaults, kernelStore: true, underlay: true });

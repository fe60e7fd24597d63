import { nearest } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";
import type { SanitizerName } from "../../machine/launch.ts";
import { type AsyncLaunchOptions, type LaunchDefaults, type LaunchOptions, sanitizerNames } from "./launch-options.ts";

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
  deviceFacts: true,
  deviceGraphs: true,
  hostClock: true,
  stream: true,
};

/** Whether a launch has an option of this name. */
export const isKnownOption = (name: string): boolean => Object.hasOwn(launch, name);

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

/**
 * The sanitizers that an option names.
 *
 * @throws UsageError for a name that none has, which would watch nothing
 */
export function sanitizersIn(sanitize: LaunchDefaults["sanitize"] = []): readonly SanitizerName[] {
  if (sanitize === "all") return sanitizerNames;
  const named = typeof sanitize === "string" ? [sanitize] : [...sanitize];
  for (const name of named) {
    if (sanitizerNames.includes(name)) continue;
    const meant = nearest(name, sanitizerNames);
    const hint = meant === null ? `there are ${sanitizerNames.join(", ")}, and "all"` : `did you mean "${meant}"?`;
    throw new UsageError(`there is no sanitizer "${name}"; ${hint}`);
  }
  return named;
}

/** @throws UsageError for an unknown option of a launch, which would have no effect, or an unknown sanitizer */
export function requireLaunchOptions(options: LaunchOptions): void {
  refuseUnknown("a launch", options, launch);
  sanitizersIn(options.sanitize);
}

/** @throws UsageError for an unknown option of a device, or an unknown sanitizer */
export function requireDeviceOptions(options: LaunchDefaults): void {
  refuseUnknown("a device", options, { ...defaults, kernelStore: true, nativeCompiler: true, underlay: true });
  sanitizersIn(options.sanitize);
}

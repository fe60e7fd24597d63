import type { LaunchRequest } from "../../machine/launch.ts";
import { isKnownOption } from "./known-options.ts";
import {
  type EngineChoice,
  type LaunchDefaults,
  type LaunchOptions,
  type LaunchSettings,
  matrixSums,
} from "./launch-options.ts";

/** Who runs a launch that compiled code runs and nobody watches. */
export interface UnwatchedSettings {
  readonly engine: EngineChoice;
  readonly hostThreads: number;
}

/** How such a launch runs besides its size and its arguments. */
export interface PlainSettings
  extends UnwatchedSettings,
    Pick<LaunchRequest, "hostClock" | "environment" | "matrix" | "onOutput"> {}

/** The options that a plain launch may have. */
const plain: ReadonlySet<string> = new Set<keyof LaunchOptions>([
  ...(["grid", "block", "shared", "args", "engine", "hostThreads", "sanitize", "matrix"] as const),
  ...(["onOutput", "hostClock", "environment"] as const),
]);

/**
 * The settings of a launch that needs no preparation besides its parameters: it says only what runs, and how compiled
 * code runs it. Null for any other, and where an option is wrong.
 */
export function plainSettings(options: LaunchOptions, defaults: LaunchDefaults): PlainSettings | null {
  for (const name in options) {
    // What most launches have, first: to look into a set takes longer.
    if (name === "grid" || name === "block" || name === "args" || name === "shared" || plain.has(name)) continue;
    if (options[name as keyof LaunchOptions] !== undefined || !isKnownOption(name)) return null;
  }
  const { engine = defaults.engine ?? "jit", hostThreads = defaults.hostThreads ?? 1 } = options;
  const { sanitize = defaults.sanitize, matrix = defaults.matrix } = options;
  if (engine !== "jit" && engine !== "tiered" && engine !== "native") return null;
  if (!Number.isInteger(hostThreads) || hostThreads < 1) return null;
  if (sanitize !== undefined && !(Array.isArray(sanitize) && sanitize.length === 0)) return null;
  if (matrix !== undefined && !matrixSums.includes(matrix)) return null;
  const { onOutput, hostClock, environment } = options;
  // Each field in its place, whether there is one or not: V8 then knows where they are.
  return { engine, hostThreads, matrix, onOutput, hostClock, environment } as PlainSettings;
}

/**
 * How compiled code runs launches of which no options are known but these; null where the interpreter will run them, or
 * something watches them.
 */
export function unwatchedSettings(
  options: LaunchDefaults & Pick<LaunchSettings, "observers">,
): UnwatchedSettings | null {
  const { engine = "jit", hostThreads = 1, sanitize = [], observers = [] } = options;
  const isWatched = observers.length > 0 || !(Array.isArray(sanitize) && sanitize.length === 0);
  return engine === "interpreter" || isWatched || !arePlain(options) ? null : { engine, hostThreads };
}

/** Whether a device's launches neither are limited nor have a schedule of their own, unless they say otherwise. */
export const arePlain = ({ seed, steering, maxSteps, timeoutMs }: LaunchDefaults): boolean =>
  seed === undefined && steering === undefined && maxSteps === undefined && timeoutMs === undefined;

import type { LaunchDefaults, LaunchOptions } from "./launch-options.ts";

/** The options that say what runs, and nothing of how it is run or watched. */
const plain: ReadonlySet<string> = new Set(["grid", "block", "shared", "args"]);

/** Whether the options of a launch are only those of `plain`: then it needs no preparation besides its parameters. */
export function isPlain(options: LaunchOptions): boolean {
  for (const name in options) if (!plain.has(name)) return false;
  return true;
}

/** Whether a device's launches are run by compiled code unless they say otherwise, and none is watched or limited. */
export const arePlain = ({ engine = "jit", hostThreads = 1, ...others }: LaunchDefaults): boolean =>
  (engine === "jit" || engine === "native") &&
  Number.isInteger(hostThreads) &&
  hostThreads >= 1 &&
  Object.values(others).every((value) => value === undefined);

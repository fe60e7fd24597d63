import { compiledModule } from "./compiled-module.ts";
import { hostProcess, type V8Interface } from "./node-flags.ts";

/** Flags that, when off, make V8 compile a module completely at once and never optimize it later. */
const tierUp = ["wasm-tier-up", "wasm-dynamic-tiering", "wasm-lazy-compilation"] as const;

/**
 * The flag that says when V8 begins to optimize a function: after about so many bytes of its code have been executed.
 */
const budget = "wasm-tiering-budget";
/** Its default in V8 of a version, and its greatest value. */
const usualBudget = (v8: string): number => (Number.parseInt(v8, 10) < 12 ? 1_800_000 : 13_000_000);
const maxBudget = 0x7fff_ffff;

/**
 * How many bytes of code that is not optimized V8 counts in a millisecond: from 2 million, where most are SIMD, to 10
 * million.
 */
const bytesInMillisecond = 6_000_000;

/**
 * A function that takes no longer to optimize, in milliseconds, is optimized as soon as V8 wishes to. Large kernels of
 * applications take up to this long, and their first runs would be a third slower if they waited.
 */
const shortTime = 1200;

/**
 * Compiles a module. `optimizing`: about how many milliseconds V8 needs to optimize a function of it, for which the end
 * of the process waits. So V8 begins once the function has run about as long as that, or some times longer, but no more
 * than a second: what ends before then ends with its output. Null: V8 must not optimize the module, as
 * that would take minutes, and in the end more memory than V8 may use, which kills the process.
 *
 * @throws NotAllowed if the host refuses a module that is valid
 */
export function hostModule(bytes: Uint8Array<ArrayBuffer>, optimizing: number | null): WebAssembly.Module {
  const flags = isOptimizedAsUsual(optimizing) ? null : nodeFlags();
  if (flags === null) return compiledModule(bytes);
  const [set, reset] = optimizing === null ? withoutTierUp : withBudget(optimizing, flags.version);
  for (const flag of set) flags.v8.setFlagsFromString(flag);
  try {
    return compiledModule(bytes);
  } finally {
    // The flags only matter while a module is being compiled.
    for (const flag of reset) flags.v8.setFlagsFromString(flag);
  }
}

/** Whether V8 may optimize the functions of a module when it wishes to. `optimizing`: see `hostModule`. */
export const isOptimizedAsUsual = (optimizing: number | null): boolean =>
  optimizing !== null && optimizing <= shortTime;

/** Flags that are set before a module is compiled, and those that are set afterwards. */
type FlagChange = readonly [set: readonly string[], reset: readonly string[]];

const withoutTierUp: FlagChange = [tierUp.map((flag) => `--no-${flag}`), tierUp.map((flag) => `--${flag}`)];

const withBudget = (milliseconds: number, version: string): FlagChange => [
  [`--${budget}=${Math.min(maxBudget, Math.round(milliseconds * bytesInMillisecond))}`],
  [`--${budget}=${usualBudget(version)}`],
];

/** Returns null if the host is not Node, or was started with WebAssembly flags of its own. */
function nodeFlags(): { readonly v8: V8Interface; readonly version: string } | null {
  const process = hostProcess();
  const version = process?.versions?.v8;
  if (version === undefined || process?.execArgv?.some((arg) => arg.includes("wasm")) === true) return null;
  const v8 = process?.getBuiltinModule?.("node:v8");
  return v8 === undefined ? null : { v8, version };
}

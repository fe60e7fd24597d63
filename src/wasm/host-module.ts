import { compiledModule } from "./compiled-module.ts";

/** V8 as Node shows it. */
interface Flags {
  setFlagsFromString(flag: string): void;
}

/**
 * Bytes of a function beyond which V8 had better not optimize it: that takes seconds, for which also the process's end waits, then
 * minutes, and in the end more memory than V8 lets it have, which ends the process.
 */
const mostToOptimize = 0x8_0000;

/** What has V8 compile a module at once, without what it would optimize later. */
const flags = ["wasm-tier-up", "wasm-dynamic-tiering", "wasm-lazy-compilation"] as const;

/** Compiles a module. `largest`: bytes of its largest function. */
export function hostModule(bytes: Uint8Array<ArrayBuffer>, largest: number): WebAssembly.Module {
  const v8 = largest > mostToOptimize ? nodeFlags() : null;
  if (v8 === null) return compiledModule(bytes);
  for (const flag of flags) v8.setFlagsFromString(`--no-${flag}`);
  try {
    return compiledModule(bytes);
  } finally {
    // A module goes on as it began.
    for (const flag of flags) v8.setFlagsFromString(`--${flag}`);
  }
}

/** Null where the host is not Node, or was started with wishes of its own. */
function nodeFlags(): Flags | null {
  const { process } = globalThis as {
    process?: {
      execArgv?: readonly string[];
      versions?: { v8?: string };
      getBuiltinModule?: (name: string) => Flags | undefined;
    };
  };
  if (process?.versions?.v8 === undefined || process.execArgv?.some((arg) => arg.includes("wasm")) === true)
    return null;
  return process.getBuiltinModule?.("node:v8") ?? null;
}

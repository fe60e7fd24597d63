import { compiledModule } from "./compiled-module.ts";

/** The part of Node's interface to V8 that sets flags. */
interface Flags {
  setFlagsFromString(flag: string): void;
}

/** Flags that, when off, make V8 compile a module completely at once and never optimize it later. */
const flags = ["wasm-tier-up", "wasm-dynamic-tiering", "wasm-lazy-compilation"] as const;

/**
 * Compiles a module. V8 must not optimize one that is not `isOptimizable`: that takes seconds, during which the process
 * cannot exit, then minutes, and in the end more memory than V8 may use, which kills the process.
 *
 * @throws NotAllowed if the host refuses a module that is valid
 */
export function hostModule(bytes: Uint8Array<ArrayBuffer>, isOptimizable: boolean): WebAssembly.Module {
  const v8 = isOptimizable ? null : nodeFlags();
  if (v8 === null) return compiledModule(bytes);
  for (const flag of flags) v8.setFlagsFromString(`--no-${flag}`);
  try {
    return compiledModule(bytes);
  } finally {
    // The flags only matter while a module is being compiled.
    for (const flag of flags) v8.setFlagsFromString(`--${flag}`);
  }
}

/** Returns null if the host is not Node, or was started with WebAssembly flags of its own. */
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

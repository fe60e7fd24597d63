import { engineTag, hostProcess, type V8Interface } from "./node-flags.ts";

/** What reads and writes the code that V8 has compiled of a module. */
interface CodeFunctions {
  readonly isOptimized: (exported: unknown) => boolean;
  /** The code that has been optimized so far. Ends the process if there is none. */
  readonly write: (module: WebAssembly.Module) => ArrayBuffer;
  /** The module; undefined if the code is of another V8, other flags or another processor. */
  readonly read: (code: ArrayBuffer, bytes: Uint8Array<ArrayBuffer>) => WebAssembly.Module | undefined;
}

/** The versions of Node whose V8 has these functions, which its tests use: there is no other way to them. */
const versions = { first: 20, last: 24 };

const nativesSyntax = "allow-natives-syntax";
const functions = `({
  isOptimized: (function (exported) { return %IsTurboFanFunction(exported); }),
  write: (function (module) { return %SerializeWasmModule(module); }),
  read: (function (code, bytes) { return %DeserializeWasmModule(code, bytes); }),
})`;

let known: CodeFunctions | null | undefined;

/** Null where the host is not Node of such a version, or was started with flags for V8 of its own. */
function adjustableV8(): V8Interface | null {
  const process = hostProcess();
  const version = Number.parseInt(process?.versions?.node ?? "", 10);
  if (!(version >= versions.first && version <= versions.last)) return null;
  if (process?.execArgv?.some((arg) => /wasm|natives/.test(arg)) === true) return null;
  return process?.getBuiltinModule?.("node:v8") ?? null;
}

function codeFunctions(): CodeFunctions | null {
  if (known !== undefined) return known;
  known = null;
  const v8 = adjustableV8();
  if (v8 === null) return null;
  v8.setFlagsFromString(`--${nativesSyntax}`);
  try {
    // Not by `node:vm`: Node compiles its own modules anew, in milliseconds, once V8 has other flags than at its start.
    known = new Function(`return ${functions};`)() as CodeFunctions;
  } catch {
    // A V8 without them, or one that makes no code of text.
  } finally {
    v8.setFlagsFromString(`--no-${nativesSyntax}`);
  }
  return known;
}

/** Tells V8, its flags and the processor from others, whose code is of no use; null where there is no code at all. */
export const codeTag = (): string | null => (codeFunctions() === null ? null : engineTag());

/**
 * The code that V8 has optimized of a module so far; null where it does not tell, or has not optimized one of its
 * functions, `exported` by an instance.
 */
export function optimizedCode(module: WebAssembly.Module, exported: unknown): Uint8Array<ArrayBuffer> | null {
  const inside = codeFunctions();
  return inside?.isOptimized(exported) === true ? new Uint8Array(inside.write(module)) : null;
}

/** The module of some bytes with code that `optimizedCode` has returned for it in some process; null if V8 refuses. */
export function moduleWithCode(bytes: Uint8Array<ArrayBuffer>, code: Uint8Array): WebAssembly.Module | null {
  return codeFunctions()?.read(code.slice().buffer, bytes) ?? null;
}

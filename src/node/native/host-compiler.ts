import type { HostFunction } from "../../jit/abi/host-function.ts";
import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import type { NativeCode, NativeCompiler, RunBlocks } from "../../jit/abi/native-code.ts";
import { hostPages } from "../host-pages.ts";
import type { CCompiler } from "./c-compiler.ts";
import { cTextOf } from "./c-text.ts";
import { KnownCompiler } from "./known-compiler.ts";
import { Libraries, libraryKey } from "./libraries.ts";

/**
 * Makes machine code with the machine's C compiler, which is looked for when the first kernel is compiled. Who asks
 * waits for it.
 */
export class HostCompiler implements NativeCompiler {
  readonly hostPages = hostPages();
  readonly #libraries: Libraries;
  readonly #seconds: number;
  readonly #compiler: KnownCompiler;

  /**
   * `addon`: the file of the add-on; `seconds`: that the C compiler may take for a kernel; `env`: what names it.
   */
  constructor(addon: string, store: KernelStore | null, seconds: number, env: NodeJS.ProcessEnv = process.env) {
    this.#libraries = new Libraries(addon, store);
    this.#seconds = seconds;
    this.#compiler = new KnownCompiler(store, env);
  }

  compile(module: Uint8Array, imports: readonly string[]): NativeCode | string {
    const kept = this.kept(module, imports);
    if (kept !== null) return kept;
    const compiler = this.#compiler.found;
    if (typeof compiler === "string") return compiler;
    const key = libraryKey(module, compiler.identity);
    const known = this.#libraries.known(key, imports);
    return known ?? this.#libraries.add(key, this.#library(module, compiler), imports);
  }

  kept(module: Uint8Array, imports: readonly string[]): NativeCode | string | null {
    const { identity } = this.#compiler;
    return identity === null ? null : this.#libraries.known(libraryKey(module, identity), imports);
  }

  instance(
    code: NativeCode,
    memory: { readonly buffer: ArrayBufferLike },
    functions: Readonly<Record<string, HostFunction>>,
  ): RunBlocks {
    return this.#libraries.instance(code, memory, functions);
  }

  #library(module: Uint8Array, compiler: CCompiler): Uint8Array | string {
    const c = cTextOf(module, compiler, this.#seconds);
    return typeof c === "string" ? c : compiler.library(c.text, this.#seconds);
  }
}

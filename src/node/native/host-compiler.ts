import type { HostFunction } from "../../jit/abi/host-function.ts";
import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import type { NativeCode, NativeCompiler, RunBlocks } from "../../jit/abi/native-code.ts";
import { CCompiler } from "./c-compiler.ts";
import { cTextOf } from "./c-text.ts";
import { Libraries } from "./libraries.ts";

/**
 * Makes machine code with the machine's C compiler, which is looked for when the first kernel is compiled. Who asks
 * waits for it.
 */
export class HostCompiler implements NativeCompiler {
  readonly #libraries: Libraries;
  readonly #seconds: number;
  readonly #find: () => CCompiler | string;
  #compiler: CCompiler | string | null = null;

  /** `addon`: the file of the add-on; `seconds`: that the C compiler, which `find` looks for, may take for a kernel. */
  constructor(
    addon: string,
    store: KernelStore | null,
    seconds: number,
    find: () => CCompiler | string = () => CCompiler.find(),
  ) {
    this.#libraries = new Libraries(addon, store);
    this.#seconds = seconds;
    this.#find = find;
  }

  compile(module: Uint8Array, imports: readonly string[]): NativeCode | string {
    this.#compiler ??= this.#find();
    if (typeof this.#compiler === "string") return this.#compiler;
    const key = this.#compiler.keyOf(module);
    const known = this.#libraries.known(key, imports);
    return known ?? this.#libraries.add(key, this.#library(module, this.#compiler), imports);
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

import type { HostFunction } from "../../jit/abi/host-function.ts";
import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import type { NativeCode, NativeCompiler, RunBlocks } from "../../jit/abi/native-code.ts";
import { hostPages } from "../host-pages.ts";
import { CompilationBeside } from "./compilation-beside.ts";
import { KnownCompiler } from "./known-compiler.ts";
import { Libraries, libraryKey } from "./libraries.ts";

/** A kernel of which machine code is being made. */
interface Begun {
  readonly key: string;
  readonly imports: readonly string[];
  readonly compilation: CompilationBeside;
}

/**
 * Makes machine code with the machine's C compiler in a process of its own, of one kernel at a time. Who asks goes on,
 * and asks again.
 */
export class CompilerBeside implements NativeCompiler {
  readonly hostPages = hostPages();
  readonly #libraries: Libraries;
  readonly #script: string;
  readonly #seconds: number;
  readonly #store: KernelStore | null;
  readonly #compiler: KnownCompiler;
  #begun: Begun | null = null;

  /**
   * `addon`: the file of the add-on; `script`: what the process runs; `seconds`: that the C compiler may take for a
   * kernel.
   */
  constructor(addon: string, script: string, store: KernelStore | null, seconds: number) {
    this.#libraries = new Libraries(addon, store);
    this.#store = store;
    this.#compiler = new KnownCompiler(store);
    this.#script = script;
    this.#seconds = seconds;
  }

  compile(module: Uint8Array, imports: readonly string[]): NativeCode | string | null {
    const compiler = this.#compiler.found;
    if (typeof compiler === "string") return compiler;
    const key = libraryKey(module, compiler.identity);
    if (this.#begun !== null) this.#look(this.#begun);
    if (this.#begun?.key === key) return null;
    const known = this.#libraries.known(key, imports);
    if (known !== null || this.#begun !== null) return known;
    try {
      this.#begun = { key, imports, compilation: CompilationBeside.begin(this.#script, module, this.#seconds) };
      return null;
    } catch (error) {
      // No room for files, or no processes: the kernel runs on as it is.
      return `machine code cannot be made: ${(error as Error).message}`;
    }
  }

  kept(module: Uint8Array, imports: readonly string[]): NativeCode | string | null {
    const { identity } = this.#compiler;
    if (identity === null) return null;
    const key = libraryKey(module, identity);
    const why = this.#store?.read(whyNotKey(key)) ?? null;
    return why === null ? this.#libraries.known(key, imports) : new TextDecoder().decode(why);
  }

  giveUp(module: Uint8Array, why: string): void {
    const { identity } = this.#compiler;
    if (identity === null) return;
    this.#store?.write(whyNotKey(libraryKey(module, identity)), new TextEncoder().encode(why));
  }

  instance(
    code: NativeCode,
    memory: { readonly buffer: ArrayBufferLike },
    functions: Readonly<Record<string, HostFunction>>,
  ): RunBlocks {
    return this.#libraries.instance(code, memory, functions);
  }

  #look({ key, imports, compilation }: Begun): void {
    const library = compilation.answer();
    if (library === null) return;
    this.#begun = null;
    this.#libraries.add(key, library, imports);
  }
}

/** The key under which is noted why a library is of no use. */
const whyNotKey = (library: string): string => `${library}: why not`;

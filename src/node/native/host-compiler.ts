import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { importsOf, translated, Untranslatable } from "../../cc/index.ts";
import { numberOfReason } from "../../jit/abi/give-up-reasons.ts";
import type { HostFunction } from "../../jit/abi/host-function.ts";
import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import type { NativeCode, NativeCompiler, RunBlocks } from "../../jit/abi/native-code.ts";
import { CCompiler } from "./c-compiler.ts";

/** What native/addon/code.c does. */
interface CodeAddon {
  /** Loads a shared library; the address of its function `run`. */
  loadCode(library: Uint8Array): number;
  /** `memory`: of WebAssembly, which stays at its address. */
  bindCode(entry: number, memory: Uint8Array<ArrayBufferLike>, functions: readonly HostFunction[]): RunBlocks;
}

/** Bytes of C of which a compiler makes a library in a second: it is not even begun with a text that is too long. */
const bytesInSecond = 100_000;

/** Makes machine code with the machine's C compiler, which is looked for when the first kernel is compiled. */
export class HostCompiler implements NativeCompiler {
  readonly #addon: string;
  readonly #store: KernelStore | null;
  readonly #seconds: number;
  readonly #known = new Map<string, NativeCode | string>();
  #compiler: CCompiler | string | null = null;
  #calls: CodeAddon | null = null;

  /** `addon`: the file of the add-on; `seconds`: that the C compiler may take for a kernel. */
  constructor(addon: string, store: KernelStore | null, seconds: number) {
    this.#addon = addon;
    this.#store = store;
    this.#seconds = seconds;
  }

  compile(module: Uint8Array): NativeCode | string {
    this.#compiler ??= CCompiler.find();
    if (typeof this.#compiler === "string") return this.#compiler;
    const key = `machine code ${createHash("sha256").update(module).digest("hex")} ${this.#compiler.identity}`;
    let code = this.#known.get(key);
    if (code === undefined) this.#known.set(key, (code = this.#load(key, module, this.#compiler)));
    return code;
  }

  instance(
    { entry, imports }: NativeCode,
    memory: { readonly buffer: ArrayBufferLike },
    functions: Readonly<Record<string, HostFunction>>,
  ): RunBlocks {
    return this.#functions.bindCode(entry, new Uint8Array(memory.buffer), tableOf(imports, functions));
  }

  get #functions(): CodeAddon {
    return (this.#calls ??= createRequire(import.meta.url)(this.#addon) as CodeAddon);
  }

  #load(key: string, module: Uint8Array, compiler: CCompiler): NativeCode | string {
    const stored = this.#store?.read(key) ?? null;
    const library = stored ?? this.#library(module, compiler);
    if (typeof library === "string") return library;
    if (stored === null) this.#store?.write(key, library);
    try {
      return { addon: this.#addon, entry: this.#functions.loadCode(library), imports: importsOf(module) };
    } catch (error) {
      return `machine code cannot be loaded: ${(error as Error).message}`;
    }
  }

  #library(module: Uint8Array, compiler: CCompiler): Uint8Array | string {
    let text: string;
    try {
      text = translated(module, compiler.target);
    } catch (error) {
      if (error instanceof Untranslatable) return error.message;
      throw error;
    }
    const isLong = text.length > this.#seconds * bytesInSecond;
    return isLong ? `the C compiler would need more than ${this.#seconds} s` : compiler.library(text, this.#seconds);
  }
}

const fullStack = numberOfReason("deepCalls");

/** The functions of the host as code numbers them: one for a full stack, one to be called now and then, and its own. */
const tableOf = (imports: readonly string[], functions: Readonly<Record<string, HostFunction>>): HostFunction[] => [
  () => functions["giveUp"]!(fullStack),
  () => {},
  ...imports.map((name) => functions[name]!),
];

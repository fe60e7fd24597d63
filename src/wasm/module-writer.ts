import { ByteWriter } from "./bytes.ts";
import { type Features, type LibraryFunction, wasm } from "./expr.ts";
import { FunctionWriter, type Surroundings, typeBytes } from "./function-writer.ts";
import type { WasmTy } from "./ops.ts";

interface Signature {
  readonly params: readonly WasmTy[];
  readonly results: readonly WasmTy[];
}

export interface MemoryImport {
  /** Pages of 64 KiB. */
  readonly initial: number;
  readonly maximum: number;
  readonly shared: boolean;
}

/**
 * A module in the making. All imports are of the module `env`; functions are known by their names, and get their numbers in the
 * end.
 */
export class ModuleWriter implements Surroundings {
  readonly features: Features;
  readonly #types: string[] = [];
  readonly #signatures: Signature[] = [];
  readonly #imports = new Map<string, { readonly type: number }>();
  readonly #functions = new Map<string, { readonly type: number; readonly writer: FunctionWriter }>();
  readonly #globals: { readonly ty: WasmTy; readonly initial: number }[] = [];
  readonly #exports: string[] = [];
  #memory: MemoryImport | null = null;
  #table: readonly string[] = [];

  /** `features`: of the machine that the module is for. Without any it runs everywhere. */
  constructor(features: Features = { fusedMadd: false }) {
    this.features = features;
  }

  /** The names of the functions that the module imports. */
  get imports(): readonly string[] {
    return [...this.#imports.keys()];
  }

  /** Bytes of the largest function so far. */
  get largestFunction(): number {
    let most = 0;
    for (const { writer } of this.#functions.values()) most = Math.max(most, writer.size);
    return most;
  }

  /** The number of a function type. */
  type(params: readonly WasmTy[], results: readonly WasmTy[]): number {
    const key = `${params.join()}>${results.join()}`;
    const known = this.#types.indexOf(key);
    if (known >= 0) return known;
    this.#signatures.push({ params, results });
    return this.#types.push(key) - 1;
  }

  /** The same name again is the same import. */
  importFunction(name: string, params: readonly WasmTy[], results: readonly WasmTy[]): void {
    if (!this.#imports.has(name)) this.#imports.set(name, { type: this.type(params, results) });
  }

  importMemory(memory: MemoryImport): void {
    this.#memory = memory;
  }

  /** A mutable global of the module's own; 32 bits. */
  global(initial: number): number {
    return this.#globals.push({ ty: "i32", initial }) - 1;
  }

  function(name: string, params: readonly WasmTy[], results: readonly WasmTy[]): FunctionWriter {
    const writer = new FunctionWriter(params, results, this);
    this.#functions.set(name, { type: this.type(params, results), writer });
    return writer;
  }

  /** Functions that are called by number; an empty name is a hole. */
  table(names: readonly string[]): void {
    this.#table = names;
  }

  export(name: string): void {
    this.#exports.push(name);
  }

  hostFunction(name: string, params: readonly WasmTy[], result: WasmTy): string {
    this.importFunction(name, params, [result]);
    return name;
  }

  library(f: LibraryFunction): string {
    const name = `library:${f.name}`;
    if (this.#functions.has(name)) return name;
    const writer = this.function(name, f.params, [f.result]);
    writer.value(
      f.body(...f.params.map((ty, i) => wasm.operand(ty, i))),
      f.params.map((_, i) => i),
    );
    return name;
  }

  finish(): Uint8Array<ArrayBuffer> {
    const out = new ByteWriter();
    out.append([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);
    /** `name`: of a section of id 0. */
    const section = (
      id: number,
      count: number,
      write: (part: ByteWriter) => void,
      name: string | null = null,
    ): void => {
      if (count === 0) return;
      const part = new ByteWriter();
      if (name !== null) part.text(name);
      part.unsigned(count);
      write(part);
      out.byte(id);
      out.unsigned(part.length);
      out.append(part.bytes);
    };
    const numbers = new Map([...this.#imports.keys(), ...this.#functions.keys()].map((name, index) => [name, index]));
    const indexOf = (name: string): number => {
      const index = numbers.get(name);
      if (index === undefined) throw new Error(`there is no function ${name}`);
      return index;
    };
    const types = (part: ByteWriter, list: readonly WasmTy[]): void => {
      part.unsigned(list.length);
      for (const ty of list) part.byte(typeBytes[ty]);
    };
    section(1, this.#signatures.length, (part) => {
      for (const { params, results } of this.#signatures) {
        part.byte(0x60);
        types(part, params);
        types(part, results);
      }
    });
    section(2, this.#imports.size + (this.#memory === null ? 0 : 1), (part) => {
      for (const [name, { type }] of this.#imports) {
        part.text("env");
        part.text(name);
        part.byte(0);
        part.unsigned(type);
      }
      if (this.#memory === null) return;
      part.text("env");
      part.text("memory");
      part.byte(2);
      part.byte(this.#memory.shared ? 3 : 1);
      part.unsigned(this.#memory.initial);
      part.unsigned(this.#memory.maximum);
    });
    section(3, this.#functions.size, (part) => {
      for (const { type } of this.#functions.values()) part.unsigned(type);
    });
    section(4, this.#table.length === 0 ? 0 : 1, (part) => {
      part.byte(0x70);
      part.byte(0);
      part.unsigned(this.#table.length);
    });
    section(6, this.#globals.length, (part) => {
      for (const { ty, initial } of this.#globals) {
        part.byte(typeBytes[ty]);
        part.byte(1);
        part.byte(0x41);
        part.signed32(initial);
        part.byte(0x0b);
      }
    });
    section(7, this.#exports.length, (part) => {
      for (const name of this.#exports) {
        part.text(name);
        part.byte(0);
        part.unsigned(indexOf(name));
      }
    });
    const filled = [...this.#table.entries()].filter(([, name]) => name !== "");
    section(9, filled.length, (part) => {
      for (const [at, name] of filled) {
        part.byte(0);
        part.byte(0x41);
        part.signed32(at);
        part.byte(0x0b);
        part.unsigned(1);
        part.unsigned(indexOf(name));
      }
    });
    const codes = [...this.#functions.values()].map(({ writer }) => writer.finish(indexOf));
    const hinted = codes.flatMap(({ hints }, i) =>
      hints.length === 0 ? [] : [{ hints, index: this.#imports.size + i }],
    );
    const writeHints = (part: ByteWriter): void => {
      for (const { index, hints } of hinted) {
        part.unsigned(index);
        part.unsigned(hints.length);
        for (const [offset, expected] of hints) {
          part.unsigned(offset);
          part.unsigned(1);
          part.byte(expected ? 1 : 0);
        }
      }
    };
    section(0, hinted.length, writeHints, "metadata.code.branch_hint");
    section(10, codes.length, (part) => {
      for (const { bytes } of codes) {
        part.unsigned(bytes.length);
        part.append(bytes);
      }
    });
    return out.bytes.slice();
  }
}

import { ByteWriter } from "./bytes.ts";
import { wasm } from "./expr.ts";
import { type Features, type LibraryFunction, noFeatures } from "./graph.ts";
import type { FunctionBody } from "./function-body.ts";
import { type FunctionCode, functionCode, typeBytes } from "./function-code.ts";
import { FunctionWriter } from "./function-writer.ts";
import { optimizingTime } from "./merge-count.ts";
import { outline, type OutliningLimits, usualOutlining } from "./outlining.ts";
import type { ModuleScope } from "./module-scope.ts";
import type { WasmTy } from "./operation.ts";

/** Magic number and version. */
const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** The ids of sections. */
const sections = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  global: 6,
  export: 7,
  element: 9,
  code: 10,
} as const;

/** Returns the index of a function by its name; throws if there is none. */
type IndexOf = (name: string) => number;

interface HintedFunction extends Pick<FunctionCode, "hints"> {
  readonly index: number;
}

interface Signature {
  readonly params: readonly WasmTy[];
  readonly results: readonly WasmTy[];
}

/** The memory that a module imports. */
export interface MemoryImport {
  /** Pages of 64 KiB; `maximum` likewise. */
  readonly initial: number;
  readonly maximum: number;
  readonly shared: boolean;
}

/** Builds a module. All imports come from the module `env`; functions go by name, and are numbered at the end. */
export class ModuleWriter implements ModuleScope {
  readonly features: Features;
  readonly #types: string[] = [];
  readonly #signatures: Signature[] = [];
  readonly #imports = new Map<string, { readonly type: number }>();
  readonly #functions = new Map<string, FunctionWriter>();
  /** The functions of the module as they will be, once it has all code. */
  #bodies: ReadonlyMap<string, FunctionBody> | null = null;
  readonly #globals: { readonly ty: WasmTy; readonly initial: number }[] = [];
  readonly #exports: string[] = [];
  #memory: MemoryImport | null = null;
  #table: readonly string[] = [];
  readonly #outlining: OutliningLimits;

  /** `features` are those of the machine that the module is for; by default it runs everywhere. */
  constructor(features: Features = noFeatures, outlining = usualOutlining) {
    this.features = features;
    this.#outlining = outlining;
  }

  /** The names of the imported functions. */
  get imports(): readonly string[] {
    return [...this.#imports.keys()];
  }

  /**
   * About how many milliseconds V8 needs to optimize the function for which it needs longest; null if there is one that
   * it must not optimize.
   */
  get optimizingTime(): number | null {
    let longest = 0;
    for (const { code, merges } of this.#outlined().values()) {
      const time = optimizingTime({ size: code.length, merges });
      if (time === null) return null;
      longest = Math.max(longest, time);
    }
    return longest;
  }

  /** Returns the index of a function type, adding the type if it is new. */
  type(params: readonly WasmTy[], results: readonly WasmTy[]): number {
    const key = `${params.join()}>${results.join()}`;
    const known = this.#types.indexOf(key);
    if (known >= 0) return known;
    this.#signatures.push({ params, results });
    return this.#types.push(key) - 1;
  }

  /** Imports a function, unless one of that name is already imported. */
  importFunction(name: string, params: readonly WasmTy[], results: readonly WasmTy[]): void {
    if (!this.#imports.has(name)) this.#imports.set(name, { type: this.type(params, results) });
  }

  /** Imports the memory `env.memory`. */
  importMemory(memory: MemoryImport): void {
    this.#memory = memory;
  }

  /** Adds a mutable 32-bit global and returns its index. */
  global(initial: number): number {
    return this.#globals.push({ ty: "i32", initial }) - 1;
  }

  /** Adds a function and returns the writer of its body. */
  function(name: string, params: readonly WasmTy[], results: readonly WasmTy[]): FunctionWriter {
    const writer = new FunctionWriter(params, results, this);
    this.type(params, results);
    this.#functions.set(name, writer);
    this.#bodies = null;
    return writer;
  }

  /**
   * Moves functions that call none but each other to a module of their own, which exports them; this one imports them.
   */
  moved(names: readonly string[]): ModuleWriter {
    const other = new ModuleWriter(this.features, this.#outlining);
    if (this.#memory !== null) other.importMemory(this.#memory);
    for (const name of names) {
      const writer = this.#functions.get(name)!;
      const { params, results } = writer;
      this.#functions.delete(name);
      this.importFunction(name, params, results);
      other.type(params, results);
      other.#functions.set(name, writer);
      other.export(name);
    }
    this.#bodies = null;
    return other;
  }

  /** All functions, of whose code some has become functions. */
  #outlined(): ReadonlyMap<string, FunctionBody> {
    if (this.#bodies !== null) return this.#bodies;
    const bodies = new Map<string, FunctionBody>();
    for (const [name, writer] of this.#functions) {
      const outlined = outline(writer.finish(), name, this.#outlining);
      bodies.set(name, outlined.own);
      for (const [added, of] of outlined.rare) {
        this.type(of.params, of.results);
        bodies.set(added, of);
      }
    }
    this.#bodies = bodies;
    return bodies;
  }

  /** Sets the table of functions for indirect calls; an empty name leaves an entry null. */
  table(names: readonly string[]): void {
    this.#table = names;
  }

  /** Exports a function by its own name. */
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

  /**
   * Returns the module in binary form.
   *
   * @throws TooLarge if a function is larger than hosts accept
   */
  finish(): Uint8Array<ArrayBuffer> {
    const out = new ByteWriter();
    out.append(header);
    const bodies = this.#outlined();
    const indexOf = this.#functionIndices(bodies);
    const filled = [...this.#table.entries()].filter(([, name]) => name !== "");
    writeSection(out, sections.type, this.#signatures.length, (part) => this.#writeTypes(part));
    const imports = this.#imports.size + (this.#memory === null ? 0 : 1);
    writeSection(out, sections.import, imports, (part) => this.#writeImports(part));
    writeSection(out, sections.function, bodies.size, (part) => {
      for (const { params, results } of bodies.values()) part.unsigned(this.type(params, results));
    });
    writeSection(out, sections.table, this.#table.length === 0 ? 0 : 1, (part) => this.#writeTable(part));
    writeSection(out, sections.global, this.#globals.length, (part) => this.#writeGlobals(part));
    writeSection(out, sections.export, this.#exports.length, (part) => this.#writeExports(part, indexOf));
    writeSection(out, sections.element, filled.length, (part) => writeElements(part, filled, indexOf));
    const codes = [...bodies.values()].map((body) => functionCode(body, indexOf));
    const hinted = codes.flatMap(({ hints }, i) =>
      hints.length === 0 ? [] : [{ hints, index: this.#imports.size + i }],
    );
    writeSection(out, sections.custom, hinted.length, (part) => writeHints(part, hinted), "metadata.code.branch_hint");
    writeSection(out, sections.code, codes.length, (part) => writeCodes(part, codes));
    return out.bytes.slice();
  }

  /** Numbers the functions: imports first, then those of the module in the order in which they were added. */
  #functionIndices(bodies: ReadonlyMap<string, FunctionBody>): IndexOf {
    const indices = new Map([...this.#imports.keys(), ...bodies.keys()].map((name, index) => [name, index]));
    return (name) => {
      const index = indices.get(name);
      if (index === undefined) throw new Error(`there is no function ${name}`);
      return index;
    };
  }

  #writeTypes(part: ByteWriter): void {
    for (const { params, results } of this.#signatures) {
      part.byte(0x60);
      for (const list of [params, results]) {
        part.unsigned(list.length);
        for (const ty of list) part.byte(typeBytes[ty]);
      }
    }
  }

  #writeImports(part: ByteWriter): void {
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
  }

  #writeTable(part: ByteWriter): void {
    part.byte(0x70);
    part.byte(0);
    part.unsigned(this.#table.length);
  }

  #writeGlobals(part: ByteWriter): void {
    for (const { ty, initial } of this.#globals) {
      part.byte(typeBytes[ty]);
      part.byte(1);
      writeConstant(part, initial);
    }
  }

  #writeExports(part: ByteWriter, indexOf: IndexOf): void {
    for (const name of this.#exports) {
      part.text(name);
      part.byte(0);
      part.unsigned(indexOf(name));
    }
  }
}

/** Writes a section, unless it is empty; `name` is that of a custom section. */
function writeSection(
  out: ByteWriter,
  id: number,
  count: number,
  write: (part: ByteWriter) => void,
  name: string | null = null,
): void {
  if (count === 0) return;
  const part = new ByteWriter();
  if (name !== null) part.text(name);
  part.unsigned(count);
  write(part);
  out.byte(id);
  out.unsigned(part.length);
  out.append(part.bytes);
}

/** Writes a constant expression: `i32.const value`, `end`. */
function writeConstant(part: ByteWriter, value: number): void {
  part.byte(0x41);
  part.signed32(value);
  part.byte(0x0b);
}

/** Writes an element segment for each entry of the table. */
function writeElements(
  part: ByteWriter,
  entries: readonly (readonly [at: number, name: string])[],
  indexOf: IndexOf,
): void {
  for (const [at, name] of entries) {
    part.byte(0);
    writeConstant(part, at);
    part.unsigned(1);
    part.unsigned(indexOf(name));
  }
}

/** Writes the hints of each function that has some, in the format of the branch hinting proposal. */
function writeHints(part: ByteWriter, functions: readonly HintedFunction[]): void {
  for (const { index, hints } of functions) {
    part.unsigned(index);
    part.unsigned(hints.length);
    for (const [offset, expected] of hints) {
      part.unsigned(offset);
      part.unsigned(1);
      part.byte(expected ? 1 : 0);
    }
  }
}

function writeCodes(part: ByteWriter, codes: readonly FunctionCode[]): void {
  for (const { bytes } of codes) {
    part.unsigned(bytes.length);
    part.append(bytes);
  }
}

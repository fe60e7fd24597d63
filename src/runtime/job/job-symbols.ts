import type { Buffer } from "../data/buffer.ts";
import { elementInfo, Elements, type ElementType, misfit } from "../data/element.ts";
import { UsageError } from "../data/errors.ts";
import type { ModuleVariable } from "../data/module-variable.ts";
import { sha256 } from "../data/sha256.ts";
import type { Module } from "../device/module.ts";
import { generate, type Init } from "./init.ts";
import type { ObjectSpec } from "./job-image.ts";
import type { JobObjects } from "./job-objects.ts";
import type { CopyEnd, CopySpec, SymbolSpec } from "./job-symbol.ts";

/** Reads a file that must hold `n` elements. */
type ReadFile = (path: string, type: ElementType, n: number) => Uint8Array;

/** The types of variables that hold handles (section 5.3). */
const opaqueTypes: ReadonlySet<string | null> = new Set(["texref", "samplerref", "surfref"]);

/** The variables that a job names, in a loaded program, and the copies between them and buffers. */
export class JobSymbols {
  readonly before = new Map<string, Elements>();
  readonly #module: Module;
  readonly #specs: ReadonlyMap<string, SymbolSpec>;
  readonly #buffers: ReadonlyMap<string, Buffer>;
  readonly #objects: JobObjects;
  /** The contents of the constants before the copies of each launch that has begun. */
  readonly #constants: ReadonlyMap<string, Uint8Array>[] = [];

  constructor(
    module: Module,
    specs: ReadonlyMap<string, SymbolSpec>,
    buffers: ReadonlyMap<string, Buffer>,
    objects: JobObjects,
  ) {
    this.#module = module;
    this.#specs = specs;
    this.#buffers = buffers;
    this.#objects = objects;
  }

  /** Sets the variables. Throws a UsageError if one is not there, or has no room for its values. */
  set(read: ReadFile): void {
    for (const [name, spec] of this.#specs) {
      const variable = this.#module.variable(name);
      if (spec.object !== undefined) this.#bind(variable, spec.object);
      else if (spec.init !== null) variable.writeBytes(valuesOf(name, spec, spec.init, variable, read).bytes);
      else if (spec.type !== null && spec.n !== null) requireRoom(name, spec.n, spec.type, variable);
      this.before.set(name, this.contents(name));
    }
  }

  /** The present contents of a variable, all of it, as elements of the job's type. */
  contents(name: string): Elements {
    const variable = this.#module.variable(name);
    return new Elements(this.#specs.get(name)!.type ?? variable.type, variable.readBytes());
  }

  /** Throws a UsageError if a copy does not fit. */
  require(copies: readonly CopySpec[]): void {
    for (const copy of copies) {
      const [from, to] = [this.#size(copy.from), this.#size(copy.to)];
      const bytes = copy.bytes ?? Math.max(0, from - copy.from.offset);
      for (const [{ name, of, offset }, size] of [[copy.from, from] as const, [copy.to, to] as const]) {
        if (offset + bytes <= size) continue;
        throw new UsageError(`a copy of ${bytes} bytes at byte ${offset} of ${of} "${name}", which has ${size}`);
      }
    }
  }

  /**
   * Makes the copies before a launch. A debugger may begin a launch again: then the constants first get back what they
   * held when it began before. (Memory, it restores itself.)
   */
  copy(launch: number, copies: readonly CopySpec[]): void {
    const before = this.#constants[launch];
    const constants = this.#module.variables
      .map((name) => this.#module.variable(name))
      .filter((v) => v.space === "const");
    if (before === undefined) this.#constants[launch] = new Map(constants.map((v) => [v.name, v.readBytes()]));
    else for (const variable of constants) variable.writeBytes(before.get(variable.name)!);
    this.#constants.length = launch + 1;
    for (const { from, to, bytes } of copies) {
      const source = this.#read(from).subarray(from.offset);
      this.#write(to, bytes === null ? source : source.subarray(0, bytes));
    }
  }

  #bind(variable: ModuleVariable, spec: ObjectSpec): void {
    if (variable.byteLength < 8 || !(opaqueTypes.has(variable.declaredType) || variable.declaredType?.endsWith("64"))) {
      throw wrong(variable.name, `a ${spec.as} needs a variable of 64 bits, .texref, .samplerref or .surfref`);
    }
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, this.#objects.object(spec).handle, true);
    variable.writeBytes(bytes);
  }

  #size({ of, name }: CopyEnd): number {
    return of === "buffer" ? this.#buffers.get(name)!.byteLength : this.#module.variable(name).byteLength;
  }

  #read({ of, name }: CopyEnd): Uint8Array {
    return of === "buffer" ? this.#buffers.get(name)!.readBytes() : this.#module.variable(name).readBytes();
  }

  #write({ of, name, offset }: CopyEnd, bytes: Uint8Array): void {
    if (of === "buffer") this.#buffers.get(name)!.writeBytes(bytes, offset);
    else this.#module.variable(name).writeBytes(bytes, offset);
  }
}

function requireRoom(name: string, n: number, type: ElementType, { byteLength }: ModuleVariable): void {
  const bytes = n * elementInfo[type].size;
  if (bytes <= byteLength) return;
  throw wrong(
    name,
    `${n} ${n === 1 ? "value" : "values"} of ${type} (${bytes} bytes) do not fit its ${byteLength} bytes`,
  );
}

/** Whether elements of a type are not those that a variable declares. Bytes may stand for anything. */
function isOther(type: ElementType, variable: ModuleVariable): boolean {
  if (type === "u8" || !variable.isTyped || variable.declaredType?.startsWith("b") === true) return false;
  const [given, declared] = [elementInfo[type], elementInfo[variable.type]];
  return given.size !== declared.size || (given.kind === "float") !== (declared.kind === "float");
}

const wrong = (name: string, what: string): UsageError => new UsageError(`symbol "${name}": ${what}`);

function valuesOf(name: string, spec: SymbolSpec, init: Init, variable: ModuleVariable, read: ReadFile): Elements {
  if (spec.type === null && !variable.isTyped) {
    throw wrong(name, `its ${variable.byteLength} bytes are declared without a type: give one, as in f32:1,2,3`);
  }
  const type = spec.type ?? variable.type;
  if (isOther(type, variable)) throw wrong(name, `values of ${type} for a variable of type ${variable.declaredType}`);
  const { size } = elementInfo[type];
  const n = spec.n ?? (init.gen === "list" ? init.values.length : Math.floor(variable.byteLength / size));
  if (spec.type === null && init.gen === "list") {
    for (let i = 0; i < n; i++) {
      const problem = misfit(type, init.values[i]!);
      if (problem !== null) throw wrong(name, problem);
    }
  }
  requireRoom(name, n, type, variable);
  const elements = init.gen === "file" ? new Elements(type, read(init.path, type, n)) : generate(type, n, init);
  if (spec.sha256 !== null && sha256(elements.bytes) !== spec.sha256) {
    throw wrong(name, "what fills it has another SHA-256 than the job says");
  }
  return elements;
}

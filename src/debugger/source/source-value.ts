import {
  type Block,
  evaluateLocation,
  type LocationContext,
  type Member,
  type Place,
  plainType,
  sizeOfType,
  type SourceType,
  type SourceVariable,
} from "../../dwarf/index.ts";
import { readMemory, type Viewpoint, writeMemory } from "../view/memory-view.ts";
import { functionAt, type Names } from "../view/names.ts";
import type { Execution } from "../../interpreter/execution.ts";
import { contains, debugOf, visibleAt } from "./function-debug.ts";

/** Where values of the source are evaluated: a lane at an instruction of a function. */
export interface SourcePoint extends Viewpoint {
  readonly execution: Execution;
  readonly names: Names;
  /** The instruction, or -1 if nothing runs. */
  readonly index: number;
  /** The function, as an index in the origin of the instruction. */
  readonly level: number;
}

/** The most bytes of one value that are read. */
const maxBytes = 1 << 20;

const littleEndian = (bytes: Uint8Array): bigint => {
  let value = 0n;
  for (let i = Math.min(8, bytes.length) - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]!);
  return value;
};

/** A value of the source: its type, and where it is. */
export class SourceValue {
  readonly type: SourceType;
  readonly place: Place;
  readonly #point: SourcePoint;
  readonly #bits: Member["bits"];

  constructor(point: SourcePoint, type: SourceType, place: Place, bits: Member["bits"] = null) {
    this.#point = point;
    this.type = type;
    this.place = place;
    this.#bits = bits;
  }

  /** The type without typedefs and qualifiers. */
  get plain(): SourceType {
    return plainType(this.type);
  }

  /** The address, if the value is in memory. */
  get address(): bigint | null {
    return this.place.kind === "memory" && this.#bits === null ? this.place.address : null;
  }

  /** The name of the register that holds the value, or null. */
  get register(): string | null {
    return this.place.kind === "register" ? this.place.name : null;
  }

  /** The bytes of the value, or why there are none. */
  read(): Uint8Array | string {
    const size = Math.min(sizeOfType(this.type) ?? 0, maxBytes);
    if (size === 0 && this.plain.kind !== "struct") return "its size is not known";
    return readPlace(this.#point, this.place, size);
  }

  /** The value as an unsigned number, sign not extended; null if there is none. Bit fields are shifted to the right. */
  get bits(): bigint | null {
    const bits = this.#bits;
    if (bits === null) {
      const bytes = this.read();
      return typeof bytes === "string" ? null : littleEndian(bytes);
    }
    const bytes = readPlace(this.#point, this.place, (bits.from + bits.count + 7) >> 3);
    return typeof bytes === "string" ? null : BigInt.asUintN(bits.count, littleEndian(bytes) >> BigInt(bits.from));
  }

  /** The number of bits that `bits` has. */
  get width(): number {
    return this.#bits?.count ?? 8 * (sizeOfType(this.type) ?? 0);
  }

  /** Replaces the bytes; returns whether that is possible. */
  write(bytes: Uint8Array): boolean {
    const { place } = this;
    if (this.#bits !== null) return false;
    if (place.kind === "memory") return writeMemory(this.#point, place.address, bytes);
    const variable = place.kind === "register" ? this.#point.names.variable(place.name) : null;
    if (variable === null) return false;
    const size = variable.type === "pred" ? 1 : variable.read(this.#point).length;
    return variable.write(this.#point, bytes.slice(0, size));
  }

  /** The value that a pointer or reference refers to, or the first element of an array; `index` elements further. */
  target(index = 0n): SourceValue | null {
    const { plain } = this;
    if (plain.kind === "array") return this.element(index);
    if (plain.kind !== "pointer" && plain.kind !== "reference" && plain.kind !== "rvalue-reference") return null;
    const pointer = this.bits;
    const type = plain.target();
    const size = BigInt(sizeOfType(type) ?? 1);
    if (pointer === null) return null;
    return new SourceValue(this.#point, type, { kind: "memory", address: BigInt.asUintN(64, pointer + index * size) });
  }

  /** The value itself or, for a reference, what it refers to. */
  get referred(): SourceValue {
    const { kind } = this.plain;
    return kind === "reference" || kind === "rvalue-reference" ? (this.target() ?? this) : this;
  }

  /** An element of an array, which need not be within its bounds. */
  element(index: bigint): SourceValue | null {
    const { plain } = this;
    if (plain.kind !== "array") return null;
    const size = sizeOfType(plain.element);
    return size === null ? null : this.#part(plain.element, Number(index) * size);
  }

  /** The value of a member. */
  member({ type, offset, bits }: Member): SourceValue {
    return this.#part(type, offset, bits);
  }

  /** Finds a member by name, also in base classes and in anonymous structs and unions. */
  find(name: string, depth = 0): SourceValue | null {
    const { plain } = this;
    if (plain.kind !== "struct" || depth > 20) return null;
    const members = plain.members();
    const own = members.find((m) => m.name === name && !m.isBase);
    if (own !== undefined) return this.member(own);
    for (const m of members) {
      const found = m.isBase || m.name === "" ? this.member(m).find(name, depth + 1) : null;
      if (found !== null) return found;
    }
    return null;
  }

  /** A pointer to the value, as a value that is nowhere itself. */
  get pointer(): SourceValue | null {
    const { address, type } = this;
    if (address === null) return null;
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, address, true);
    return new SourceValue(this.#point, { kind: "pointer", target: () => type, size: 8 }, { kind: "value", bytes });
  }

  /** A pointer that is `by` elements further; null if this is no pointer and no array. */
  moved(by: bigint): SourceValue | null {
    return this.target(by)?.pointer ?? null;
  }

  /** The name of the function that a pointer points to, or null. */
  get functionName(): string | null {
    const { plain } = this;
    if (plain.kind !== "pointer" || plainType(plain.target()).kind !== "function") return null;
    return functionAt(this.#point.execution, this.bits ?? 0n);
  }

  #part(type: SourceType, offset: number, bits: Member["bits"] = null): SourceValue {
    const { place } = this;
    if (place.kind === "memory") {
      const address = BigInt.asUintN(64, place.address + BigInt(offset));
      return new SourceValue(this.#point, type, { kind: "memory", address }, bits);
    }
    const size = bits === null ? Math.min(sizeOfType(type) ?? 0, maxBytes) : (bits.from + bits.count + 7) >> 3;
    const whole = readPlace(this.#point, place, Math.max(0, offset) + size);
    const found: Place =
      typeof whole === "string" || offset < 0
        ? { kind: "nowhere", why: typeof whole === "string" ? whole : "it is outside of the value" }
        : { kind: "value", bytes: whole.slice(offset, offset + size) };
    return new SourceValue(this.#point, type, found, bits);
  }
}

/** Reads the bytes at a place, or says why there are none. */
function readPlace(point: SourcePoint, place: Place, size: number): Uint8Array | string {
  switch (place.kind) {
    case "memory": {
      const bytes = readMemory(point, place.address, size);
      if (bytes.length === size) return bytes;
      return `there is no readable memory at 0x${place.address.toString(16)}`;
    }
    case "register": {
      const variable = point.activation === null ? null : point.names.variable(place.name);
      if (variable === null) return `there is no register ${place.name} here`;
      return padded(variable.read(point), size);
    }
    case "value":
      return padded(place.bytes, size);
    case "pieces": {
      const bytes = new Uint8Array(size);
      let at = 0;
      for (const piece of place.pieces) {
        if (at >= size) break;
        const part = readPlace(point, piece.place, Math.min(piece.bytes, size - at));
        if (typeof part === "string") return part;
        bytes.set(part, at);
        at += piece.bytes;
      }
      return bytes;
    }
    case "nowhere":
      return place.why;
  }
}

function padded(bytes: Uint8Array, size: number): Uint8Array {
  const all = new Uint8Array(size);
  all.set(bytes.subarray(0, size));
  return all;
}

function contextOf(point: SourcePoint, frameBase: Block | null, addressSize: number): LocationContext {
  const { names } = point;
  const symbol = (name: string): bigint | null => {
    const variable = names.variable(name);
    return variable === null ? names.address(name) : variable.address(point);
  };
  const context: LocationContext = {
    addressSize,
    register: (name) => {
      const variable = point.activation === null ? null : names.variable(name);
      return variable === null ? null : littleEndian(variable.read(point));
    },
    symbol: ({ symbol: name, addend }) => {
      const address = symbol(name);
      return address === null ? null : address + BigInt(addend);
    },
    frameBase: () => {
      // The frame is a variable of the function. What else could a CFA be: PTX has no stack pointer to unwind.
      const depot = names.frame.find(({ name }) => name.startsWith("__local_depot"));
      if (depot !== undefined) return depot.address(point);
      const place = frameBase && evaluateLocation(frameBase, { ...context, frameBase: () => null });
      return place?.kind === "memory" ? place.address : null;
    },
    memory: (address, size) => {
      const bytes = size > 8 ? new Uint8Array() : readMemory(point, address, size);
      return bytes.length < size || size === 0 ? null : littleEndian(bytes);
    },
  };
  return context;
}

/** Returns the value of a variable at a point. */
export function valueAt(variable: SourceVariable, point: SourcePoint): SourceValue {
  return new SourceValue(point, variable.type, placeOf(variable, point));
}

function placeOf(variable: SourceVariable, point: SourcePoint): Place {
  const ir = point.activation?.code.ir ?? null;
  const debug = ir === null ? null : debugOf(ir);
  const { locations, constant, addressSize } = variable;
  const here = locations.find(
    ({ range }) => range === null || (ir !== null && point.index >= 0 && contains(ir, range, point.index)),
  );
  if (here === undefined && constant !== null) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, constant), true);
    return { kind: "value", bytes };
  }
  if (here === undefined) {
    return { kind: "nowhere", why: locations.length === 0 ? "optimized out" : "it has no value here" };
  }
  const scope = debug?.kind === "known" ? debug.scope : null;
  const place = evaluateLocation(here.block, contextOf(point, scope?.frameBase ?? null, addressSize));
  if (place.kind === "register" && debug?.kind === "known" && point.index < debug.begins) {
    return { kind: "nowhere", why: "it is not there yet: the function's first instructions load it" };
  }
  return place;
}

/** Returns the variable of a name that can be seen at a point: of the innermost block, or of the module. */
export function variableNamed(name: string, point: SourcePoint): SourceVariable | null {
  const ir = point.activation?.code.ir ?? null;
  if (ir === null) return null;
  const found = visibleAt(ir, point.index, point.level).find(({ variable }) => variable.name === name)?.variable;
  if (found !== undefined) return found;
  const debug = debugOf(ir);
  return debug.kind === "known" ? (debug.program.variables.find((v) => v.name === name) ?? null) : null;
}

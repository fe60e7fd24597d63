import {
  bf16ToNumber,
  bf16ToNumbers,
  f16ToNumber,
  numbersToBf16,
  numberToBf16,
  numberToF16,
} from "../../numeric/half.ts";

/**
 * The element types of buffers: unsigned and signed integers and floats, with their size in bits. All are
 * little-endian.
 */
export const elementTypes = [
  "u8",
  "s8",
  "u16",
  "s16",
  "u32",
  "s32",
  "u64",
  "s64",
  "f16",
  "bf16",
  "f32",
  "f64",
] as const;
/** The type of a buffer's elements, as in "u32": unsigned, signed or floating-point, with its size in bits. */
export type ElementType = (typeof elementTypes)[number];

export const isElementType = (name: string): name is ElementType => (elementTypes as readonly string[]).includes(name);

export interface ElementInfo {
  readonly kind: "unsigned" | "signed" | "float";
  /** Bytes. */
  readonly size: 1 | 2 | 4 | 8;
  /** Returns bigints for 64-bit integers, numbers for all other types. */
  get(view: DataView, at: number): number | bigint;
  /** Integers keep their low bits; floats are rounded once, to nearest even. */
  set(view: DataView, at: number, value: number | bigint): void;
}

const low32 = (value: number | bigint): number =>
  typeof value === "bigint" ? Number(BigInt.asUintN(32, value)) : value >>> 0;

const low64 = (value: number | bigint): bigint => BigInt.asUintN(64, BigInt(value));

type SetElement = ElementInfo["set"];

// Integers of one size are the same bits, signed or not: one function for both is compiled and optimized once.
const set8: SetElement = (view, at, value) => view.setUint8(at, low32(value));
const set16: SetElement = (view, at, value) => view.setUint16(at, low32(value), true);
const set32: SetElement = (view, at, value) => view.setUint32(at, low32(value), true);
const set64: SetElement = (view, at, value) => view.setBigUint64(at, low64(value), true);

/** Rounds to f32 first, as programs without a direct conversion do. */
const roundToBf16 = (value: number): number => numberToBf16(Math.fround(value));

export const elementInfo: Readonly<Record<ElementType, ElementInfo>> = {
  u8: { kind: "unsigned", size: 1, get: (v, at) => v.getUint8(at), set: set8 },
  s8: { kind: "signed", size: 1, get: (v, at) => v.getInt8(at), set: set8 },
  u16: { kind: "unsigned", size: 2, get: (v, at) => v.getUint16(at, true), set: set16 },
  s16: { kind: "signed", size: 2, get: (v, at) => v.getInt16(at, true), set: set16 },
  u32: { kind: "unsigned", size: 4, get: (v, at) => v.getUint32(at, true), set: set32 },
  s32: { kind: "signed", size: 4, get: (v, at) => v.getInt32(at, true), set: set32 },
  u64: { kind: "unsigned", size: 8, get: (v, at) => v.getBigUint64(at, true), set: set64 },
  s64: { kind: "signed", size: 8, get: (v, at) => v.getBigInt64(at, true), set: set64 },
  f16: {
    kind: "float",
    size: 2,
    get: (v, at) => f16ToNumber(v.getUint16(at, true)),
    set: (v, at, x) => v.setUint16(at, numberToF16(Number(x)), true),
  },
  bf16: {
    kind: "float",
    size: 2,
    get: (v, at) => bf16ToNumber(v.getUint16(at, true)),
    set: (v, at, x) => v.setUint16(at, roundToBf16(Number(x)), true),
  },
  f32: {
    kind: "float",
    size: 4,
    get: (v, at) => v.getFloat32(at, true),
    set: (v, at, x) => v.setFloat32(at, Number(x), true),
  },
  f64: {
    kind: "float",
    size: 8,
    get: (v, at) => v.getFloat64(at, true),
    set: (v, at, x) => v.setFloat64(at, Number(x), true),
  },
};

/** What integers of 8 * `size` bits hold, from the least signed one to the largest unsigned one. */
const integersOf = (size: number) => ({ least: -(2 ** (8 * size - 1)), end: 2 ** (8 * size) });

/** By size in bytes. Computed once: every launch asks for the range of each integer among its arguments. */
const integerRanges = { 1: integersOf(1), 2: integersOf(2), 4: integersOf(4), 8: integersOf(8) } as const;

/**
 * Says why an element cannot hold a value, or returns null. Integers may be written as signed or unsigned, because
 * compilers declare `int` parameters as `.u32`. Floats are rounded, so any number is accepted. `info`: that of the
 * type, where the caller has it.
 */
export function misfit(
  type: ElementType,
  value: number | bigint,
  info: ElementInfo = elementInfo[type],
): string | null {
  const { kind, size } = info;
  if (kind === "float") return null;
  if (typeof value === "number" && !Number.isInteger(value)) return `${value} is not an integer, which ${type} holds`;
  const { least, end } = integerRanges[size];
  return value < least || value >= end ? `${value} does not fit ${type}` : null;
}

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Little-endian elements over an array of bytes, read and written one at a time. */
export class Elements {
  /** The type of the elements. */
  readonly type: ElementType;
  /** The bytes, little-endian, which `get` and `set` access in place. */
  readonly bytes: Uint8Array;
  /** How many elements there are; bytes after the last whole one are left out. */
  readonly length: number;
  readonly #info: ElementInfo;
  readonly #view: DataView;

  constructor(type: ElementType, bytes: Uint8Array) {
    this.type = type;
    this.bytes = bytes;
    this.#info = elementInfo[type];
    this.#view = viewOf(bytes);
    this.length = Math.floor(bytes.length / this.#info.size);
  }

  /** Makes a new array of `length` zeros. */
  static zeros(type: ElementType, length: number): Elements {
    return new Elements(type, new Uint8Array(length * elementInfo[type].size));
  }

  /** Bytes of an element. */
  get size(): number {
    return this.#info.size;
  }

  /** Returns an element: a bigint for 64-bit integers, else a number. */
  get(index: number): number | bigint {
    return this.#info.get(this.#view, index * this.#info.size);
  }

  /** Sets an element. Integers keep their low bits; floats are rounded once, to nearest even. */
  set(index: number, value: number | bigint): void {
    this.#info.set(this.#view, index * this.#info.size, value);
  }

  /** The bits of an element as an unsigned integer. */
  pattern(index: number): number | bigint {
    const { size } = this.#info;
    const at = index * size;
    if (size === 1) return this.#view.getUint8(at);
    if (size === 2) return this.#view.getUint16(at, true);
    return size === 4 ? this.#view.getUint32(at, true) : this.#view.getBigUint64(at, true);
  }
}

/** The array that `Buffer.read` returns for each element type; f16 and bf16 are converted to f32. */
export interface TypedArrays {
  u8: Uint8Array;
  s8: Int8Array;
  u16: Uint16Array;
  s16: Int16Array;
  u32: Uint32Array;
  s32: Int32Array;
  u64: BigUint64Array;
  s64: BigInt64Array;
  f16: Float32Array;
  bf16: Float32Array;
  f32: Float32Array;
  f64: Float64Array;
}

/** Any of the arrays that `Buffer.read` returns. */
export type TypedArray = TypedArrays[ElementType];

/** The arrays whose elements are numbers that JavaScript has as they are. */
export const numberArrays = {
  u8: Uint8Array,
  s8: Int8Array,
  u16: Uint16Array,
  s16: Int16Array,
  u32: Uint32Array,
  s32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

const constructors = { ...numberArrays, u64: BigUint64Array, s64: BigInt64Array } as const;

/**
 * The values of a list as elements, little-endian. Those of an array that has such elements are not copied. Floats are
 * rounded, and integers keep their low bits, as `Elements.set` does it.
 */
export function bytesOfValues(type: ElementType, values: ArrayLike<number> | ArrayLike<bigint>): Uint8Array {
  const given = ArrayBuffer.isView(values) ? typeOfArray(values) : null;
  if (given !== null && isSameElement(given, type)) {
    const { buffer, byteOffset, byteLength } = values as TypedArray;
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
  if (given !== null && given in numberArrays && isHalf(type)) {
    return new Uint8Array(halvesOf(type, values as ArrayLike<number>).buffer);
  }
  if (given !== null && given in numberArrays && type in numberArrays) {
    const converted = new numberArrays[type as keyof typeof numberArrays](values as ArrayLike<number>);
    return new Uint8Array(converted.buffer);
  }
  const elements = Elements.zeros(type, values.length);
  for (let i = 0; i < values.length; i++) elements.set(i, values[i]!);
  return elements.bytes;
}

/** Whether elements of one type, converted to another one, keep all their bits. `given`: the type of an array. */
function isSameElement(given: ElementType, type: ElementType): boolean {
  const [a, b] = [elementInfo[given], elementInfo[type]];
  return given === type || (a.kind !== "float" && b.kind !== "float" && a.size === b.size);
}

/** Converts little-endian bytes into an array that shares no memory with them. */
export function toTypedArray<T extends ElementType>(type: T, bytes: Uint8Array): TypedArrays[T] {
  // Not `slice`: on a Node Buffer it shares the memory.
  return asTypedArray(type, new Uint8Array(bytes));
}

/** The elements of an array of bytes that nobody else uses, and that is all of its buffer. */
export function asTypedArray<T extends ElementType>(type: T, bytes: Uint8Array): TypedArrays[T] {
  const { buffer } = bytes as Uint8Array<ArrayBuffer>;
  if (isHalf(type)) {
    const halves = new Uint16Array(buffer, 0, bytes.length >>> 1);
    return widened(type, halves, new Float32Array(halves.length)) as TypedArrays[T];
  }
  return new constructors[type as keyof typeof constructors](buffer) as TypedArrays[T];
}

/** Copies elements into an array for elements of their type, as long as they are. `bytes` begins at an even byte. */
export function copyElements<T extends ElementType>(type: T, bytes: Uint8Array, into: TypedArrays[T]): void {
  if (isHalf(type)) widened(type, new Uint16Array(bytes.buffer, bytes.byteOffset, into.length), into as Float32Array);
  else new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
}

/** Whether an array is one that `Buffer.read` returns for a type. */
export const isArrayOf = <T extends ElementType>(type: T, array: unknown): array is TypedArrays[T] =>
  array instanceof (isHalf(type) ? Float32Array : constructors[type as Exclude<ElementType, Half>]);

type Half = "f16" | "bf16";

const isHalf = (type: ElementType): type is Half => type === "f16" || type === "bf16";

/** Converts the bits of halves to numbers. */
function widened(type: Half, halves: Uint16Array, into: Float32Array): Float32Array {
  if (type === "bf16") bf16ToNumbers(halves, into);
  else for (let i = 0; i < halves.length; i++) into[i] = f16ToNumber(halves[i]!);
  return into;
}

/** Rounds numbers to halves, and returns their bits: bf16 by way of f32, as `Elements.set` does it. */
function halvesOf(type: Half, values: ArrayLike<number>): Uint16Array {
  if (type === "bf16") return numbersToBf16(values instanceof Float32Array ? values : new Float32Array(values));
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) halves[i] = numberToF16(values[i]!);
  return halves;
}

/** The element type of a typed array, or null if kernels have none like it. */
export function typeOfArray(array: ArrayBufferView): ElementType | null {
  for (const [type, arrayClass] of Object.entries(constructors)) {
    if (array instanceof arrayClass) return type as ElementType;
  }
  return array instanceof Uint8ClampedArray ? "u8" : null;
}

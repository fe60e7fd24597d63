import { elementInfo, Elements, type ElementType, viewOf } from "./element.ts";
import { NumpyError } from "./errors.ts";

/** A NumPy array, with its elements in C order (the last index varies fastest). */
export interface NumpyArray {
  readonly type: ElementType;
  /** The length of each dimension; empty for a scalar. */
  readonly shape: readonly number[];
  /** The elements, little-endian. */
  readonly bytes: Uint8Array;
}

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** NumPy's type strings without the byte order. NumPy has no bf16: it is stored as `u2`. */
const typeStrings: ReadonlyMap<string, ElementType> = new Map([
  ["u1", "u8"],
  ["i1", "s8"],
  ["b1", "u8"],
  ["u2", "u16"],
  ["i2", "s16"],
  ["u4", "u32"],
  ["i4", "s32"],
  ["u8", "u64"],
  ["i8", "s64"],
  ["f2", "f16"],
  ["f4", "f32"],
  ["f8", "f64"],
]);

export const isNumpy = (bytes: Uint8Array): boolean => magic.every((byte, i) => bytes[i] === byte);

/**
 * Reads a `.npy` file, versions 1 to 3. Big-endian data is converted to little-endian; booleans become `u8`.
 *
 * @throws NumpyError if it is not such a file, is in Fortran order, or has an element type that kernels lack
 */
export function readNumpy(bytes: Uint8Array): NumpyArray {
  if (!isNumpy(bytes)) throw new NumpyError("this is no .npy file: it does not begin with \\x93NUMPY");
  const version = bytes[6] ?? 0;
  const wide = version >= 2;
  if (version < 1 || version > 3 || bytes.length < (wide ? 12 : 10)) {
    throw new NumpyError(`.npy version ${version} is not known (1, 2 and 3 are)`);
  }
  const begin = wide ? 12 : 10;
  const end = begin + (wide ? viewOf(bytes).getUint32(8, true) : viewOf(bytes).getUint16(8, true));
  if (end > bytes.length) throw new NumpyError("the file ends within its header");
  const header = new TextDecoder(version === 3 ? "utf-8" : "latin1").decode(bytes.subarray(begin, end));
  const field = (name: string, value: string): string => {
    const match = new RegExp(`['"]${name}['"]\\s*:\\s*${value}`).exec(header);
    if (!match) throw new NumpyError(`the header has no ${name} that is understood: ${header.trim().slice(0, 200)}`);
    return match[1]!;
  };
  const descr = field("descr", "(\\[|'[^']*'|\"[^\"]*\")").slice(1, -1);
  const [, order, name = ""] = /^([<>|=]?)(\w+)$/.exec(descr) ?? [];
  const type = typeStrings.get(name);
  if (!type) throw new NumpyError(`arrays of "${descr || "records"}" have no type that a kernel knows`);
  if (field("fortran_order", "(True|False)") === "True") {
    throw new NumpyError("the array is in Fortran order; save it with numpy.ascontiguousarray");
  }
  const shape = field("shape", "\\(([\\d\\s,L]*)\\)")
    .split(",")
    .map((part) => part.replace("L", "").trim())
    .filter((part) => part !== "")
    .map(Number);
  const { size } = elementInfo[type];
  const length = shape.reduce((product, n) => product * n, 1) * size;
  if (bytes.length - end < length) {
    throw new NumpyError(`the header promises ${length} bytes of data, the file has ${bytes.length - end}`);
  }
  // Not `slice`: on a Node Buffer it shares the memory.
  const data = new Uint8Array(bytes.subarray(end, end + length));
  if (order === ">") swapBytes(data, size);
  return { type, shape, bytes: data };
}

function swapBytes(data: Uint8Array, size: number): void {
  for (let at = 0; at < data.length; at += size) data.subarray(at, at + size).reverse();
}

/** Encodes an array as a `.npy` file, version 1.0. NumPy has no bf16, so its bits are written as `<u2`. */
export function writeNumpy({ type, shape, bytes }: NumpyArray): Uint8Array {
  const stored = type === "bf16" ? "u16" : type;
  const name = [...typeStrings].find(([, t]) => t === stored)![0];
  const descr = `${elementInfo[type].size === 1 ? "|" : "<"}${name}`;
  const dimensions = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const dictionary = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${dimensions}), }`;
  // The data begins at a multiple of 64, and the header ends with a newline.
  const begin = Math.ceil((10 + dictionary.length + 1) / 64) * 64;
  const file = new Uint8Array(begin + bytes.length);
  file.set([...magic, 1, 0]);
  viewOf(file).setUint16(8, begin - 10, true);
  file.set(new TextEncoder().encode(dictionary.padEnd(begin - 11) + "\n"), 10);
  file.set(bytes, begin);
  return file;
}

/**
 * Converts the elements of an array to another type. From u16 to bf16 the bits are kept; otherwise integers must fit
 * exactly.
 *
 * @throws NumpyError if an element does not fit
 */
export function asType(array: NumpyArray, type: ElementType): Uint8Array {
  if (array.type === type || (type === "bf16" && array.type === "u16")) return array.bytes;
  const from = new Elements(array.type, array.bytes);
  const to = Elements.zeros(type, from.length);
  for (let i = 0; i < from.length; i++) {
    const value = from.get(i);
    const integral = typeof value === "bigint" || Number.isInteger(value);
    if (elementInfo[type].kind !== "float" && !integral) {
      throw new NumpyError(`element ${i} is ${value}, which is no ${type}`);
    }
    to.set(i, value);
    const back = to.get(i);
    if (elementInfo[type].kind !== "float" && BigInt(back) !== BigInt(value)) {
      throw new NumpyError(`element ${i} is ${value}, which does not fit ${type}`);
    }
  }
  return to.bytes;
}

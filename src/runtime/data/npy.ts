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

const endsWithinHeader = (): NumpyError => new NumpyError("the file ends within its header");

/**
 * Reads a `.npy` file, versions 1 to 3. Big-endian data is converted to little-endian; booleans become `u8`.
 *
 * @throws NumpyError if it is not such a file, is in Fortran order, or has an element type that kernels lack
 */
export function readNumpy(bytes: Uint8Array): NumpyArray {
  if (!isNumpy(bytes)) throw new NumpyError("this is not an .npy file: it does not begin with \\x93NUMPY");
  const version = bytes[6];
  const wide = version !== undefined && version >= 2;
  if (version === undefined || bytes.length < (wide ? 12 : 10)) throw endsWithinHeader();
  if (version < 1 || version > 3) {
    throw new NumpyError(`.npy version ${version} is not known (1, 2 and 3 are)`);
  }
  const begin = wide ? 12 : 10;
  const end = begin + (wide ? viewOf(bytes).getUint32(8, true) : viewOf(bytes).getUint16(8, true));
  if (end - begin > mostHeader) throw new NumpyError(`the header has ${end - begin} bytes; NumPy writes far fewer`);
  if (end > bytes.length) throw endsWithinHeader();
  const header = new TextDecoder(version === 3 ? "utf-8" : "latin1").decode(bytes.subarray(begin, end));
  const { descr, fortran, shape } = parseHeader(header);
  const [, order, name = ""] = /^([<>|=]?)(\w+)$/.exec(descr ?? "") ?? [];
  const type = typeStrings.get(name);
  if (!type) throw new NumpyError(`arrays of "${descr ?? "records"}" have no type that a kernel knows`);
  if (fortran) throw new NumpyError("the array is in Fortran order; save it with numpy.ascontiguousarray");
  const { size } = elementInfo[type];
  const length = shape.reduce((product, n) => product * n, 1) * size;
  if (length > mostBytes) throw new NumpyError(`the header promises ${length} bytes of data; 2 GiB can be read`);
  if (bytes.length - end < length) {
    throw new NumpyError(`the header promises ${length} bytes of data, the file has ${bytes.length - end}`);
  }
  // Not `slice`: on a Node Buffer it shares the memory.
  const data = new Uint8Array(bytes.subarray(end, end + length));
  if (order === ">") swapBytes(data, size);
  return { type, shape, bytes: data };
}

/** The most bytes of a header. NumPy itself refuses more than 10,000. */
const mostHeader = 0x1_0000;

/** The most bytes of an array. */
const mostBytes = 0x8000_0000;

interface Header {
  /** The type of the elements; null for records. */
  readonly descr: string | null;
  readonly fortran: boolean;
  readonly shape: readonly number[];
}

const string = `'[^'\\\\]*'|"[^"\\\\]*"`;
const number = "(?:0|[1-9]\\d*)L?";
const tuple = `\\(\\s*(?:${number}\\s*(?:,\\s*${number}\\s*)*(?:,\\s*)?)?\\)`;

/** An entry of the dictionary; records are lists, which nest. */
const entry = new RegExp(`\\s*(${string})\\s*:\\s*(?:(${string})|(True|False)|(${tuple})|(\\[.*\\]))\\s*`, "sy");

/**
 * Parses the header, which is a dictionary as Python writes it, with exactly the keys `descr`, `fortran_order` and
 * `shape`.
 */
function parseHeader(header: string): Header {
  const wrong = (why: string): never => {
    throw new NumpyError(`the header ${why}: ${header.trim().slice(0, 200)}`);
  };
  const inner = /^\s*\{(.*)\}\s*$/s.exec(header)?.[1] ?? wrong("is no dictionary");
  const found = new Map<string, RegExpExecArray>();
  for (let at = 0; inner.slice(at).trim() !== ""; ) {
    entry.lastIndex = at;
    const match = entry.exec(inner) ?? wrong("has an entry that is not understood");
    const key = match[1]!.slice(1, -1);
    if (found.has(key)) wrong(`has two entries ${key}`);
    found.set(key, match);
    at = entry.lastIndex;
    if (inner[at] === ",") at++;
    else if (at < inner.length) wrong("has no comma between two entries");
  }
  for (const key of ["descr", "fortran_order", "shape"]) if (!found.has(key)) wrong(`has no ${key}`);
  if (found.size > 3) wrong("has entries that a .npy file does not have");
  const [, , descr, , , records] = found.get("descr")!;
  const order = found.get("fortran_order")![3] ?? wrong("has a fortran_order that is neither True nor False");
  const shape = found.get("shape")![4] ?? wrong("has a shape that is no tuple of lengths");
  if (descr === undefined && records === undefined) wrong("has a descr that is no type");
  return { descr: descr?.slice(1, -1) ?? null, fortran: order === "True", shape: lengthsOf(shape, wrong) };
}

/** The lengths of a tuple. One alone has a comma after it: without, Python takes it for a number. */
function lengthsOf(tuple: string, wrong: (why: string) => never): number[] {
  const parts = tuple
    .slice(1, -1)
    .split(",")
    .map((part) => part.replace("L", "").trim());
  if (parts.length === 1 && parts[0] !== "") wrong("has a shape that is no tuple of lengths");
  if (parts.at(-1) === "") parts.pop();
  const lengths = parts.map(Number);
  if (lengths.length > 64) wrong(`has ${lengths.length} dimensions; NumPy has at most 64`);
  if (!lengths.every(Number.isSafeInteger)) wrong("has a length that no array has");
  return lengths;
}

function swapBytes(data: Uint8Array, size: number): void {
  for (let at = 0; at < data.length; at += size) {
    for (let i = at, j = at + size - 1; i < j; i++, j--) [data[i], data[j]] = [data[j]!, data[i]!];
  }
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
  if (elementInfo[type].kind === "float") {
    for (let i = 0; i < from.length; i++) to.set(i, from.get(i));
    return to.bytes;
  }
  for (let i = 0; i < from.length; i++) {
    const value = from.get(i);
    const integral = typeof value === "bigint" || Number.isInteger(value);
    if (!integral) {
      throw new NumpyError(`element ${i} is ${value}, which ${type} cannot hold`);
    }
    to.set(i, value);
    const back = to.get(i);
    const same = typeof back === typeof value ? back === value : BigInt(back) === BigInt(value);
    if (!same) {
      throw new NumpyError(`element ${i} is ${value}, which does not fit ${type}`);
    }
  }
  return to.bytes;
}

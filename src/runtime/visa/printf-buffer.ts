import type { Surface } from "../../machine/state/thread-model.ts";
import { viewOf } from "../data/element.ts";
import { formatPrintf, type PrintfArguments } from "../launch/printf.ts";
import type { LaunchMemory } from "./launch-memory.ts";

/** The size of the buffer in bytes. Kernels know it and do not print what does not fit. */
const bufferBytes = 0x40_0000;

/** The first dword is the offset of the next record in bytes, and counts itself. */
const firstRecord = 4;

const maxString = 1 << 16;

/** The values in a record by their tag, the dword before each: the size of an element in bytes, and how to read it. */
const tags: readonly ({ readonly size: 1 | 2 | 4 | 8; readonly float: boolean; readonly vector: boolean } | null)[] = [
  null,
  { size: 1, float: false, vector: false },
  { size: 2, float: false, vector: false },
  { size: 4, float: false, vector: false },
  { size: 4, float: true, vector: false },
  /** A string: its address. */
  { size: 8, float: false, vector: false },
  { size: 8, float: false, vector: false },
  /** A pointer. */
  { size: 8, float: false, vector: false },
  { size: 8, float: true, vector: false },
  { size: 1, float: false, vector: true },
  { size: 2, float: false, vector: true },
  { size: 4, float: false, vector: true },
  { size: 8, float: false, vector: true },
  { size: 4, float: true, vector: true },
  { size: 8, float: true, vector: true },
];

/** Allocates the buffer into which the kernels of a launch write the output of `printf`. */
export function openPrintfBuffer(memory: LaunchMemory): Surface {
  const buffer = memory.alloc(bufferBytes, "the printf buffer");
  memory.write(buffer, Uint8Array.of(firstRecord, 0, 0, 0));
  return buffer;
}

/**
 * Formats the records of a launch, in the order in which their places were taken. A record is the address of the format
 * and then, for each conversion, a tag, the number of elements if it is a vector, and the values; those smaller than
 * four bytes are padded to four.
 */
export function readPrintfBuffer(buffer: Surface, memory: LaunchMemory): string {
  const used = viewOf(memory.read(buffer.address, 4)).getUint32(0, true);
  const records = new Records(memory.read(buffer.address, Math.min(used, bufferBytes)), memory);
  let text = "";
  while (records.more) {
    text += formatPrintf(scalarConversions(records.format()), records);
  }
  return utf8.decode(Uint8Array.from(text, (c) => c.charCodeAt(0)));
}

const utf8 = new TextDecoder();

/**
 * Expands OpenCL C's vector conversions, such as `%v4hld`, into one C conversion per element, separated by commas; `hl`
 * means 32-bit elements.
 */
const scalarConversions = (format: string): string =>
  format.replace(
    /%([-+ #0]*\d*(?:\.\d*)?)v(2|3|4|8|16)(hh|hl|h|l)?([a-zA-Z])/g,
    (_, flags: string, count: string, length = "", letter: string) =>
      Array.from({ length: Number(count) }, () => `%${flags}${length === "hl" ? "" : length}${letter}`).join(","),
  );

class Records implements PrintfArguments {
  readonly #view: DataView;
  readonly #memory: LaunchMemory;
  #at = firstRecord;
  /** The elements of a vector that are yet to be printed. */
  readonly #elements: (number | bigint)[] = [];

  constructor(bytes: Uint8Array, memory: LaunchMemory) {
    this.#view = viewOf(bytes);
    this.#memory = memory;
  }

  /** Whether there is another record; a kernel may have reserved more room than it filled. */
  get more(): boolean {
    this.#elements.length = 0;
    return this.#at + 8 <= this.#view.byteLength;
  }

  int(): number {
    return Number(BigInt.asIntN(32, toBigInt(this.#next())));
  }
  long(): bigint {
    return BigInt.asIntN(64, toBigInt(this.#next()));
  }
  double(): number {
    return Number(this.#next());
  }
  string(): string {
    this.#dword();
    return this.format();
  }

  /** Reads an address, and the string there, one character per byte. */
  format(): string {
    const address = this.#left(8) ? this.#view.getBigUint64(this.#at, true) : 0n;
    this.#at += 8;
    const bytes = this.#memory.read(address, maxString);
    const end = bytes.indexOf(0);
    return Array.from(bytes.subarray(0, end < 0 ? bytes.length : end), (c) => String.fromCharCode(c)).join("");
  }

  #left(size: number): boolean {
    return this.#at + size <= this.#view.byteLength;
  }

  #dword(): number {
    const value = this.#left(4) ? this.#view.getUint32(this.#at, true) : 0;
    this.#at += 4;
    return value;
  }

  /** Reads the next value of the record; 0 if the record is cut off or malformed. */
  #next(): number | bigint {
    const queued = this.#elements.shift();
    if (queued !== undefined) return queued;
    const tag = tags[this.#dword()];
    if (!tag) return 0;
    const count = tag.vector ? Math.min(this.#dword(), 16) : 1;
    for (let i = 0; i < count && this.#left(tag.size); i++) this.#elements.push(this.#element(tag.size, tag.float));
    this.#at += count * Math.max(0, 4 - tag.size);
    return this.#elements.shift() ?? 0;
  }

  #element(size: 1 | 2 | 4 | 8, float: boolean): number | bigint {
    const at = this.#at;
    this.#at += size;
    if (size === 1) return this.#view.getInt8(at);
    if (size === 2) return this.#view.getInt16(at, true);
    if (size === 4) return float ? this.#view.getFloat32(at, true) : this.#view.getInt32(at, true);
    return float ? this.#view.getFloat64(at, true) : this.#view.getBigInt64(at, true);
  }
}

const toBigInt = (value: number | bigint): bigint =>
  typeof value === "bigint" ? value : BigInt(Number.isFinite(value) ? Math.trunc(value) : 0);

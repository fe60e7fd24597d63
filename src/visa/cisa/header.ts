import { isKnownVersion, type Name, type Version } from "../tree.ts";
import { ByteReader, Malformed } from "./byte-reader.ts";
import { atLeast, magic } from "./format.ts";

/** The header's entry of a kernel or a function. */
export interface RoutineEntry {
  readonly kind: "kernel" | "function";
  readonly name: Name;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Size in bytes, without the native code that may follow a kernel. */
  readonly size: number;
  /** Span of the offset and size in the header. */
  readonly at: { readonly start: number; readonly end: number };
}

/** The header of a file. */
export interface Header {
  readonly version: Version;
  /** Kernels first, as in the file. */
  readonly entries: readonly RoutineEntry[];
}

/**
 * Reads the header of a file.
 *
 * @throws Malformed
 */
export function readHeader(bytes: Uint8Array): Header {
  const reader = new ByteReader(bytes, 0, bytes.length);
  const start = { start: 0, end: Math.min(4, bytes.length) };
  if (bytes.length < 4 || reader.u32() !== magic) {
    throw new Malformed("visa-cisa-not-a-file", start, 'the file does not begin with "CISA"');
  }
  const version: Version = { start: 4, end: 6, major: reader.u8(), minor: reader.u8() };
  const { major, minor } = version;
  if (!isKnownVersion(version)) {
    throw new Malformed("visa-cisa-version", version, `version ${major}.${minor} of the file format is not known`);
  }
  const wideNames = atLeast(version, 3, 7);
  const entries: RoutineEntry[] = [];
  for (let count = reader.u16(); count > 0; count--) entries.push(kernelEntry(reader, wideNames));
  for (let count = reader.u16(); count > 0; count--) skipFileVariable(reader, wideNames, atLeast(version, 3, 4));
  for (let count = reader.u16(); count > 0; count--) entries.push(functionEntry(reader, wideNames));
  return { version, entries };
}

function kernelEntry(reader: ByteReader, wideNames: boolean): RoutineEntry {
  const name = readName(reader, wideNames);
  const extent = readExtent(reader);
  reader.u32(); // offset of its inputs, which follows from the rest
  skipRelocations(reader);
  for (let count = reader.u8(); count > 0; count--) reader.skip(9); // native code: platform, offset, size
  return { kind: "kernel", name, ...extent };
}

function functionEntry(reader: ByteReader, wideNames: boolean): RoutineEntry {
  reader.u8(); // linkage
  const name = readName(reader, wideNames);
  const extent = readExtent(reader);
  skipRelocations(reader);
  return { kind: "function", name, ...extent };
}

function readName(reader: ByteReader, wide: boolean): Name {
  const length = wide ? reader.u16() : reader.u8();
  const start = reader.at;
  const name = { text: reader.text(length), start, end: reader.at };
  if (name.text.includes("\0")) throw new Malformed("visa-cisa-bad-value", name, "a name contains a NUL");
  return name;
}

function readExtent(reader: ByteReader): Pick<RoutineEntry, "offset" | "size" | "at"> {
  const start = reader.at;
  return { offset: reader.u32(), size: reader.u32(), at: { start, end: reader.at } };
}

/** Skips the references to variables and functions of the file: pairs of u16. */
function skipRelocations(reader: ByteReader): void {
  for (let table = 0; table < 2; table++) reader.skip(4 * reader.u16());
}

/** Skips a variable of the file. These were retired before 3.0, and no writer makes them. */
function skipFileVariable(reader: ByteReader, wideNames: boolean, wideIndices: boolean): void {
  reader.u8();
  readName(reader, wideNames);
  reader.skip(3);
  for (let count = reader.u8(); count > 0; count--) {
    reader.skip(wideIndices ? 4 : 2);
    reader.skip(reader.u8());
  }
}

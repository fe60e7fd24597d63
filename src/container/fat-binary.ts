import { ByteView } from "./byte-view.ts";
import { byteAt, ContainerError } from "./container-error.ts";
import { decodeLz4 } from "./lz4.ts";
import type { Compression, CodeImage } from "./members.ts";
import { decodeZstd } from "./zstd/decode-zstd.ts";

/** A fat binary: what was made of one source file, or of one linking of several. */
export interface FatBinary {
  /** Where it begins in the bytes that were searched. */
  readonly offset: number;
  /** The name of the source, if it was noted down (`-lineinfo`). */
  readonly name: string | null;
  /** Whether its code is to be linked, as an option that was noted down says. */
  readonly relocatable: boolean;
  readonly images: readonly CodeImage[];
}

interface FatBinaries {
  readonly found: readonly FatBinary[];
  readonly problems: readonly string[];
}

const magic = 0xba55ed50;
const headerBytes = 16;
const entryBytes = 64;
const kindPtx = 1;
const kindMachineCode = 2;

const flags = { lz4: 0x2000, zstd: 0x8000, exact: 0x10_0000, family: 0x20_0000 };

/** The most bytes that an image may have: it is a ceiling for what damaged sizes can ask for. */
const maxImage = 0x1000_0000;

/** Far more than files have: a bound on the memory that a damaged one can ask for. */
const maxImages = 0x4_0000;
const maxProblems = 100;

export const isFatBinary = (view: ByteView): boolean => view.length >= 4 && view.u32(0) === magic;

/**
 * Finds the fat binaries in the bytes of a section, in which they lie one after the other, with gaps for alignment. In
 * a file whose sections are not known they lie anywhere.
 */
export function readFatBinaries(bytes: Uint8Array, what: string): FatBinaries {
  const view = new ByteView(bytes, what);
  const found: FatBinary[] = [];
  const problems: string[] = [];
  let count = 0;
  for (let at = nextMagic(view, 0); at >= 0; ) {
    const size = sizeAt(view, at);
    if (size === null) {
      at = nextMagic(view, at + 4);
      continue;
    }
    try {
      const fat = readFatBinary(view, at, size);
      // Without code they are what linking leaves where the runtime needs a place.
      if (fat.images.length > 0) found.push(fat);
      count += fat.images.length;
      if (count > maxImages) view.fail(`there are more than ${maxImages} pieces of device code`, at);
    } catch (error) {
      if (!(error instanceof ContainerError)) throw error;
      problems.push(error.message);
      if (problems.length > maxProblems || count > maxImages) break;
    }
    at = nextMagic(view, at + Math.min(size, view.length - at));
  }
  return { found, problems };
}

/** Where a fat binary may begin: at a multiple of 4 bytes, counted from the beginning. */
function nextMagic({ bytes }: ByteView, from: number): number {
  const aligned = (from + 3) & ~3;
  if (bytes.byteOffset % 4 === 0) {
    // Words are compared, not bytes: files have hundreds of megabytes.
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    const at = words.indexOf(magic, aligned >> 2);
    return at < 0 ? -1 : at * 4;
  }
  for (let at = bytes.indexOf(0x50, aligned); at >= 0; at = bytes.indexOf(0x50, at + 1)) {
    if (at % 4 === 0 && bytes[at + 1] === 0xed && bytes[at + 2] === 0x55 && bytes[at + 3] === 0xba) return at;
  }
  return -1;
}

/** The size of the fat binary at a place; null if the four bytes stand there by chance. */
function sizeAt(view: ByteView, at: number): number | null {
  if (at + headerBytes > view.length) return null;
  const [version, header] = [view.u16(at + 4), view.u16(at + 6)];
  if (version !== 1 || header < headerBytes || header % 8 !== 0) return null;
  return header + view.u64(at + 8);
}

function readFatBinary(view: ByteView, offset: number, size: number): FatBinary {
  if (offset + size > view.length) view.fail("a fat binary is cut off", offset);
  const images: CodeImage[] = [];
  const end = offset + size;
  let name: string | null = null;
  let relocatable = false;
  for (let at = offset + view.u16(offset + 6); at < end; ) {
    const { image, next, source } = readEntry(view, at, end);
    at = next;
    if (image === null) continue;
    images.push(image);
    name ??= source;
    relocatable ||= /(^|\s)(--compile-only|-c)(\s|$)/.test(image.options);
  }
  return { offset, name, relocatable, images };
}

interface Entry {
  readonly image: CodeImage | null;
  /** Where the next entry begins. */
  readonly next: number;
  /** The name of the source. */
  readonly source: string | null;
}

function readEntry(view: ByteView, at: number, end: number): Entry {
  const header = view.u32(at + 4);
  const payload = view.u64(at + 8);
  const next = at + header + payload;
  if (header < entryBytes || next > end) view.fail("an entry of a fat binary goes beyond its end", at);
  const kind = view.u16(at);
  // Others, such as code for another kind of compiler, are no use here.
  if (kind !== kindPtx && kind !== kindMachineCode) return { image: null, next, source: null };
  const compressed = view.u32(at + 16);
  const bits = view.u32(at + 40);
  const compression: Compression = bits & flags.zstd ? "zstd" : bits & flags.lz4 ? "LZ4" : "none";
  const stored = compression === "none" ? payload : compressed;
  const size = compression === "none" ? payload : view.u64(at + 56);
  if (stored > payload) view.fail("an entry of a fat binary is larger than the room for it", at + 16);
  if (size > maxImage) view.fail(`an entry of a fat binary says that it has ${size} bytes`, at + 56);
  const [nameAt, nameLength] = [view.u32(at + 32), view.u32(at + 36)];
  const source = nameLength > 0 && nameAt + nameLength <= header ? view.text(at + nameAt, nameLength) : null;
  const isPtx = kind === kindPtx;
  const data = view.slice(at + header, stored);
  const image: CodeImage = {
    kind: isPtx ? "ptx" : "machine code",
    architecture: `sm_${view.u32(at + 28)}${bits & flags.exact ? "a" : bits & flags.family ? "f" : ""}`,
    version: isPtx ? `${view.u16(at + 26)}.${view.u16(at + 24)}` : null,
    options: isPtx ? optionsOf(view, at, header) : "",
    compression,
    storedBytes: stored,
    bytes: size,
    read() {
      const whole = decode(data, { compression, size, at });
      return isPtx ? textOf(whole, at) : whole;
    },
  };
  return { image, next, source };
}

/** The options of the compiler: their place counts from the area of options. */
function optionsOf(view: ByteView, at: number, header: number): string {
  const area = view.u32(at + 20);
  if (area < entryBytes || area + 8 > header) return "";
  const [from, length] = [view.u32(at + area), view.u32(at + area + 4)];
  return length > 0 && from + length <= header ? view.text(at + from, length).trim() : "";
}

interface Stored {
  readonly compression: Compression;
  readonly size: number;
  readonly at: number;
}

function decode(data: Uint8Array, { compression, size, at }: Stored): Uint8Array {
  try {
    if (compression === "zstd") return decodeZstd(data, size);
    return compression === "LZ4" ? decodeLz4(data, size) : data;
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error;
    throw new ContainerError(`the entry of a fat binary at ${byteAt(at)}: ${error.message}`);
  }
}

/** The most NULs at the end of a text: one ends it, others fill it up to a multiple of 8 or 16. */
const maxNuls = 16;

/** A text ends in a NUL and has no other: where there are more, its data was damaged. */
function textOf(bytes: Uint8Array, at: number): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  const text = bytes.subarray(0, end);
  if (bytes.length - end <= maxNuls && !text.includes(0)) return text;
  throw new ContainerError(`the entry of a fat binary at ${byteAt(at)}: its text is damaged: NULs are in it`);
}

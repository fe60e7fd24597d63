import { decodeText } from "../../source/index.ts";
import { UsageError } from "./errors.ts";

/** One file of a program: its text, or its bytes. CISA files (`.isa`, vISA in binary form) must be given as bytes. */
export type SourceFile = {
  /** The path as messages show it. Its ending tells the instruction set, unless `LoadOptions.isa` does. */
  readonly path: string;
} & ({ readonly text: string; readonly bytes?: never } | { readonly bytes: Uint8Array; readonly text?: never });

/** The first bytes of files often mistaken for assembly, and what to do with such a file. */
const binaries: readonly (readonly [magic: string, what: string])[] = [
  ["7f454c46", "an ELF file (an executable or an object)"],
  ["50ed55ba", "a fat binary of CUDA"],
  ["43495341", "a CISA file; the name of one ends in .isa"],
  ["1f8b08", "compressed by gzip"],
  ["504b0304", "a ZIP archive"],
];

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Returns the text of a file.
 *
 * @throws UsageError if it is a binary file of another kind, in which a parser would find nothing but errors
 */
export function textOf(file: SourceFile): string {
  if (file.text !== undefined) return file.text;
  const begin = hex(file.bytes.subarray(0, 4));
  const binary = binaries.find(([magic]) => begin.startsWith(magic));
  if (binary) throw new UsageError(`${file.path} is not assembly: it is ${binary[1]}`);
  const bytes = withoutNuls(file.bytes);
  // What is called assembly is read as such, so that a stray byte is reported at its place.
  const isCalledSo = /\.(ptx|visaasm|isaasm)$/i.test(file.path);
  if (!isCalledSo && !/^f[ef]f[ef]/.test(begin) && bytes.subarray(0, sniffed).includes(0)) {
    throw new UsageError(`${file.path} is not assembly: it is a binary file`);
  }
  return decodeText(bytes);
}

const sniffed = 1024;

/** Removes the NULs at the end, which a text has where it was cut out of a binary. */
function withoutNuls(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  // The last character of UTF-16 may end in one.
  return end === bytes.length || /^f[ef]f[ef]/.test(hex(bytes.subarray(0, 2))) ? bytes : bytes.subarray(0, end);
}

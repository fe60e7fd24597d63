import { decodeText } from "../../source/index.ts";
import { UsageError } from "./errors.ts";

/** One file of a program: its text, or its bytes. CISA files (`.isa`, vISA in binary form) must be given as bytes. */
export type SourceFile = {
  /** The path as messages show it. Its ending tells the instruction set, unless `LoadOptions.isa` does. */
  readonly path: string;
} & ({ readonly text: string; readonly bytes?: never } | { readonly bytes: Uint8Array; readonly text?: never });

/** The first bytes of files often mistaken for assembly, and what to do with such a file. */
const binaries: readonly (readonly [magic: string, what: string])[] = [
  ["7f454c46", "an ELF file, which holds machine code; `cuobjdump -ptx` prints the PTX of a program that has some"],
  ["50ed55ba", "a fat binary of CUDA; `cuobjdump -ptx` prints the PTX of one that has some"],
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
  return decodeText(file.bytes);
}

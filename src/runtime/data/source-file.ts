import { decodeText } from "../../source/index.ts";
import { UsageError } from "./errors.ts";

/** One file of a program: its text, or for CISA files (`.isa`, vISA in binary form) its bytes. */
export type SourceFile = {
  /** As it is to appear in messages. */
  readonly path: string;
} & ({ readonly text: string; readonly bytes?: never } | { readonly bytes: Uint8Array; readonly text?: never });

/** How files begin that are mistaken for assembly, and what is to be done with them. */
const binaries: readonly (readonly [magic: string, what: string])[] = [
  ["7f454c46", "an ELF file, which holds machine code; `cuobjdump -ptx` prints the PTX of a program that has some"],
  ["50ed55ba", "a fat binary of CUDA; `cuobjdump -ptx` prints the PTX of one that has some"],
  ["43495341", "a CISA file; the name of one ends in .isa"],
  ["1f8b08", "compressed by gzip"],
  ["504b0304", "a ZIP archive"],
];

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @throws UsageError when it is a file of another kind, in which a parser would find nothing but errors */
export function textOf(file: SourceFile): string {
  if (file.text !== undefined) return file.text;
  const begin = hex(file.bytes.subarray(0, 4));
  const binary = binaries.find(([magic]) => begin.startsWith(magic));
  if (binary) throw new UsageError(`${file.path} is no assembly: it is ${binary[1]}`);
  return decodeText(file.bytes);
}

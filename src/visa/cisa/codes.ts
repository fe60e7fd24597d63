import type { Catalogue } from "../../source/index.ts";

/** The diagnostics of the reader and the writer of CISA files. A place in a file is a byte, shown in a hex dump. */
export const cisaCodes = {
  "visa-cisa-not-a-file": {
    title: "the file is not a CISA file",
    page: 'A CISA file begins with the bytes 43 49 53 41 ("CISA"), two bytes of version, and a table of its kernels and functions.',
    section: "4_visa_header, common_isa_header",
  },
  "visa-cisa-version": {
    title: "a version of the file format that is not known",
    page: "The documents describe versions 3.0 to 4.2. The widths of many fields depend on the version, so that a file of another one cannot be read.",
    section: "4_visa_header, common_isa_header",
  },
  "visa-cisa-truncated": {
    title: "the file, or a routine in it, ends too early",
    page: "A field, or a table that a count announces, lies beyond the end of the file, or beyond the size that the header gives for the routine. Often only a part of the file was copied.",
    section: "4_visa_header",
  },
  "visa-cisa-bad-index": {
    title: "an index points to nothing",
    page: "Names, variables and labels are referred to by their index in the tables of the routine. The index here is larger than its table.",
    section: "4_visa_header, kernel_data",
  },
  "visa-cisa-bad-value": {
    title: "a field has a value without meaning",
    page: "The value is none that the documents give for this field, such as an operand class of 7, a region with the code 9, or a general variable of the type bool.",
    section: "5_operands",
  },
  "visa-cisa-unknown-opcode": {
    title: "a byte that is no opcode",
    page: "An instruction begins with a byte that no instruction of vISA has, or whose second byte chooses none of its variants. As instructions differ in length, nothing behind it in the routine can be read. Files that GenX_IR 1.0.12504 and other versions from 2022 wrote lack operands and end like this.",
  },
  "visa-cisa-unknown-layout": {
    title: "how this instruction lies in a file is not known",
    page: "The instruction is known as text, but no published document or program tells its bytes.",
  },
  "visa-cisa-code-size": {
    title: "the instructions do not end where the routine says",
    page: "The last instruction goes on beyond the number of bytes that the routine gives for its instructions, or the instructions lie outside of the routine.",
    section: "4_visa_header, kernel_data",
  },
  "visa-cisa-routine-offset": {
    title: "the header points to the wrong place",
    page: "The header says that a function lies where there is none, and behind the function before it there is one of that name, which is taken. With two functions or more, writers of version 3.6 put down offsets that are too large from the second on.",
    section: "4_visa_header, function_info",
  },
  "visa-cisa-overlap": {
    title: "the routines of the file overlap",
    page: "The sizes of all routines together are more than the file has. Each routine has bytes of its own.",
    section: "4_visa_header, kernel_info",
  },
  "visa-cisa-layout-guessed": {
    title: "the layout was found by trying",
    page: "From version 3.7 on, writers have added fields to IFCALL and to the LSC instructions without a new version number. The instructions of this file fit together only with these fields, so they were read with them.",
    section: "IFCALL",
  },
  "visa-cisa-extern-function": {
    title: "a function that is declared and not contained",
    page: "A function with an offset and a size of 0 is external: the file names it, and its instructions are elsewhere. It is not in the text.",
    section: "4_visa_header, function_info",
  },
  "visa-cisa-cannot-hold": {
    title: "version 3.6 of the file format cannot hold this",
    page: "The text uses what version 3.6 has no field for, or a number that is too large for its field: more than 65535 labels, an offset of an input beyond 32767, a predefined variable of a later version, and the like.",
    section: "4_visa_header",
  },
  "visa-cisa-repeated-name": {
    title: "two routines have the same name",
    page: "A CISA file holds kernels and their functions, and finds them by their names. If each of the texts is a program of its own, write a file for each.",
    section: "4_visa_header",
  },
} as const satisfies Catalogue;

export type CisaCode = keyof typeof cisaCodes;

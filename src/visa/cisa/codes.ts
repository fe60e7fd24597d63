import type { Catalogue } from "../../source/index.ts";

/**
 * Catalogue pages of the diagnostics of `readCisa` and `writeCisa`, by code. A place in a file is a byte, shown in a
 * hex dump.
 */
export const cisaCodes = {
  "visa-cisa-not-a-file": {
    title: "the file is not a CISA file",
    page: 'A CISA file begins with the bytes 43 49 53 41 ("CISA"), two bytes of version, and a table of its kernels and functions.',
    section: "4_visa_header, common_isa_header",
  },
  "visa-cisa-version": {
    title: "an unknown version of the file format",
    page: "The documents describe versions 3.0 to 4.2. The widths of many fields depend on the version, so a file of any other version cannot be read.",
    section: "4_visa_header, common_isa_header",
  },
  "visa-cisa-truncated": {
    title: "the file, or a routine in it, ends too early",
    page: "A field, or a table of the announced size, extends beyond the end of the file, or beyond the routine's size as given in the header. Often only part of the file was copied.",
    section: "4_visa_header",
  },
  "visa-cisa-bad-index": {
    title: "an index points to nothing",
    page: "Names, variables and labels are referred to by their index in the tables of the routine. The index here is larger than its table.",
    section: "4_visa_header, kernel_data",
  },
  "visa-cisa-bad-value": {
    title: "a field has an invalid value",
    page: "The documents do not list this value for the field. Examples are an operand class of 7, a region with the code 9, or a general variable of the type bool.",
    section: "5_operands",
  },
  "visa-cisa-unknown-opcode": {
    title: "a byte that is not an opcode",
    page: "An instruction begins with a byte that is not the opcode of any vISA instruction, or its second byte selects none of the opcode's variants. As instructions differ in length, nothing after it in the routine can be read.",
  },
  "visa-cisa-missing-operands": {
    title: "the instructions lack operands",
    page: "Until December 2022, and in version 1.0.12504, IGC's writer of CISA files (in GenX_IR and ocloc) stopped too early: an instruction lacks one operand at its end for its execution size, and another one for its predicate. An `add` has a destination but no sources, a `mov` neither. What is missing is nowhere in the file, so it cannot be run; the text (.visaasm) that IGC writes beside it is complete.",
  },
  "visa-cisa-unknown-layout": {
    title: "the binary layout of this instruction is not known",
    page: "The instruction is known in text, but no published document or program shows its bytes.",
  },
  "visa-cisa-code-size": {
    title: "the instructions do not end where the routine says",
    page: "The last instruction extends beyond the number of bytes that the routine gives for its instructions, or the instructions lie outside the routine.",
    section: "4_visa_header, kernel_data",
  },
  "visa-cisa-routine-offset": {
    title: "the header points to the wrong place",
    page: "The header's offset of a function is wrong, but a function of that name directly follows the previous one, and is read instead. In files with two functions or more, writers of version 3.6 give offsets that are too large from the second function on.",
    section: "4_visa_header, function_info",
  },
  "visa-cisa-overlap": {
    title: "the routines of the file overlap",
    page: "The sizes of all routines add up to more than the size of the file. No two routines may share bytes.",
    section: "4_visa_header, kernel_info",
  },
  "visa-cisa-layout-guessed": {
    title: "the layout was found by trial",
    page: "From version 3.7 on, writers have added fields to IFCALL and to the LSC instructions without changing the version number. This file can be read only with these fields.",
    section: "IFCALL",
  },
  "visa-cisa-extern-function": {
    title: "a function that is declared but not contained",
    page: "A function with an offset and a size of 0 is external: the file names it, but its instructions are elsewhere. The text does not have it.",
    section: "4_visa_header, function_info",
  },
  "visa-cisa-cannot-hold": {
    title: "version 3.6 of the file format cannot hold this",
    page: "The text uses something that version 3.6 has no field for, or a number that is too large for its field: for example more than 65535 labels, an input's offset beyond 32767, or a predefined variable of a later version.",
    section: "4_visa_header",
  },
  "visa-cisa-repeated-name": {
    title: "two routines have the same name",
    page: "A CISA file holds kernels and their functions, which are found by name. If the texts are separate programs, write a file for each.",
    section: "4_visa_header",
  },
} as const satisfies Catalogue;

/** The code of a diagnostic of `readCisa` or `writeCisa`. */
export type CisaCode = keyof typeof cisaCodes;

import type { Catalogue, CodePage } from "../source/index.ts";

type Example = NonNullable<CodePage["example"]>;

/** A kernel with these statements, for the examples. */
const kernel = (statements: string): string =>
  `.version 3.6\n.kernel "k"\n.decl V v_type=G type=ud num_elts=16 align=GRF\n.decl P v_type=P num_elts=16\n${statements}\n`;
const kernels = (bad: string, good: string): Example => ({ bad: kernel(bad), good: kernel(good) });

/** Catalogue pages of the diagnostics of the lexer and the parser. */
export const syntaxCodes = {
  "visa-missing-version": {
    title: "the file does not begin with .version",
    page: "The first statement of a file of vISA text is '.version M.N'. It decides which instructions exist and how a binary file is laid out; the versions in use are 3.6 to 4.2.",
    section: "4_visa_header",
    example: { bad: '.kernel "k"\n', good: '.version 3.6\n.kernel "k"\n' },
  },
  "visa-misplaced-version": {
    title: "a version that belongs to no routine",
    page: "A file has one '.version', which is its first statement. Where the routines of several files have been joined into one, each may have its own directly before it; the reference implementation reads only the first.",
    section: "4_visa_header",
    example: { bad: '.version 3.6\n.version 3.6\n.kernel "k"\n', good: '.version 3.6\n.kernel "k"\n' },
  },
  "visa-unknown-version": {
    title: "an unknown version of vISA",
    page: "The versions from 3.0 to 4.2 are known. Text of any other version is read as if it were of the newest; an instruction that means something else in that version would be misunderstood.",
    section: "4_visa_header",
    example: { bad: '.version 9.9\n.kernel "k"\n', good: '.version 3.6\n.kernel "k"\n' },
  },
  "visa-statement-outside-routine": {
    title: "a statement before the first routine",
    page: "Declarations, labels and instructions belong to the routine that the last '.kernel' or '.global_function' began. Statements before the first routine belong to none; they are skipped, with one error for all of them.",
    example: {
      bad: '.version 3.6\n.decl V v_type=G type=ud num_elts=8\n.kernel "k"\n',
      good: '.version 3.6\n.kernel "k"\n.decl V v_type=G type=ud num_elts=8\n',
    },
  },
  "visa-unexpected-token": {
    title: "something else was expected here",
    page: "The text does not continue as the directive or instruction requires; the message says what could stand here. A statement ends with its line, and operands are separated by blanks, without commas. The rest of the line is skipped, so that one mistake is reported once.",
    example: kernels("    mov (M1, 16) V(0,0)<1>, 0x1:ud", "    mov (M1, 16) V(0,0)<1> 0x1:ud"),
  },
  "visa-unknown-directive": {
    title: "no directive has this name",
    page: "A statement that begins with a dot is a directive: .version, .kernel, .global_function, .function, .funcdecl, .decl, .input, .implicit_*, .parameter, .kernel_attr, .file or .loc. Names are in lower case.",
    example: kernels(".declare W v_type=P num_elts=16", ".decl W v_type=P num_elts=16"),
  },
  "visa-unknown-mnemonic": {
    title: "no instruction has this name",
    page: "The word that begins an instruction, up to its first dot, is not the name of an instruction in any version of vISA from 3.6 to 4.2. 'lanewise isa' lists them.",
    example: kernels("    move (M1, 16) V(0,0)<1> 0x1:ud", "    mov (M1, 16) V(0,0)<1> 0x1:ud"),
  },
  "visa-mnemonic-case": {
    title: "an instruction in upper case",
    page: "The manual's tables name instructions in upper case, but text has them in lower case: 'ifcall', not 'IFCALL'. Types and comparisons may be in either case.",
    example: kernels("    RET (M1, 1)", "    ret (M1, 1)"),
  },
  "visa-unknown-suffix": {
    title: "an instruction does not have this suffix, or lacks one",
    page: "The suffixes that follow an instruction's name after dots are fixed for each instruction, and so is their order: saturation, a comparison, a channel mask, numbers of blocks, caching. 'lanewise isa' shows them.",
    example: kernels("    cmp.less (M1, 16) P V(0,0)<1;1,0> 0x1:ud", "    cmp.lt (M1, 16) P V(0,0)<1;1,0> 0x1:ud"),
  },
  "visa-predicate-not-allowed": {
    title: "an instruction that takes no predicate has one",
    page: "Most instructions can be predicated, as in '(P) add ...'. A few cannot, among them cmp, setp, movs, addr_add, min, max and the barriers. To make them conditional, branch around them with goto, or choose their result with sel.",
    example: kernels("    (P) cmp.lt (M1, 16) P V(0,0)<1;1,0> 0x1:ud", "    cmp.lt (M1, 16) P V(0,0)<1;1,0> 0x1:ud"),
  },
  "visa-execution-mask": {
    title: "no such execution mask",
    page: "The masks M1 to M8 begin at channel 0, 4, 8, up to 28; with _NM, as in M1_NM, the instruction runs whatever the execution mask is. NoMask is another name for M1_NM, and leaving the mask out means M1.",
    section: "3_execution_model",
    example: kernels("    ret (M9, 1)", "    ret (M1, 1)"),
  },
  "visa-execution-size": {
    title: "no such execution size",
    page: "An instruction works on 1, 2, 4, 8, 16 or 32 channels, and the number comes last in its parentheses, as in (M1, 16).",
    section: "3_execution_model",
    example: kernels("    mov (M1, 12) V(0,0)<1> 0x1:ud", "    mov (M1, 8) V(0,0)<1> 0x1:ud"),
  },
  "visa-operand-form": {
    title: "an operand of this form cannot stand here",
    page: "A vector operand is a general variable V(0,0)<8;8,1>, an indirect one r[A(0),0]<8;8,1>:ud, an immediate 0x1:ud, an address variable A(0)<1>, the address of a variable &V, a predicate or the state of a surface or sampler T6(0). Each operand of an instruction can be some of these.",
    section: "5_operands",
    example: kernels("    mov (M1, 1) V(0) 0x1:ud", "    mov (M1, 1) V(0,0)<1> 0x1:ud"),
  },
  "visa-malformed-number": {
    title: "a malformed number",
    page: "Integers are decimal or, with 0x, hexadecimal. Values of the types f and df may have a fraction and a signed exponent, as in 1.5:f and 1.0e-3:df; a plain integer before :f, :df or :hf is the bit pattern, so that 0x3f800000:f is 1 and 1:f is the least positive value. Values of type hf can only be written as patterns.",
    section: "5_operands",
    example: kernels("    mov (M1, 16) V(0,0)<1> 0x1g:ud", "    mov (M1, 16) V(0,0)<1> 0x1f:ud"),
  },
  "visa-number-out-of-range": {
    title: "a number that is too large or too small",
    page: "The number does not fit its type or its field. An immediate of a narrow type may also be written as the 32 bits that a CISA file stores: 0xfffffffb:w is -5.",
    section: "5_operands",
    example: kernels("    mov (M1, 16) V(0,0)<1> 300:ub", "    mov (M1, 16) V(0,0)<1> 300:uw"),
  },
  "visa-division-by-zero": {
    title: "a constant expression divides by zero",
    page: "Wherever an integer can stand, a constant expression can: with the operators of C, %sizeof and %DispatchSimd. It is computed when the text is read.",
    example: kernels(".input V offset=32/0 size=4", ".input V offset=32/1 size=4"),
  },
  "visa-unknown-constant": {
    title: "%sizeof or %DispatchSimd of something unknown",
    page: "'%sizeof V' is the size in bytes of a general or address variable declared above it, and '%sizeof GRF' that of a register. '%DispatchSimd' is the value of the kernel's attribute SimdSize, which must also come first.",
    example: kernels(".input V offset=32 size=(%sizeof W)", ".input V offset=32 size=(%sizeof V)"),
  },
  "visa-unknown-alignment": {
    title: "no such alignment",
    page: "The alignments are byte, word, dword, qword, oword, hword (32 bytes), GRF, GRFx2, wordx32 and wordx64, or a number of bytes that is a power of two up to 128.",
    section: "4_visa_header",
    example: kernels(
      ".decl W v_type=G type=ud num_elts=8 align=owrd",
      ".decl W v_type=G type=ud num_elts=8 align=oword",
    ),
  },
  "visa-malformed-shape": {
    title: "a malformed data shape",
    page: "The data of an LSC access has a shape: a size, which is d8, d16, d32, d64, d8c32, d16c32 or d16c32h; for vectors the number of elements, x1, x2, x3, x4, x8, x16, x32 or x64, and 't' for transposed; for quads the channels, as .xyzw; for blocks .BLOCKSxWIDTHxHEIGHT and two letters, each 't' or 'n', for transposed and for packed (VNNI).",
    section: "LSC_UNTYPED",
    example: kernels("    lsc_load.ugm (M1, 16) V:d32x5 flat[V]:a32", "    lsc_load.ugm (M1, 16) V:d32x4 flat[V]:a32"),
  },
  "visa-indented-label": {
    title: "a label that does not begin its line",
    page: "A label is a name and a colon that begin in the first column; an instruction may be indented, a label may not. A label has a line of its own.",
    example: kernels("  loop:\n    ret (M1, 1)", "loop:\n    ret (M1, 1)"),
  },
  "visa-unclosed-scope": {
    title: "a '{' is never closed",
    page: "A scope extends to its '}', and a routine cannot end inside one. The note shows where the '}' is missing.",
    example: kernels("{\n    ret (M1, 1)", "{\n    ret (M1, 1)\n}"),
  },
  "visa-unmatched-brace": {
    title: "a '}' closes nothing",
    page: "There is one '}' more than there are scopes to close. Often it is an earlier '}' that is wrong.",
    example: kernels("{\n    ret (M1, 1)\n}\n}", "{\n    ret (M1, 1)\n}"),
  },
  "visa-unterminated-string": {
    title: "a string is not closed on its line",
    page: 'A string ends with a double quote on the line on which it begins. A double quote in it is written \\".',
    example: kernels('.kernel_attr Target="cm', '.kernel_attr Target="cm"'),
  },
  "visa-unknown-escape": {
    title: "an unknown escape in a string",
    page: "The escapes in a string are \\a \\b \\e \\f \\n \\r \\t \\v \\' \\\" \\? \\\\, one to three octal digits, and \\x with one or two hexadecimal digits. A backslash is written \\\\.",
    example: kernels('.kernel_attr OutputAsmPath="out\\q"', '.kernel_attr OutputAsmPath="out\\\\q"'),
  },
  "visa-string-too-long": {
    title: "a string of more than 4096 characters",
    page: "The readers of vISA text keep at most 4096 characters of a string.",
    example: kernels(`.kernel_attr Target="${"x".repeat(4097)}"`, `.kernel_attr Target="${"x".repeat(4096)}"`),
  },
  "visa-unterminated-comment": {
    title: "a comment is never closed",
    page: "A comment that begins with /* extends to the next */, or to the end of the text if there is none.",
    example: kernels("    ret (M1, 1) /* the end", "    ret (M1, 1) /* the end */"),
  },
  "visa-unknown-character": {
    title: "a character that cannot begin anything",
    page: "Outside strings and comments, vISA text consists of ASCII letters, digits and punctuation; '$', '@' and '?' occur only in labels.",
    example: kernels("    ret (M1, 1) #", "    ret (M1, 1)"),
  },
  "visa-nesting-too-deep": {
    title: "scopes or expressions nest too deep",
    page: "Scopes nest up to 256 deep, and so do the operators and parentheses of an expression. The limit protects the parser from texts that were made to exhaust it.",
    example: kernels(`${"{\n".repeat(257)}${"}\n".repeat(257)}`, `${"{\n".repeat(256)}${"}\n".repeat(256)}`),
  },
  "visa-too-many-tokens": {
    title: "the text has more than 16 million tokens",
    page: "The parser reads at most this many tokens and comments, which bounds its memory. Split the text into several files, one routine each.",
  },
} satisfies Catalogue;

/** A diagnostic's code. */
export type SyntaxCode = keyof typeof syntaxCodes;

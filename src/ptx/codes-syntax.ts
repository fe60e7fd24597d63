import type { Catalogue, CodePage } from "../source/index.ts";

type Example = NonNullable<CodePage["example"]>;

/** Wraps statements into a module, for the examples. */
const body = (statements: string): string =>
  `.version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry k()\n{\n    .reg .b32 a, b;\n    .reg .pred p;\n${statements}\n}\n`;
const module = (items: string): string => `.version 9.0\n.target sm_90\n.address_size 64\n\n${items}\n`;

const bodies = (bad: string, good: string): Example => ({ bad: body(bad), good: body(good) });
const modules = (bad: string, good: string): Example => ({ bad: module(bad), good: module(good) });

/** Catalogue pages of the diagnostics that the lexer and the parser report. */
export const syntaxCodes = {
  "ptx-missing-semicolon": {
    title: "a statement does not end with ';'",
    page: "Instructions, variable declarations, target lists, prototypes and .pragma end with a semicolon, even at the end of a line or before '}'. The position shown is the end of the statement that lacks it.\n\nThe directives .version, .target, .address_size, .file, .loc and .section take no semicolon.",
    section: "4.3",
    example: bodies("    mov.u32 a, 1\n    ret;", "    mov.u32 a, 1;\n    ret;"),
  },
  "ptx-empty-statement": {
    title: "a ';' without a statement",
    page: "PTX has no empty statement: a semicolon belongs to exactly one instruction or directive. A stray one often follows a directive that takes none, such as .loc or .file, or the '}' of a block.",
    section: "4.3",
    example: bodies("    ret;;", "    ret;"),
  },
  "ptx-unexpected-token": {
    title: "something else was expected here",
    page: "The text does not continue as the syntax of the directive or instruction requires; the message says what could stand here. The rest of the statement is skipped, so that one mistake is reported once; checking resumes with the next statement.",
    section: "4.3",
    example: bodies("    mov.u32 a, b c;", "    mov.u32 a, b;"),
  },
  "ptx-unclosed-bracket": {
    title: "a bracket is not closed",
    page: "An address '[...]', a vector or initial value '{...}', or a list '(...)' ends without its closing bracket, or lacks a comma between two elements. The note shows the opening bracket.",
    section: "6.4",
    example: bodies("    ld.shared.u32 a, [b+4;", "    ld.shared.u32 a, [b+4];"),
  },
  "ptx-unclosed-brace": {
    title: "a '{' is never closed",
    page: "The body of a function, a block or a section runs to the end of the text, or to a directive that is only allowed outside functions, such as .func or .entry. The position shown is the opening brace; the note shows where the '}' was expected.",
    section: "11.2",
    example: modules(
      ".func f()\n{\n    ret;\n\n.func g()\n{\n    ret;\n}",
      ".func f()\n{\n    ret;\n}\n\n.func g()\n{\n    ret;\n}",
    ),
  },
  "ptx-unmatched-brace": {
    title: "a '}' without a '{'",
    page: "There are more '}' than open blocks. Often an earlier '}' is in the wrong place.",
    section: "11.2",
    example: modules(".func f()\n{\n    ret;\n}\n}", ".func f()\n{\n    ret;\n}"),
  },
  "ptx-statement-outside-function": {
    title: "an instruction, a label or a block outside functions",
    page: "A module consists of directives. Instructions, labels and blocks, as well as .branchtargets, .calltargets and .callprototype, belong in the body of a .entry or .func.",
    section: "11.2",
    example: modules("mov.u32 a, 1;", ".func f()\n{\n    .reg .u32 a;\n    mov.u32 a, 1;\n}"),
  },
  "ptx-unknown-directive": {
    title: "there is no such directive here",
    page: "At the beginning of a statement a word that starts with a dot is a directive, and PTX has no directive of this name at module scope or in a function body. Performance-tuning directives such as .maxntid go between a kernel's parameters and its body.",
    section: "4.3.1",
    example: modules(".globl .u32 x;", ".global .u32 x;"),
  },
  "ptx-missing-label": {
    title: ".branchtargets, .calltargets or .callprototype without a label",
    page: "The instruction that uses such a list or prototype names it by the label before the directive: 'L: .calltargets f, g;' and then 'call r, (a), L;'.",
    section: "11.3",
    example: bodies("L:\n    .loc 1 1 1\n    .branchtargets L;", "L:\n    ret;\nT:  .branchtargets L;"),
  },
  "ptx-malformed-label": {
    title: "a label that is not a valid name",
    page: "A label is an identifier: a letter followed by letters, digits, '_' and '$', or one of '_', '$' and '%' followed by at least one of these. It cannot contain a dot.",
    section: "4.4",
    example: bodies("loop.1:\n    ret;", "loop_1:\n    ret;"),
  },
  "ptx-guard-without-instruction": {
    title: "a guard '@p' without an instruction",
    page: "A guard predicate makes one instruction conditional. It goes after the label and before the opcode; directives, labels and blocks cannot have one. To skip a block, branch around it.",
    section: "9.3",
    example: bodies("    @p L: mov.u32 a, 1;", "L:  @p mov.u32 a, 1;"),
  },
  "ptx-nesting-too-deep": {
    title: "blocks, operands or expressions are nested too deeply",
    page: "Blocks may be nested 256 deep, and so may the brackets of an operand, the braces of an initial value and the operators of a constant expression. Compiler output stays far below these limits; they keep every text from exhausting the stack.",
    example: bodies(
      `    mov.u32 a, ${"(".repeat(300)}1${")".repeat(300)};`,
      `    mov.u32 a, ${"(".repeat(30)}1${")".repeat(30)};`,
    ),
  },
  "ptx-too-many-tokens": {
    title: "the module is too large",
    page: "A module may have 16,777,216 tokens and comments, about 60 MB of compiler output. The text after that is not read. Split the module and link the parts.",
  },
  "ptx-malformed-number": {
    title: "a malformed number",
    page: "Integers are decimal, hexadecimal (0x1F), octal (017: a leading 0 is enough) or binary (0b101), with an optional U suffix. Floating-point numbers are decimal with a point or an exponent (1.5, 2e10), or exact bit patterns: 0f and exactly 8 hexadecimal digits for binary32, 0d and exactly 16 for binary64. There are no other suffixes.",
    section: "4.5",
    example: bodies("    mov.u32 a, 089;", "    mov.u32 a, 89;"),
  },
  "ptx-number-too-large": {
    title: "an integer that does not fit in 64 bits",
    page: "Integer constants are 64 bits wide: at most 18446744073709551615, or 0xFFFFFFFFFFFFFFFF.",
    section: "4.5.1",
    example: bodies("    mov.u32 a, 0x10000000000000000;", "    mov.u32 a, 0xFFFFFFFF;"),
  },
  "ptx-unknown-character": {
    title: "a character that cannot begin a token",
    page: "PTX is ASCII text; other characters are allowed only in comments and strings. A lone '.', '$' or '#' within a line has no meaning either.",
    section: "4.1",
    example: bodies("    mov.u32 a, `b;", "    mov.u32 a, b;"),
  },
  "ptx-unterminated-string": {
    title: "a string that is not closed on its line",
    page: 'A string begins and ends with " on the same line. There are no escape sequences.',
    section: "4.2",
    example: bodies('    .pragma "nounroll;\n    ret;', '    .pragma "nounroll";\n    ret;'),
  },
  "ptx-unterminated-comment": {
    title: "a comment that is never closed",
    page: "A comment that begins with /* ends at the next */; comments do not nest. Without a */ the rest of the text is a comment.",
    section: "4.2",
    example: bodies("    ret; /* done", "    ret; /* done */"),
  },
} satisfies Catalogue;

/** The code of a diagnostic that the lexer or the parser reports. */
export type SyntaxCode = keyof typeof syntaxCodes;

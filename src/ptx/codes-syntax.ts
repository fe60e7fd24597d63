import type { Catalogue, CodePage } from "../source/index.ts";

type Example = NonNullable<CodePage["example"]>;

/** A module around statements, for the examples. */
const body = (statements: string): string =>
  `.version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry k()\n{\n    .reg .b32 a, b;\n    .reg .pred p;\n${statements}\n}\n`;
const module = (items: string): string => `.version 9.0\n.target sm_90\n.address_size 64\n\n${items}\n`;

const bodies = (bad: string, good: string): Example => ({ bad: body(bad), good: body(good) });
const modules = (bad: string, good: string): Example => ({ bad: module(bad), good: module(good) });

/** The diagnostics of the lexer and the parser. */
export const syntaxCodes = {
  "ptx-missing-semicolon": {
    title: "a statement does not end with ';'",
    page: "Instructions, variable declarations, target lists, prototypes and .pragma end with a semicolon, also at the end of a line and before '}'. The place shown is the end of the statement that lacks it.\n\nThe directives .version, .target, .address_size, .file, .loc and .section take none.",
    section: "4.3",
    example: bodies("    mov.u32 a, 1\n    ret;", "    mov.u32 a, 1;\n    ret;"),
  },
  "ptx-empty-statement": {
    title: "a ';' that ends no statement",
    page: "PTX has no empty statement: a semicolon belongs to exactly one instruction or directive. Such a semicolon often stands after a directive that takes none, as .loc and .file, or after the '}' of a block.",
    section: "4.3",
    example: bodies("    ret;;", "    ret;"),
  },
  "ptx-unexpected-token": {
    title: "something else was expected here",
    page: "The text does not go on as the syntax of the directive or instruction asks. The message says what could stand here. The rest of the statement is not looked at, so that one mistake is reported once; the statements after it are.",
    section: "4.3",
    example: bodies("    mov.u32 a, b c;", "    mov.u32 a, b;"),
  },
  "ptx-unclosed-bracket": {
    title: "a bracket is not closed",
    page: "An address '[...]', a vector or an initial value '{...}' or a list '(...)' ends before its closing bracket, or lacks a comma between two elements. The note shows the opening bracket.",
    section: "6.4",
    example: bodies("    ld.shared.u32 a, [b+4;", "    ld.shared.u32 a, [b+4];"),
  },
  "ptx-unclosed-brace": {
    title: "a '{' is never closed",
    page: "The body of a function, a block or a section goes on until the end of the text, or until a directive that can only stand outside of functions, such as .func or .entry. The place shown is the opening brace; the note shows where its '}' was missed.",
    section: "11.2",
    example: modules(
      ".func f()\n{\n    ret;\n\n.func g()\n{\n    ret;\n}",
      ".func f()\n{\n    ret;\n}\n\n.func g()\n{\n    ret;\n}",
    ),
  },
  "ptx-unmatched-brace": {
    title: "a '}' closes nothing",
    page: "There is one '}' more than there are blocks to close. Often an earlier '}' stands where it should not.",
    section: "11.2",
    example: modules(".func f()\n{\n    ret;\n}\n}", ".func f()\n{\n    ret;\n}"),
  },
  "ptx-statement-outside-function": {
    title: "an instruction, a label or a block outside of any function",
    page: "A module consists of directives. Instructions, labels, blocks, and with them .branchtargets, .calltargets and .callprototype, stand in the body of a .entry or a .func.",
    section: "11.2",
    example: modules("mov.u32 a, 1;", ".func f()\n{\n    .reg .u32 a;\n    mov.u32 a, 1;\n}"),
  },
  "ptx-unknown-directive": {
    title: "no directive of this name may stand here",
    page: "A word that begins with a dot is a directive where a statement begins, and this is none that PTX has in a module or in the body of a function. Performance directives such as .maxntid stand between the parameters of a function and its body.",
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
    title: "a label that is no name",
    page: "A label is an identifier: a letter followed by letters, digits, '_' and '$', or one of '_', '$' and '%' followed by at least one of them. It contains no dot.",
    section: "4.4",
    example: bodies("loop.1:\n    ret;", "loop_1:\n    ret;"),
  },
  "ptx-guard-without-instruction": {
    title: "a guard '@p' that guards no instruction",
    page: "A guard predicate makes one instruction conditional. It stands after the label and before the opcode; directives, labels and blocks have none. To skip a block, branch around it.",
    section: "9.3",
    example: bodies("    @p L: mov.u32 a, 1;", "L:  @p mov.u32 a, 1;"),
  },
  "ptx-nesting-too-deep": {
    title: "blocks, operands or expressions nest too deep",
    page: "At most 256 blocks, 256 brackets of an operand or braces of an initial value, and 256 operators of one constant expression may nest. No compiler comes near; the bound keeps any text from exhausting the stack.",
    example: bodies(
      `    mov.u32 a, ${"(".repeat(300)}1${")".repeat(300)};`,
      `    mov.u32 a, ${"(".repeat(30)}1${")".repeat(30)};`,
    ),
  },
  "ptx-too-many-tokens": {
    title: "the module is too large",
    page: "A module may have 16,777,216 tokens and comments, some 60 MB of compiler output. What follows is not read. Split the module, or link several.",
  },
  "ptx-malformed-number": {
    title: "a number that is written wrongly",
    page: "Integers are decimal, hexadecimal (0x1F), octal (017: a leading 0 is enough) or binary (0b101), with an optional suffix U. Floating-point numbers are decimal with a point or an exponent (1.5, 2e10), or the exact bits: 0f and exactly 8 hexadecimal digits for binary32, 0d and exactly 16 for binary64. There are no other suffixes.",
    section: "4.5",
    example: bodies("    mov.u32 a, 089;", "    mov.u32 a, 89;"),
  },
  "ptx-number-too-large": {
    title: "an integer that does not fit 64 bits",
    page: "Integer constants are 64 bits wide: at most 18446744073709551615, or 0xFFFFFFFFFFFFFFFF.",
    section: "4.5.1",
    example: bodies("    mov.u32 a, 0x10000000000000000;", "    mov.u32 a, 0xFFFFFFFF;"),
  },
  "ptx-unknown-character": {
    title: "a character that begins no token",
    page: "PTX is ASCII text; other characters may stand in comments and in strings only. A lone '.', '$' or '#' within a line means nothing either.",
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
    page: "A comment that begins with /* ends with the next */, and comments do not nest. Without it the rest of the text is a comment.",
    section: "4.2",
    example: bodies("    ret; /* done", "    ret; /* done */"),
  },
} satisfies Catalogue;

export type SyntaxCode = keyof typeof syntaxCodes;

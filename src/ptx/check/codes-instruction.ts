import type { Catalogue } from "../../source/index.ts";

const head = ".version 9.0\n.target sm_90\n.address_size 64\n";
const kernel = (body: string, target = "sm_90") =>
  `${head.replace("sm_90", target)}.visible .entry k(.param .u64 out)\n{\n    .reg .pred p;\n    .reg .b16 h;\n    .reg .u32 a, b;\n    .reg .b64 l;\n    .reg .f32 f;\n    .shared .align 4 .b32 s[4];\n    ${body}\n    ret;\n}\n`;

/** Catalogue pages of the diagnostics about single instructions: opcode, modifiers, version and target, operands. */
export const instructionCodes = {
  "unknown-instruction": {
    title: "there is no instruction of this name",
    page: "The first word of the opcode is not an instruction of PTX ISA 1.0 to 9.1. `lanewise isa` lists all instructions.",
    section: "9.7",
    example: { bad: kernel("addd.u32 a, a, b;"), good: kernel("add.u32 a, a, b;") },
  },
  "unknown-modifier": {
    title: "the instruction has no such modifier in this place",
    page: "Every form of an instruction takes certain modifiers in a certain order, as `lanewise isa OPCODE` shows. This one is misspelt, belongs to another form, or is not in the manual's order.",
    section: "9.1",
    example: { bad: kernel("ld.global.v3.u32 a, [l];"), good: kernel("ld.global.u32 a, [l];") },
  },
  "modifier-order": {
    title: "the modifiers are not in the manual's order",
    page: "The manual gives the modifiers of each form in one order. ptxas accepts most of them in any order, and so does Lanewise, but other tools may not.",
    section: "9.1",
    example: { bad: kernel("add.f32.rn f, f, f;"), good: kernel("add.rn.f32 f, f, f;") },
  },
  "missing-modifier": {
    title: "the instruction lacks a modifier that it must have",
    page: "Most instructions must name the type that they operate on, and some a mode or a rounding, because there is no default.",
    section: "9.1",
    example: { bad: kernel("add a, a, b;"), good: kernel("add.u32 a, a, b;") },
  },
  "invalid-modifiers": {
    title: "these modifiers cannot be combined",
    page: "Each modifier exists, but the manual excludes this combination, for instance a rounding mode on an operation that does not round.",
    example: { bad: kernel("setp.equ.u32 p, a, b;"), good: kernel("setp.eq.u32 p, a, b;") },
  },
  "needs-newer-version": {
    title: "the module's .version is older than what it uses",
    page: "The form or one of its modifiers was introduced in a later PTX ISA version. A driver reads a module by the rules of its `.version`.",
    section: "11.1.1",
    example: {
      bad: kernel("activemask.b32 a;").replace(".version 9.0", ".version 6.0").replace("sm_90", "sm_60"),
      good: kernel("activemask.b32 a;"),
    },
  },
  "needs-other-target": {
    title: "the module's .target does not have what it uses",
    page: "The form or one of its modifiers needs a newer architecture, or a particular one (`sm_90a`: that one alone; `sm_100f`: its family).",
    section: "11.1.2",
    example: { bad: kernel("redux.sync.add.u32 a, b, -1;", "sm_75"), good: kernel("redux.sync.add.u32 a, b, -1;") },
  },
  removed: {
    title: "the form no longer exists for this version and target",
    page: "PTX ISA 6.4 removed the warp-wide instructions without `.sync` for sm_70 and later, where the lanes of a warp may diverge at any time: the `.sync` forms name the lanes that take part.",
    section: "9.7.9.5",
    example: { bad: kernel("vote.all.pred p, p;"), good: kernel("vote.sync.all.pred p, p, -1;") },
  },
  "operand-count": {
    title: "too few or too many operands",
    page: "The number of operands of a form is fixed; those in braces in the manual's notation may be left out.",
    example: { bad: kernel("add.u32 a, b;"), good: kernel("add.u32 a, a, b;") },
  },
  "operand-kind": {
    title: "this kind of operand does not fit here",
    page: "A register, a constant, a vector in braces, an address in brackets and a name are different things: loads and stores take addresses, results need registers, and special registers are only read by mov and cvt.",
    section: "6",
    example: { bad: kernel("ld.global.u32 a, l;"), good: kernel("ld.global.u32 a, [l];") },
  },
  "operand-type": {
    title: "the register's type does not fit the instruction's",
    page: "A register fits if it has the same size and the same kind (integer of either signedness, or floating-point) or is untyped (.b). Only ld, st and cvt accept registers that are wider than their type.",
    section: "9.4",
    example: { bad: kernel("add.f32 f, a, f;"), good: kernel("add.f32 f, f, f;") },
  },
  "vector-size": {
    title: "a vector of this many elements does not fit",
    page: "`.v2`, `.v4` or `.v8` gives the number of elements of a vector; mov packs and unpacks 2 or 4.",
    section: "5.4.2",
    example: { bad: kernel("mov.b64 l, {a, b, a};"), good: kernel("mov.b64 l, {a, b};") },
  },
  "address-type": {
    title: "this cannot be an address",
    page: "An address is an integer or untyped register, a variable, or one of these with a constant offset.",
    section: "6.4.1",
    example: { bad: kernel("ld.global.u32 a, [f];"), good: kernel("ld.global.u32 a, [l];") },
  },
  "state-space-mismatch": {
    title: "the variable is not in the state space of the access",
    page: "An access names the state space it goes to, and addresses of one space mean nothing in another. Input parameters can only be read, return parameters only be written.",
    section: "5.1",
    example: { bad: kernel("ld.global.u32 a, [s];"), good: kernel("ld.shared.u32 a, [s];") },
  },
  "immediate-out-of-range": {
    title: "a constant operand that the instruction cannot encode",
    page: "Some operands are encoded in few bits: barrier numbers go from 0 to 15, byte positions from 0 to 255.",
    example: { bad: kernel("bar.sync 16;"), good: kernel("bar.sync 15;") },
  },
  "guard-not-predicate": {
    title: "a guard that is not a predicate register",
    page: "`@p` executes an instruction in the lanes where the predicate p is true; p must be declared `.reg .pred`.",
    section: "9.3",
    example: { bad: kernel("@a mov.u32 b, 1;"), good: kernel("@p mov.u32 b, 1;") },
  },
  "narrow-address": {
    title: "an address in a register that is too small for it",
    page: "With `.address_size 64` a global or generic address has 64 bits. From sm_75 on ptxas refuses 32-bit addresses; for older targets it warns, and the upper bits are taken as zero, which is almost never a valid address.",
    section: "11.1.3",
    example: { bad: kernel("ld.global.u32 a, [b];"), good: kernel("ld.global.u32 a, [l];") },
  },
} satisfies Catalogue;

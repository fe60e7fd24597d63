import type { Catalogue } from "../../source/index.ts";
import { kernel, module } from "./example.ts";

const inc = ".func (.param .b32 r) inc(.param .b32 a) { st.param.b32 [r], 1; ret; }";
const copy =
  ".func (.param .b32 r) copy(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }";
const nop = ".func nop() { ret; }";
const params = ".param .b32 x, y;\n    st.param.b32 [x], a;\n    ";

/** Catalogue pages of the diagnostics about calls, branch targets, arguments and results. */
export const callCodes = {
  "call-form": {
    title: "a malformed call",
    page: "A direct call is `call (result), function, (arguments);`, where the lists may be left out. A call through a register has one more operand: a prototype, a list of targets or a call table.",
    section: "9.7.12.5",
    example: { bad: kernel("call l;", nop), good: kernel("T: .calltargets nop;\n    call l, T;", nop) },
  },
  "call-target": {
    title: "this cannot be called",
    page: "The target of a call is a function that has been declared before, or a .u64, .b64 or .s64 register that holds the address of one. Kernels can only be started by a launch.",
    section: "9.7.12.5",
    example: { bad: kernel("call g;", ".global .u32 g;"), good: kernel("call nop;", nop) },
  },
  "call-list": {
    title: "neither a prototype nor a list of functions",
    page: "The arguments of a call through a register are followed by the label of a `.callprototype` or `.calltargets` that appears earlier in the function, or by a call table: an array in the constant or global state space that is initialized with functions.",
    section: "9.7.12.5",
    example: {
      bad: kernel("call l, t;", `${nop}\n.shared .u64 t[1];`),
      good: kernel("call l, t;", `${nop}\n.global .u64 t[1] = {nop};`),
    },
  },
  "call-count": {
    title: "too few or too many arguments or results",
    page: "A call has an argument for every parameter, although one for a last parameter without a size may be left out, and a destination for every return parameter: `_` discards a result.",
    section: "9.7.12.5",
    example: { bad: kernel(`${params}call (y), inc;`, inc), good: kernel(`${params}call (y), inc, (x);`, inc) },
  },
  "call-argument": {
    title: "the argument does not fit the parameter",
    page: "An argument must have the size and kind of its parameter: floating-point, integer of either signedness, or untyped, which matches both. An array must have the same size and alignment as the parameter. Registers and constants can be passed to scalar parameters.",
    section: "9.7.12.5",
    example: { bad: kernel(`${params}call (y), inc, (l);`, inc), good: kernel(`${params}call (y), inc, (b);`, inc) },
  },
  "call-result": {
    title: "the result does not fit the return parameter",
    page: "The destination of a result is a register or .param variable with the size and kind of the return parameter, or `_`.",
    section: "9.7.12.5",
    example: { bad: kernel(`${params}call (l), inc, (x);`, inc), good: kernel(`${params}call (b), inc, (x);`, inc) },
  },
  "narrow-call-target": {
    title: "a function's address in a register that is too small for it",
    page: "With `.address_size 64` the address of a function has 64 bits. ptxas accepts a 32-bit register, and the call then goes to a truncated address.",
    section: "9.7.12.5",
    example: {
      bad: kernel("T: .calltargets nop;\n    call a, T;", nop),
      good: kernel("T: .calltargets nop;\n    call l, T;", nop),
    },
  },
  "prototype-name": {
    title: "a prototype with a name of its own",
    page: "A `.callprototype` is named by its label. Its own name is `_`.",
    section: "11.3.3",
    example: {
      bad: kernel("P: .callprototype f (.param .b32 a);"),
      good: kernel("P: .callprototype _ (.param .b32 a);"),
    },
  },
  alias: {
    title: "an impossible alias",
    page: "`.alias a, f;` makes a another name for the function f. a must be declared without a body; f must have a body in this module and cannot be `.weak`, `.extern` or an alias itself. Both must be declared with the same parameters.",
    section: "11.2.3",
    example: { bad: module(`${nop}\n.alias nop, nop;`), good: module(`${nop}\n.func a();\n.alias a, nop;`) },
  },
  recursion: {
    title: "recursion in PTX 1.x",
    page: "PTX 1.x has no stack: a function cannot call itself, directly or indirectly.",
    section: "11.2.2",
    example: {
      bad: ".version 1.4\n.target sm_13\n.func f() { call f; ret; }\n",
      good: ".version 1.4\n.target sm_13\n.func g() { ret; }\n.func f() { call g; ret; }\n",
    },
  },
  "branch-index": {
    title: "this cannot be an index of brx.idx",
    page: "The index is a 32-bit integer register (`.u32`, `.s32` or `.b32`) or a constant. The first target has index 0.",
    section: "9.7.12.4",
    example: {
      bad: kernel("L: T: .branchtargets L;\n    brx.idx l, T;"),
      good: kernel("L: T: .branchtargets L;\n    brx.idx a, T;"),
    },
  },
  "branch-list": {
    title: "this is not a list of labels",
    page: "The second operand of brx.idx is the label of a `.branchtargets` directive that appears earlier, in the same block or an enclosing one.",
    section: "9.7.12.4",
    example: { bad: kernel("L: brx.idx a, L;"), good: kernel("L: T: .branchtargets L;\n    brx.idx a, T;") },
  },
  "branch-index-out-of-range": {
    title: "a constant index past the end of the list of labels",
    page: "The first label has index 0. A branch with an index past the end of the list has undefined behaviour.",
    section: "9.7.12.4",
    example: {
      bad: kernel("L: T: .branchtargets L;\n    brx.idx 1, T;"),
      good: kernel("L: T: .branchtargets L;\n    brx.idx 0, T;"),
    },
  },
  "predicated-parameter": {
    title: "a guarded access to an argument or result",
    page: "st.param to an argument of a call, and ld.param of its result, belong to the call and cannot be predicated.",
    section: "5.1.6.4",
    example: {
      bad: kernel(".param .b32 x, y;\n    @p st.param.b32 [x], a;\n    call (y), inc, (x);", inc),
      good: kernel(`${params}call (y), inc, (x);`, inc),
    },
  },
  "result-never-returned": {
    title: "a load of a .param variable that nothing writes",
    page: "The variable is not the result of any call in the function, and nothing is stored to it: the value that ld.param reads is undefined.",
    section: "5.1.6.4",
    example: {
      bad: kernel(`${params}call (_), inc, (x);\n    ld.param.b32 b, [y];`, inc),
      good: kernel(`${params}call (y), inc, (x);\n    ld.param.b32 b, [y];`, inc),
    },
  },
  "argument-never-stored": {
    title: "an argument that nothing was stored to",
    page: "The .param variable is passed to a function that reads it, but no st.param writes it anywhere: the callee reads an undefined value.",
    section: "5.1.6.4",
    example: {
      bad: kernel(".param .b32 x, y;\n    call (y), copy, (x);", copy),
      good: kernel(`${params}call (y), copy, (x);`, copy),
    },
  },
  "return-never-stored": {
    title: "a function returns without a value",
    page: "The function has a return parameter, but no st.param writes it: the caller reads an undefined value.",
    section: "5.1.6.2",
    example: {
      bad: module(".func (.param .b32 r) f() { ret; }"),
      good: module(".func (.param .b32 r) f() { st.param.b32 [r], 1; ret; }"),
    },
  },
  "noreturn-returns": {
    title: "a .noreturn function returns",
    page: "`.noreturn` promises that the function never returns to its caller, and its callers are compiled accordingly: behaviour is undefined if it does return.",
    section: "11.4.6",
    example: { bad: module(".func f() .noreturn { ret; }"), good: module(".func f() .noreturn { exit; }") },
  },
} satisfies Catalogue;

import type { Catalogue } from "../../source/index.ts";
import { kernel, module } from "./example.ts";

const inc = ".func (.param .b32 r) inc(.param .b32 a) { st.param.b32 [r], 1; ret; }";
const copy =
  ".func (.param .b32 r) copy(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }";
const nop = ".func nop() { ret; }";
const params = ".param .b32 x, y;\n    st.param.b32 [x], a;\n    ";

/** Diagnostics about calls, targets and what they pass. */
export const callCodes = {
  "call-form": {
    title: "this is not what a call looks like",
    page: "A direct call is `call (result), function, (arguments);`, where the lists can be left out. A call through a register has one operand more: a prototype, a list of targets or a call table.",
    section: "9.7.12.5",
    example: { bad: kernel("call l;", nop), good: kernel("T: .calltargets nop;\n    call l, T;", nop) },
  },
  "call-target": {
    title: "this cannot be called",
    page: "A call goes to a function that was declared before, or through a .u64, .b64 or .s64 register that holds the address of one. Kernels are started by launches only.",
    section: "9.7.12.5",
    example: { bad: kernel("call g;", ".global .u32 g;"), good: kernel("call nop;", nop) },
  },
  "call-list": {
    title: "this is no prototype and no list of functions",
    page: "Behind the arguments of a call through a register stands the label of a `.callprototype` or `.calltargets` that came before in the function, or a call table: an array in the constant or global state space that is initialized with functions.",
    section: "9.7.12.5",
    example: {
      bad: kernel("call l, t;", `${nop}\n.shared .u64 t[1];`),
      good: kernel("call l, t;", `${nop}\n.global .u64 t[1] = {nop};`),
    },
  },
  "call-count": {
    title: "too few or too many arguments or results",
    page: "A call has an argument for every parameter, except for a last one without a size, and a place for every return parameter: `_` where the result is not wanted.",
    section: "9.7.12.5",
    example: { bad: kernel(`${params}call (y), inc;`, inc), good: kernel(`${params}call (y), inc, (x);`, inc) },
  },
  "call-argument": {
    title: "the argument does not fit the parameter",
    page: "An argument has the size and the sort of its parameter: floating-point, integer of either sign, or untyped, which fits both. An array has the same size and alignment as the parameter. Registers and constants can be passed for scalars.",
    section: "9.7.12.5",
    example: { bad: kernel(`${params}call (y), inc, (l);`, inc), good: kernel(`${params}call (y), inc, (b);`, inc) },
  },
  "call-result": {
    title: "the result does not fit the return parameter",
    page: "The place for a result is a register or .param variable with the size and the sort of the return parameter, or `_`.",
    section: "9.7.12.5",
    example: { bad: kernel(`${params}call (l), inc, (x);`, inc), good: kernel(`${params}call (b), inc, (x);`, inc) },
  },
  "narrow-call-target": {
    title: "a function's address in a register that is too small for it",
    page: "With `.address_size 64` the address of a function has 64 bits. ptxas accepts a 32-bit register, and the call then goes to an address that is cut.",
    section: "9.7.12.5",
    example: {
      bad: kernel("T: .calltargets nop;\n    call a, T;", nop),
      good: kernel("T: .calltargets nop;\n    call l, T;", nop),
    },
  },
  "prototype-name": {
    title: "a prototype with a name of its own",
    page: "A `.callprototype` is named by its label; where a function has its name it has `_`.",
    section: "11.3.3",
    example: {
      bad: kernel("P: .callprototype f (.param .b32 a);"),
      good: kernel("P: .callprototype _ (.param .b32 a);"),
    },
  },
  alias: {
    title: "an impossible alias",
    page: "`.alias a, f;` makes the declared function a, which has no body, another name for f, which is a function with a body in this module, not `.weak`, not `.extern` and not an alias itself. Both are declared with the same parameters.",
    section: "11.2.3",
    example: { bad: module(`${nop}\n.alias nop, nop;`), good: module(`${nop}\n.func a();\n.alias a, nop;`) },
  },
  recursion: {
    title: "recursion in PTX 1.x",
    page: "PTX 1.x has no stack: a function cannot call itself, directly or through others.",
    section: "11.2.2",
    example: {
      bad: ".version 1.4\n.target sm_13\n.func f() { call f; ret; }\n",
      good: ".version 1.4\n.target sm_13\n.func g() { ret; }\n.func f() { call g; ret; }\n",
    },
  },
  "branch-index": {
    title: "this is no index for brx.idx",
    page: "The index is a 32-bit integer register (`.u32`, `.s32` or `.b32`) or a constant, and counts from 0.",
    section: "9.7.12.4",
    example: {
      bad: kernel("L: T: .branchtargets L;\n    brx.idx l, T;"),
      good: kernel("L: T: .branchtargets L;\n    brx.idx a, T;"),
    },
  },
  "branch-list": {
    title: "this is no list of labels",
    page: "The second operand of brx.idx is the label of a `.branchtargets` directive that came before, in the same block or an enclosing one.",
    section: "9.7.12.4",
    example: { bad: kernel("L: brx.idx a, L;"), good: kernel("L: T: .branchtargets L;\n    brx.idx a, T;") },
  },
  "branch-index-out-of-range": {
    title: "a constant index beyond the list of labels",
    page: "The labels count from 0. What a branch with an index beyond the list does is undefined.",
    section: "9.7.12.4",
    example: {
      bad: kernel("L: T: .branchtargets L;\n    brx.idx 1, T;"),
      good: kernel("L: T: .branchtargets L;\n    brx.idx 0, T;"),
    },
  },
  "predicated-parameter": {
    title: "an argument or result is accessed under a guard",
    page: "st.param to an argument of a call, and ld.param of its result, belong to the call and cannot be predicated.",
    section: "5.1.6.4",
    example: {
      bad: kernel(".param .b32 x, y;\n    @p st.param.b32 [x], a;\n    call (y), inc, (x);", inc),
      good: kernel(`${params}call (y), inc, (x);`, inc),
    },
  },
  "result-never-returned": {
    title: "a .param variable is loaded that nothing writes",
    page: "The variable is the result of no call in the function, and nothing is stored to it: what ld.param reads is undefined.",
    section: "5.1.6.4",
    example: {
      bad: kernel(`${params}call (_), inc, (x);\n    ld.param.b32 b, [y];`, inc),
      good: kernel(`${params}call (y), inc, (x);\n    ld.param.b32 b, [y];`, inc),
    },
  },
  "argument-never-stored": {
    title: "an argument that nothing was stored to",
    page: "The .param variable is passed to a function that reads it, but no st.param writes it anywhere before: the callee gets an undefined value.",
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
    title: "a function that does not return returns",
    page: "`.noreturn` promises that the function never returns to its caller, and callers are compiled that way: what happens when it does is undefined.",
    section: "11.4.6",
    example: { bad: module(".func f() .noreturn { ret; }"), good: module(".func f() .noreturn { exit; }") },
  },
} satisfies Catalogue;

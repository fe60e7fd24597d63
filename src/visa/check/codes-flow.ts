import type { Catalogue } from "../../source/index.ts";
import { bodies, callee, kernel } from "./example.ts";

const withSubroutine = (body: string, subroutine: string): string =>
  `${kernel(body)}.function "sub"\nsub:\n${subroutine}\n`;

/** Catalogue pages of the diagnostics about labels, calls and returns. */
export const flowCodes = {
  "visa-unknown-label": {
    title: "an unknown label",
    page: "The target of a jump must be a label of the routine. Labels begin their line and end with a colon.",
    section: "GOTO",
    example: bodies("goto (M1, 1) L", "goto (M1, 1) L\nL:"),
  },
  "visa-label-kind": {
    title: "a jump to a subroutine, or a call of a block",
    page: "The target of `call` is a subroutine: a label after any `.function` but the first, which begins the routine itself. goto, jmp and switchjmp go to all other labels.",
    section: "CALL",
    example: {
      bad: withSubroutine("L:\ncall (M1, 16) L", "    ret (M1, 16)"),
      good: withSubroutine("call (M1, 16) sub", "    ret (M1, 16)"),
    },
  },
  "visa-foreign-label": {
    title: "a jump into another subroutine",
    page: "The target of a jump is in the same subroutine as the jump.",
    section: "GOTO",
    example: {
      bad: withSubroutine("call (M1, 16) sub\ngoto (M1, 1) L", "L:\n    ret (M1, 16)"),
      good: withSubroutine("call (M1, 16) sub\ngoto (M1, 1) L\nL:", "    ret (M1, 16)"),
    },
  },
  "visa-return": {
    title: "the wrong return",
    page: "`fret` returns from a function and may stand only in its body, not in its subroutines. `ret` ends a kernel and returns from a subroutine.",
    section: "FRET",
    example: { bad: callee("f", "ret (M1, 16)\nfret (M1, 16)"), good: callee("f", "fret (M1, 16)") },
  },
  "visa-falls-off": {
    title: "execution reaches the end of the text",
    page: "A kernel or subroutine ends with `ret`, a function with `fret`, or any of them with a jump back. What follows the last instruction is undefined. It is a warning if only lanes whose predicate is not set can get there.",
    section: "FRET",
    example: {
      bad: callee("f", "mov (M1, 16) RET(0,0)<1> 0:ud"),
      good: callee("f", "mov (M1, 16) RET(0,0)<1> 0:ud\nfret (M1, 16)"),
    },
  },
  "visa-recursion": {
    title: "a subroutine that calls itself",
    page: "A subroutine has no variables of its own and a single place for its return address, so it cannot be called while it runs, neither by itself nor by a subroutine that it calls. Functions can.",
    section: "CALL",
    example: {
      bad: withSubroutine("call (M1, 16) sub", "    call (M1, 16) sub\n    ret (M1, 16)"),
      good: withSubroutine("call (M1, 16) sub", "    ret (M1, 16)"),
    },
  },
  "visa-call-size": {
    title: "a call passes more registers than there are",
    page: "%arg has 32 registers and %retval has 12.",
    section: "IFCALL",
    example: bodies("ifcall (M1, 16) A(0,0)<0;1,0> 33 0", "ifcall (M1, 16) A(0,0)<0;1,0> 32 0"),
  },
  "visa-constant-address": {
    title: "a call to a constant address",
    page: "The address of a function is decided when the program is loaded; `faddr` gives it. A call to any other address is undefined behaviour.",
    section: "IFCALL",
    example: bodies("ifcall (M1, 16) 0x100:ud 0 0", "ifcall (M1, 16) A(0,0)<0;1,0> 0 0"),
  },
  "visa-call-size-mismatch": {
    title: "the sizes of a call are not those that the function declares",
    page: "The sizes of a call must be the ArgSize and RetValSize of the function. They are checked for an indirect call too if `faddr` has put addresses of known functions into its operand on every path to it; if only some of these functions do not fit, it is a warning. IGC itself writes such direct calls, where nobody reads the registers in question: `run` makes them, with a warning, and a sanitizer reports a register that is read although nobody has written it.",
    section: "IFCALL",
    example: {
      bad: `${kernel("fcall (M1, 16) f 1 2")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
      good: `${kernel("fcall (M1, 16) f 2 2")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
    },
  },
  "visa-lane-mismatch": {
    title: "a function written for another number of lanes",
    page: "SimdSize is the number of lanes of the threads that a routine is written for. If the calling thread has more lanes than the function, the function leaves some of them out; if it has fewer, some channels of the function never execute.",
    section: "4_visa_header",
    example: {
      bad: `${kernel("fcall (M1, 16) f 2 2")}${callee("f", "fret (M1, 8)").replace(/^.*\n/, "").replace("SimdSize=16", "SimdSize=8")}`,
      good: `${kernel("fcall (M1, 16) f 2 2")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
    },
  },
  "visa-unknown-function": {
    title: "a function that no file has",
    page: "fcall and faddr name a function of the program; it may be in another file. Kernels cannot be called.",
    section: "FADDR",
    example: {
      bad: kernel("fcall (M1, 16) f 2 2"),
      good: `${kernel("fcall (M1, 16) f 2 2")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
    },
  },
  "visa-duplicate-routine": {
    title: "two routines have the same name",
    page: "Every kernel and function of a program must have a name of its own.",
    section: "3_execution_model",
    example: {
      bad: `${callee("f", "fret (M1, 16)")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
      good: `${callee("f", "fret (M1, 16)")}${callee("g", "fret (M1, 16)").replace(/^.*\n/, "")}`,
    },
  },
} satisfies Catalogue;

import type { Catalogue } from "../../source/index.ts";
import { callee, kernel } from "./example.ts";

const bodies = (bad: string, good: string) => ({ bad: kernel(bad), good: kernel(good) });
const withSubroutine = (body: string, subroutine: string): string =>
  `${kernel(body)}.function "sub"\nsub:\n${subroutine}\n`;

/** Diagnostics about labels, calls and returns. */
export const flowCodes = {
  "visa-unknown-label": {
    title: "a label that is not there",
    page: "A jump goes to a label of the routine. Labels begin their line and end with a colon.",
    section: "GOTO",
    example: bodies("goto (M1, 1) L", "goto (M1, 1) L\nL:"),
  },
  "visa-label-kind": {
    title: "a jump to a subroutine, or a call of a block",
    page: "`call` goes to a subroutine: a label behind `.function`, other than the first, which begins the routine itself. goto, jmp and switchjmp go to all other labels.",
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
    page: "`fret` returns from a function, and stands in its own body only. `ret` ends a kernel and returns from a subroutine.",
    section: "FRET",
    example: { bad: callee("f", "ret (M1, 16)\nfret (M1, 16)"), good: callee("f", "fret (M1, 16)") },
  },
  "visa-falls-off": {
    title: "execution comes to the end of the text",
    page: "A kernel or subroutine ends with `ret`, a function with `fret`, or with a jump back. What comes behind the last instruction is not defined. Where only the lanes come there for which a predicate is not set, it is a warning.",
    section: "FRET",
    example: {
      bad: callee("f", "mov (M1, 16) RET(0,0)<1> 0:ud"),
      good: callee("f", "mov (M1, 16) RET(0,0)<1> 0:ud\nfret (M1, 16)"),
    },
  },
  "visa-recursion": {
    title: "a subroutine that calls itself",
    page: "A subroutine has no variables of its own and one place for its caller's: it cannot be called, by itself or others, while it runs. Functions can.",
    section: "CALL",
    example: {
      bad: withSubroutine("call (M1, 16) sub", "    call (M1, 16) sub\n    ret (M1, 16)"),
      good: withSubroutine("call (M1, 16) sub", "    ret (M1, 16)"),
    },
  },
  "visa-call-size": {
    title: "a call with more registers than there are",
    page: "%arg has 32 registers and %retval has 12.",
    section: "IFCALL",
    example: bodies("ifcall (M1, 16) A(0,0)<0;1,0> 33 0", "ifcall (M1, 16) A(0,0)<0;1,0> 32 0"),
  },
  "visa-constant-address": {
    title: "a call of a function by a number",
    page: "Where a function lies is decided when the program is loaded; `faddr` gives its address. The behaviour of a call to anything else is undefined.",
    section: "IFCALL",
    example: bodies("ifcall (M1, 16) 0x100:ud 0 0", "ifcall (M1, 16) A(0,0)<0;1,0> 0 0"),
  },
  "visa-call-size-mismatch": {
    title: "a call with other sizes than the function declares",
    page: "The sizes of a call are the ArgSize and RetValSize of the function. For an indirect call that is known where every way to it has put addresses of certain functions into the operand by `faddr`; where only some of them do not fit, it is a warning.",
    section: "IFCALL",
    example: {
      bad: `${kernel("fcall (M1, 16) f 1 2")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
      good: `${kernel("fcall (M1, 16) f 2 2")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
    },
  },
  "visa-lane-mismatch": {
    title: "a function for another number of lanes",
    page: "SimdSize says how many lanes the threads have that a routine is for. A function that a thread with more lanes calls leaves some of them out; where it is for more, some of its channels never execute.",
    section: "4_visa_header",
    example: {
      bad: `${kernel("fcall (M1, 16) f 2 2")}${callee("f", "fret (M1, 8)").replace(/^.*\n/, "").replace("SimdSize=16", "SimdSize=8")}`,
      good: `${kernel("fcall (M1, 16) f 2 2")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
    },
  },
  "visa-unknown-function": {
    title: "a function that no file has",
    page: "fcall and faddr name a function of the program, which may be in another file. Kernels cannot be called.",
    section: "FADDR",
    example: {
      bad: kernel("fcall (M1, 16) f 2 2"),
      good: `${kernel("fcall (M1, 16) f 2 2")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
    },
  },
  "visa-duplicate-routine": {
    title: "two routines of one name",
    page: "Every kernel and function of a program has a name of its own.",
    section: "3_execution_model",
    example: {
      bad: `${callee("f", "fret (M1, 16)")}${callee("f", "fret (M1, 16)").replace(/^.*\n/, "")}`,
      good: `${callee("f", "fret (M1, 16)")}${callee("g", "fret (M1, 16)").replace(/^.*\n/, "")}`,
    },
  },
} satisfies Catalogue;

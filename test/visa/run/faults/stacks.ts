import type { Fault } from "./fault.ts";

/** The thread instructions within which each of these recursions overflows its stack. */
const toTheEnd = 10_000_000;

/** Recursion without end, and %sp. */
export const stacks: readonly Fault[] = [
  {
    title: "a function that always calls itself",
    report: "stack-overflow",
    maxSteps: toTheEnd,
    functions: [{ name: "f", takes: 1, returns: 1, body: "fcall (E) f # # <--\nfret (E)" }],
    kernel: "mov (E) ARG! ID@\nfcall (E) f # #",
    threads: "0-15",
    stack: ["f", "f"],
    says: ["16384"],
  },
  {
    title: "a recursion that one lane does not leave",
    report: "stack-overflow",
    maxSteps: toTheEnd,
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) RET! X@
          cmp.eq (E) P1 X@ 0:ud
          (P1) fret (E)
          add (E) ARG! X@ -2:d
          faddr f F!
          ifcall (E) F$ # # <--
          fret (E)`,
      },
    ],
    kernel: `
      shl (E) X! ID@ 1:ud
      cmp.eq (E) P1 ID@ 6:ud
      (P1) add (E) X! X@ 1:ud
      mov (E) ARG! X@
      fcall (E) f # #`,
    threads: "6",
    stack: ["f", "f"],
    says: ["16384"],
  },
  {
    title: "functions that call each other by address",
    report: "stack-overflow",
    maxSteps: toTheEnd,
    functions: [
      { name: "ping", takes: 1, returns: 1, body: "faddr pong F!\nifcall (E) F$ # # <--\nfret (E)" },
      { name: "pong", takes: 1, returns: 1, body: "faddr ping F!\nifcall (E) F$ # #\nfret (E)" },
    ],
    kernel: "mov (E) ARG! ID@\nfcall (E) ping # #",
    threads: "0-15",
    stack: ["ping", "pong", "ping"],
    says: ["16384"],
  },
  {
    title: "a scalar recursion",
    report: "stack-overflow",
    maxSteps: toTheEnd,
    functions: [{ name: "f", takes: 0, returns: 0, body: "fcall (one) f 0 0 <--\nfret (one)" }],
    kernel: "fcall (one) f 0 0",
    threads: "0-15",
    stack: ["f", "f"],
    says: ["16384"],
  },
  {
    title: "a recursion through a subroutine of the function",
    report: "stack-overflow",
    maxSteps: toTheEnd,
    functions: [
      {
        name: "f",
        takes: 0,
        returns: 0,
        body: `
          call (E) again <--
          fret (E)
          .function "again"
          again:
          fcall (E) f 0 0
          ret (E)`,
      },
    ],
    kernel: "fcall (E) f 0 0",
    threads: "0-15",
    stack: ["f", "f", "f"],
    says: ["16384"],
  },
  {
    title: "of two threads the second recurs for ever",
    report: "stack-overflow",
    maxSteps: toTheEnd,
    items: 32,
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 0,
        body: `
          mov (E) X! ARG@
          cmp.lt (E) P1 X@ 16:ud
          (P1) fret (E)
          mov (E) ARG! X@
          fcall (E) f # 0 <--
          fret (E)`,
      },
    ],
    kernel: "mov (E) ARG! ID@\nfcall (E) f # 0",
    threads: "16-31",
    stack: ["f", "f"],
    says: ["16384"],
  },
  {
    title: "a function that does not give back what it took from the stack",
    report: "stack-imbalance",
    functions: [
      {
        name: "f",
        takes: 0,
        returns: 0,
        body: "add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> 64:ud\nfret (E) <--",
      },
    ],
    kernel: "mov (one) %sp(0,0)<1> STK$\nfcall (E) f 0 0",
    threads: "0-15",
    stack: ["f", "k"],
    says: ["`f`", "64 bytes above"],
  },
  {
    title: "a function that gives back more than it took, called by an address in some lanes",
    report: "stack-imbalance",
    functions: [
      {
        name: "f",
        takes: 0,
        returns: 0,
        body: `
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> 64:ud
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> -96:d
          fret (E) <--`,
      },
    ],
    kernel: `
      mov (one) %sp(0,0)<1> STK$
      cmp.gt (E) P1 ID@ 12:ud
      faddr f F!
      (P1) ifcall (E) F$ 0 0`,
    threads: "13-15",
    stack: ["f", "k"],
    says: ["`f`", "32 bytes below"],
  },
  {
    title: "all lanes leave before the function has given back its stack",
    report: "stack-imbalance",
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 0,
        body: `
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> 64:ud
          cmp.lt (E) P1 ARG@ 400:ud
          (P1) fret (E) <--
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> -64:d
          fret (E)`,
      },
    ],
    kernel: "mov (one) %sp(0,0)<1> STK$\nmov (E) ARG! ID@\nfcall (E) f # 0",
    threads: "0-15",
    stack: ["f", "k"],
    says: ["64 bytes above"],
  },
  {
    title: "the inner of two functions leaves the stack uneven, and the outer does not notice",
    report: "stack-imbalance",
    functions: [
      {
        name: "inner",
        takes: 0,
        returns: 0,
        body: "mov (one) %fp(0,0)<1> %sp(0,0)<0;1,0>\nadd (one) %sp(0,0)<1> %sp(0,0)<0;1,0> 16:ud\nfret (E) <--",
      },
      {
        name: "outer",
        takes: 0,
        returns: 0,
        body: `
          mov (one) Q! %sp(0,0)<0;1,0>
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> 32:ud
          fcall (E) inner 0 0
          mov (one) %sp(0,0)<1> Q$
          fret (E)`,
      },
    ],
    kernel: "mov (one) %sp(0,0)<1> STK$\nfcall (E) outer 0 0",
    threads: "0-15",
    stack: ["inner", "outer", "k"],
    says: ["`inner`"],
  },
];

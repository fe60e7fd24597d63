import type { Fault } from "./fault.ts";

/** FRET and RET: lanes that never return, and calls marked noreturn. */
export const returns: readonly Fault[] = [
  {
    title: "lanes for which the last fret's predicate is not set",
    report: "falls-off-end",
    functions: [{ name: "f", takes: 1, returns: 0, body: "cmp.lt (E) P1 ARG@ 5:ud\n(P1) fret (E) <--" }],
    kernel: "mov (E) ARG! ID@\nfcall (E) f # 0",
    threads: "5-15",
    stack: ["f", "k"],
    says: ["the end of `f`"],
  },
  {
    title: "lanes that would continue into the next subroutine",
    report: "falls-off-end",
    kernel: "cmp.lt (E) P1 ID@ 5:ud\ncall (E) first\ncall (E) second",
    subroutines: `
      .function "first"
      first:
      (P1) ret (E) <--
      .function "second"
      second:
      mov (E) R! 7:ud
      ret (E)`,
    threads: "5-15",
    stack: ["k", "k"],
    says: ["the end of `first`"],
  },
  {
    title: "a function that is called as one that does not return",
    report: "noreturn-returned",
    functions: [{ name: "f", takes: 0, returns: 0, body: "fret (E) <--" }],
    kernel: "faddr f F!\nifcall.noreturn (E) F$ 0 0",
    threads: "0-15",
    stack: ["f", "k"],
    says: ["`f`"],
  },
];

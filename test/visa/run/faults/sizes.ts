import type { Fault } from "./fault.ts";

const functions = [
  { name: "one", takes: 1, returns: 1, body: "mov (E) RET! ARG@\nfret (E)" },
  { name: "two", takes: 2, returns: 1, body: "mov (E) RET! ARG(#,0)<1;1,0>\nfret (E)" },
  { name: "none", takes: 0, returns: 0, body: "fret (E)" },
];

/** An address is stored to memory and loaded again, which no checker can follow. */
const throughMemory = (name: string): string => `
  faddr ${name} F!
  svm_scatter.4.1 (one) OUT.0 F.0
  svm_gather.4.1 (one) OUT.0 S.0
  mov (E) ARG! ID@
  mov (E) ARG(#,0)<1> ID@`;

/** IFCALL: "It is an error if <arg_size> and <return_size> do not match the callee's declared values." */
export const sizes: readonly Fault[] = [
  {
    title: "fewer arguments than the function takes",
    report: "call-size-mismatch",
    functions,
    kernel: `${throughMemory("two")}
      ifcall (E) S$ # # <--`,
    threads: "0-15",
    says: ["2", "4", "`two`"],
  },
  {
    title: "more arguments than the function takes, in some lanes",
    report: "call-size-mismatch",
    functions,
    kernel: `${throughMemory("one")}
      cmp.lt (E) P1 ID@ 5:ud
      (P1) ifcall (E) S$ ## # <--`,
    threads: "0-4",
    says: ["`one`"],
  },
  {
    title: "no results of a function that returns some",
    report: "call-size-mismatch",
    functions,
    kernel: `${throughMemory("one")}
      ifcall (E) S$ # 0 <--`,
    threads: "0-15",
    says: ["`one`"],
  },
  {
    title: "results of a function that returns none",
    report: "call-size-mismatch",
    functions,
    width: 8,
    kernel: `${throughMemory("none")}
      ifcall (E) S$ 0 12 <--`,
    threads: "0-7",
    says: ["`none`", "12"],
  },
  {
    title: "one register too many",
    report: "call-size-mismatch",
    functions,
    kernel: `${throughMemory("one")}
      ifcall (E) S$ 3 2 <--`,
    threads: "0-15",
    says: ["3", "`one`"],
  },
  {
    title: "the second of two targets at one call",
    report: "call-size-mismatch",
    functions,
    items: 32,
    group: 32,
    kernel: `
      faddr one F!
      faddr two S!
      mov (one) T! ID$
      cmp.ge (one) P1 T$ 16:ud
      (P1) mov (one) F! S$
      svm_scatter.4.1 (one) STK.0 F.0
      svm_gather.4.1 (one) STK.0 S.0
      mov (E) ARG! ID@
      ifcall (E) S$ # # <--`,
    threads: "16-31",
    says: ["`two`"],
  },
  {
    title: "in a function, by an address that it was given",
    report: "call-size-mismatch",
    functions: [
      ...functions,
      {
        name: "apply",
        takes: 2,
        returns: 1,
        body: `
          mov (one) F! ARG(#,0)<0;1,0>
          ifcall (E) F$ # # <--
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      faddr two F!
      mov (E) ARG(#,0)<1> F$
      fcall (E) apply ## #`,
    threads: "0-15",
    stack: ["apply", "k"],
    says: ["`two`"],
  },
];

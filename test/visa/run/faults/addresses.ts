import type { Fault } from "./fault.ts";

const plus = (name: string, n: number) => ({
  name,
  takes: 1,
  returns: 1,
  body: `add (E) RET! ARG@ ${n}:ud\nfret (E)`,
});
const functions = [plus("plus1", 1), plus("plus2", 2)];

/** IFCALL: "The behavior is undefined if <func_addr> is not the address of any of the functions." */
export const addresses: readonly Fault[] = [
  {
    title: "a vector of addresses that differ: the call has one target",
    report: "divergent-call-address",
    functions,
    kernel: `
      faddr plus1 F!
      faddr plus2 S!
      cmp.gt (E) P1 ID@ 7:ud
      mov (E) X! F$
      (P1) mov (E) X! S$
      mov (E) ARG! ID@
      ifcall (E) X@ # # <--`,
    threads: "0-15",
    says: ["lane 0", "lane 8"],
  },
  {
    title: "a number",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      mov (E) ARG! ID@
      ifcall (E) 4660:ud # # <--`,
    threads: "0-15",
    says: ["0x1234", "no function"],
  },
  {
    title: "null",
    report: "indirect-call-null",
    functions,
    kernel: `
      mov (one) F! 0:ud
      mov (E) ARG! ID@
      ifcall (E) F$ # # <--`,
    threads: "0-15",
    says: ["null"],
  },
  {
    title: "null in 64 bits, from a table in memory that was never filled, in some lanes",
    report: "indirect-call-null",
    functions,
    kernel: `
      svm_block_ld (2) OUT$ TABLE.0
      mov (E) ARG! ID@
      cmp.gt (E) P1 ID@ 11:ud
      (P1) ifcall (E) TABLE(0,1)<0;1,0> # # <--`,
    declarations: ".decl TABLE v_type=G type=uq num_elts=4 align=GRF",
    threads: "12-15",
    says: ["null"],
  },
  {
    title: "the address of data",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      mov (E) ARG! ID@
      ifcall (E) OUT$ # # <--`,
    threads: "0-15",
    says: ["an address of global memory", 'at byte 0 of buffer "out"'],
  },
  {
    title: "half the address of data",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      mov (one) F! OUT$
      mov (E) ARG! ID@
      ifcall (E) F$ # # <--`,
    threads: "0-15",
    says: ["no function"],
  },
  {
    title: "an address inside a function",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      faddr plus2 F!
      add (one) F! F$ 4:ud
      mov (E) ARG! ID@
      ifcall (E) F$ # # <--`,
    threads: "0-15",
    says: ["4 bytes inside", "`plus2`"],
  },
  {
    title: "one byte before a function, from a function",
    report: "indirect-call-bad-address",
    functions: [
      ...functions,
      {
        name: "near",
        takes: 1,
        returns: 1,
        body: `
          faddr plus1 F!
          add (one) F! F$ 0xffffffff:ud
          ifcall (E) F$ # # <--
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      fcall (E) near # #`,
    threads: "0-15",
    stack: ["near", "k"],
    says: ["inside"],
  },
  {
    title: "after the last function",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      faddr plus2 F!
      add (one) F! F$ 0x1000:ud
      mov (E) ARG! ID@
      ifcall (E) F$ # # <--`,
    threads: "0-15",
    says: ["no function"],
  },
  {
    title: "a function's address with other bits above it",
    report: "indirect-call-bad-address",
    functions,
    declarations: ".decl HALVES v_type=G type=ud num_elts=2 align=GRF alias=<Q, 0>",
    kernel: `
      faddr plus1 Q!
      mov (one) HALVES(0,1)<1> 1:ud
      mov (E) ARG! ID@
      ifcall (E) Q$ # # <--`,
    threads: "0-15",
    says: ["no function"],
  },
  {
    title: "an address that was good before it was overwritten in memory",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      faddr plus1 F!
      svm_scatter.4.1 (one) OUT.0 F.0
      svm_gather.4.1 (one) OUT.0 S.0
      mov (E) ARG! ID@
      ifcall (E) S$ # #
      mov (one) T! 0x10:ud
      svm_scatter.4.1 (one) OUT.0 T.0
      svm_gather.4.1 (one) OUT.0 S.0
      mov (E) ARG! ID@
      ifcall (E) S$ # # <--`,
    threads: "0-15",
    says: ["0x10"],
  },
  {
    title: "of two groups only the second goes wrong",
    report: "indirect-call-bad-address",
    functions,
    items: 48,
    group: 24,
    kernel: `
      faddr plus1 F!
      cmp.ge (one) P1 ID$ 40:ud
      (P1) mov (one) F! 0xbad:ud
      mov (E) ARG! ID@
      ifcall (E) F$ # # <--`,
    threads: "40-47",
    says: ["0xbad"],
  },
  {
    title: "only the lanes of the call are named: half a thread, under a predicate",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      and (E) X! ID@ 1:ud
      cmp.eq (E) P1 X@ 1:ud
      mov (E) ARG! ID@
      (P1) ifcall (M3, 8) 16:ud # # <--`,
    threads: "9, 11, 13, 15",
    says: ["0x10"],
  },
  {
    title: "a scalar call in divergent code: the lanes that reach it are named",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      cmp.eq (E) P1 ID@ 3:ud
      (!P1) goto (E) after
      mov (one) ARG! 1:ud
      ifcall (one) 16:ud # # <--
      after:`,
    threads: "3",
    says: ["0x10"],
  },
  {
    title: "any of the lanes sends all active ones",
    report: "indirect-call-null",
    functions,
    kernel: `
      cmp.lt (E) P1 ID@ 10:ud
      cmp.eq (E) P2 ID@ 4:ud
      mov (one) F! 0:ud
      (!P1) goto (E) after
      (P2.any) ifcall (E) F$ # # <--
      after:`,
    threads: "0-9",
    says: ["null"],
  },
  {
    title: "an address from a variable's element that no table has filled, through an address variable",
    report: "indirect-call-null",
    functions,
    declarations: ".decl TABLE v_type=G type=ud num_elts=8 align=GRF",
    kernel: `
      mov (M1_NM, 8) TABLE(0,0)<1> 0:ud
      faddr plus1 TABLE(0,0)<1>
      faddr plus2 TABLE(0,1)<1>
      addr_add (one) A1(0)<1> &TABLE 8:uw
      mov (E) ARG! ID@
      ifcall (E) r[A1(0),0]<0;1,0>:ud # # <--`,
    threads: "0-15",
    says: ["null"],
  },
  {
    title: "a call of four channels, of which two reach it",
    report: "indirect-call-bad-address",
    functions,
    kernel: `
      faddr plus1 F!
      add (one) F! F$ 3:ud
      cmp.ge (E) P1 ID@ 10:ud
      mov (E) ARG! ID@
      (P1) ifcall (M3, 4) F$ # # <--`,
    threads: "10-11",
    says: ["3 bytes inside", "`plus1`"],
  },
  {
    title: "the address that a function returned, in the lanes that it did not give one",
    report: "indirect-call-null",
    functions: [
      ...functions,
      {
        name: "choose",
        takes: 1,
        returns: 1,
        body: `
          mov (E) RET! 0:ud
          faddr plus1 F!
          cmp.lt (E) P1 ARG@ 5:ud
          (P1) mov (E) RET! F$
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      fcall (E) choose # #
      mov (E) X! RET@
      mov (one) F! X(0,0)<0;1,0>
      cmp.eq (E) P1 X@ F$
      mov (E) ARG! ID@
      (P1) ifcall (E) F$ # #
      mov (one) F! X(0,7)<0;1,0>
      cmp.eq (E) P1 X@ F$
      mov (E) ARG! ID@
      (P1) ifcall (E) F$ # # <--`,
    threads: "5-15",
    says: ["null"],
  },
  {
    title: "in a subroutine of a function that half the channels execute, after a return of some of them",
    report: "indirect-call-bad-address",
    functions: [
      ...functions,
      {
        name: "walk",
        takes: 1,
        returns: 1,
        body: `
          mov (E) RET! 0:ud
          fret (M1, 4)
          call (E) inner
          fret (E)
          .function "inner"
          inner:
          cmp.eq (E) P1 ARG@ 6:ud
          (P1) ret (E)
          mov (one) F! 16:ud
          ifcall (E) F$ # # <--
          ret (E)`,
      },
    ],
    kernel: "mov (E) ARG! ID@\nfcall (M1, 8) walk # #\nmov (M1, 8) R! RET@",
    threads: "4-5, 7",
    stack: ["walk", "walk", "k"],
    says: ["0x10"],
  },
  {
    title: "a scalar call in a function that some lanes execute, for an address of its own",
    report: "indirect-call-bad-address",
    functions: [
      ...functions,
      { name: "scalar", takes: 1, returns: 1, body: "mov (one) F! 99:ud\nifcall (one) F$ # # <--\nfret (E)" },
    ],
    kernel: `
      cmp.lt (E) P1 ID@ 3:ud
      mov (NM) ARG! ID@
      (P1) fcall (E) scalar # #`,
    threads: "0-2",
    stack: ["scalar", "k"],
    says: ["0x63"],
  },
];

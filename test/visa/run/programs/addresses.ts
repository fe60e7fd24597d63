import type { Program } from "../program.ts";

const every = [8, 16, 32] as const;

const adders = [1, 2, 3, 4].map((n) => ({
  name: `plus${n}`,
  takes: 1,
  returns: 1,
  body: `add (E) RET! ARG@ ${10 ** n}:ud\nfret (E)`,
}));

/** `faddr` and `ifcall`: functions by their addresses. */
export const addresses: readonly Program[] = [
  {
    title: "one of two functions, by a value that all lanes share",
    widths: every,
    functions: adders,
    kernel: `
      faddr plus1 F!
      faddr plus2 S!
      mov (E) ARG! ID@
      ifcall (E) F$ # #
      mov (E) ARG! RET@
      cmp.eq (one) P1 ID$ 0:ud
      (P1) mov (one) F! S$
      ifcall (E) F$ # #
      mov (E) R! RET@`,
    expected: (id) => id + 10 + 100,
  },
  {
    title: "a table of addresses in registers, read through an address variable",
    widths: every,
    functions: adders,
    declarations: `
      .decl TABLE v_type=G type=ud num_elts=8 align=GRF
      .decl AT v_type=G type=uw num_elts=1 align=GRF`,
    kernel: `
      faddr plus1 TABLE(0,0)<1>
      faddr plus2 TABLE(0,1)<1>
      faddr plus3 TABLE(0,2)<1>
      faddr plus4 TABLE(0,3)<1>
      mov (E) R! ID@
      mov (one) S! 0:ud
      again:
      shl (one) AT! S$ 2:ud
      addr_add (one) A1(0)<1> &TABLE AT$
      mov (E) ARG! R@
      ifcall (E) r[A1(0),0]<0;1,0>:ud # #
      mov (E) R! RET@
      add (one) S! S$ 1:ud
      cmp.lt (one) P1 S$ 4:ud
      (P1) goto (M1, 1) again`,
    expected: (id) => id + 11110,
  },
  {
    title: "each lane has its own target: one target after the other, with the lanes that want it",
    widths: [8, 16],
    functions: adders,
    declarations: `
      .decl TABLE v_type=G type=ud num_elts=8 align=GRF
      .decl WANT v_type=G type=ud num_elts=16 align=GRF
      .decl AT v_type=G type=uw num_elts=1 align=GRF`,
    kernel: `
      faddr plus1 TABLE(0,0)<1>
      faddr plus2 TABLE(0,1)<1>
      faddr plus3 TABLE(0,2)<1>
      faddr plus4 TABLE(0,3)<1>
      and (E) X! ID@ 3:ud
      mov (E) WANT(0,0)<1> TABLE(0,0)<0;1,0>
      cmp.eq (E) P1 X@ 1:ud
      (P1) mov (E) WANT(0,0)<1> TABLE(0,1)<0;1,0>
      cmp.eq (E) P1 X@ 2:ud
      (P1) mov (E) WANT(0,0)<1> TABLE(0,2)<0;1,0>
      cmp.eq (E) P1 X@ 3:ud
      (P1) mov (E) WANT(0,0)<1> TABLE(0,3)<0;1,0>
      mov (E) ARG! ID@
      mov (E) Z! ID@
      mov (one) U! 0:ud
      setp (NM) P2 65535:ud
      again:
      mov (one) S! 0:ud
      (P2) mov (E) Y! 1:ud
      mov (one) S! P2
      fbl (one) T! S$
      shl (one) AT! T$ 2:ud
      addr_add (one) A1(0)<1> &WANT AT$
      mov (one) F! r[A1(0),0]<0;1,0>:ud
      cmp.eq (E) P3 WANT(0,0)<1;1,0> F$
      mov (E) ARG! Z@
      (P3) ifcall (E) F$ # #
      (P3) mov (E) R! RET@
      (P3) mov (E) Y! 0:ud
      cmp.ne (E) P2 WANT(0,0)<1;1,0> F$
      (P3) mov (E) WANT(0,0)<1> 0:ud
      cmp.ne (E) P2 WANT(0,0)<1;1,0> 0:ud
      add (one) U! U$ 1:ud
      (P2) goto (E) again
      shl (one) U! U$ 20:ud
      or (E) R! R@ U$`,
    expected: (id) => (id + 10 ** ((id & 3) + 1)) | (4 << 20),
  },
  {
    title: "addresses kept in memory as qwords, and called as qwords",
    widths: every,
    functions: adders,
    declarations: `
      .decl TABLE v_type=G type=uq num_elts=4 align=GRF
      .decl LIST v_type=G type=uq num_elts=4 align=GRF`,
    kernel: `
      faddr plus2 TABLE(0,0)<1>
      faddr plus4 TABLE(0,1)<1>
      mov (one) TABLE(0,2)<1> 0:uq
      mov (one) TABLE(0,3)<1> 0:uq
      svm_block_st (2) STK$ TABLE.0
      mov (one) TABLE(0,1)<1> 0:uq
      svm_block_ld (2) STK$ LIST.0
      mov (E) ARG! ID@
      ifcall (E) LIST(0,1)<0;1,0> # #
      mov (E) R! RET@`,
    expected: (id) => id + 10000,
  },
  {
    title: "a bad address is ignored if no lane calls",
    widths: every,
    functions: adders,
    kernel: `
      mov (one) F! 0xdead:ud
      mov (E) RET! 3:ud
      cmp.gt (E) P1 ID@ 100:ud
      (P1) ifcall (E) F$ # #
      (P1.any) ifcall (E) F$ # #
      (P1) ifcall (one) F$ # #
      cmp.eq (E) P2 ID@ 0:ud
      (!P2) goto (E) after
      (P1) ifcall (M2_NM, 1) F$ # #
      after:
      mov (E) R! RET@`,
    expected: () => 3,
  },
  {
    title: "a function takes a function: it applies it twice",
    widths: every,
    functions: [
      ...adders,
      {
        name: "twice",
        takes: 2,
        returns: 1,
        body: `
          mov (one) F! ARG(#,0)<0;1,0>
          ifcall (E) F$ # #
          mov (E) ARG! RET@
          ifcall (E) F$ # #
          fret (E)`,
      },
    ],
    kernel: `
      faddr plus1 F!
      mov (E) ARG! ID@
      mov (one) ARG(#,0)<1> F$
      fcall (E) twice ## #
      mov (E) R! RET@
      faddr plus3 F!
      mov (one) ARG(#,0)<1> F$
      mov (E) ARG! R@
      faddr twice S!
      ifcall (E) S$ ## #
      mov (E) R! RET@`,
    expected: (id) => id + 20 + 2000,
  },
  {
    title: "addresses of functions differ, and two of one function do not",
    widths: every,
    functions: adders,
    kernel: `
      faddr plus1 S!
      faddr plus2 T!
      faddr plus1 U!
      cmp.eq (E) P1 S$ U$
      cmp.ne (E) P2 S$ T$
      (P1) add (E) R! R@ 1:ud
      (P2) add (E) R! R@ 10:ud
      cmp.ne (E) P3 S$ 0:ud
      (P3) add (E) R! R@ 100:ud`,
    expected: () => 111,
  },
  {
    title: "a scalar call by address, in a loop of one lane",
    widths: every,
    functions: [{ name: "f", takes: 1, returns: 1, body: "add (one) RET! ARG$ 7:ud\nfret (one)" }],
    kernel: `
      faddr f F!
      mov (one) S! 1:ud
      cmp.eq (E) P1 ID@ 3:ud
      (!P1) goto (E) end
      again:
      mov (one) ARG! S$
      ifcall (one) F$ # #
      mov (one) S! RET$
      add (E) R! R@ 1:ud
      cmp.lt (E) P2 S$ 30:ud
      (P2) goto (E) again
      end:
      shl (E) R! R@ 8:ud
      or (E) R! R@ S$`,
    expected: (id) => (id === 3 ? 5 << 8 : 0) | 36,
  },
];

import type { Program } from "../program.ts";

const every = [8, 16, 32] as const;
const tri = (n: number): number => (n * (n - 1)) / 2;

/** Several threads and groups, partial threads, barriers in functions. */
export const threads: readonly Program[] = [
  {
    title: "threads keep apart: variables, stacks, call masks",
    widths: every,
    items: 96,
    group: 32,
    functions: [
      {
        name: "sum",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) RET! 0:ud
          cmp.eq (E) P1 X@ 0:ud
          (P1) fret (E)
          add (E) ARG! X@ -1:d
          fcall (E) sum # #
          add (E) RET! RET@ X@
          fret (E)`,
      },
    ],
    kernel: `
      shr (E) ARG! ID@ 3:ud
      fcall (E) sum # #
      mov (E) R! RET@`,
    expected: (id) => tri((id >> 3) + 1),
  },
  {
    title: "a thread with fewer work items than lanes: the others are never active",
    widths: [8, 16],
    items: 21,
    group: 21,
    functions: [{ name: "f", takes: 1, returns: 1, body: "add (E) RET! ARG@ 1:ud\nfret (E)" }],
    kernel: `
      mov (one) S! 0:ud
      mov (NM) X! 0:ud
      mov (E) X! 1:ud
      mov (E) ARG! ID@
      fcall (E) f # #
      cmp.lt (E) P1 ID@ 18:ud
      (P1) goto (E) low
      add (one) S! S$ 1:ud
      low:
      shl (E) R! RET@ 8:ud
      add (E) R! R@ S$`,
    expected: (id, width) => ((id + 1) << 8) + (Math.floor(id / width) === Math.floor(20 / width) ? 1 : 0),
  },
  {
    title: "a barrier in a function that all threads reach by different ways",
    widths: [8, 16],
    items: 64,
    group: 32,
    declarations: `
      .decl SLOT v_type=G type=ud num_elts=16 align=GRF
      .decl BASE v_type=G type=ud num_elts=1 align=GRF`,
    functions: [
      {
        name: "exchange",
        takes: 2,
        returns: 1,
        body: `
          mov (one) BASE(0,0)<1> 0:ud
          shl (E) SLOT(0,0)<1> ARG@ 2:ud
          mov (E) X! ARG(#,0)<1;1,0>
          scatter4_scaled.R (E) %slm 0x0:ud SLOT.0 X.0
          barrier
          xor (E) SLOT(0,0)<1> SLOT(0,0)<1;1,0> 124:ud
          gather4_scaled.R (E) %slm 0x0:ud SLOT.0 X.0
          mov (E) RET! X@
          fret (E)`,
      },
    ],
    kernel: `
      and (E) ARG! ID@ 31:ud
      mul (E) ARG(#,0)<1> ID@ 3:ud
      cmp.lt (one) P1 ID$ 8:ud
      (P1) jmp (M1, 1) other
      fcall (E) exchange ## #
      jmp (M1, 1) meet
      other:
      faddr exchange F!
      ifcall (E) F$ ## #
      meet:
      mov (E) R! RET@`,
    expected: (id) => 3 * (id ^ 31),
  },
  {
    title: "subroutines of a thread call functions while the others wait",
    widths: [8, 16],
    items: 64,
    group: 32,
    functions: [
      { name: "f", takes: 1, returns: 1, body: "mul (E) X! ARG@ 7:ud\nmov (E) Y! X@\nadd (E) RET! Y@ 1:ud\nfret (E)" },
    ],
    kernel: `
      mul (E) X! ID@ 5:ud
      mul (E) Y! ID@ 11:ud
      barrier
      mov (E) ARG! ID@
      call (E) work
      add (E) R! X@ Y@
      add (E) R! R@ RET@`,
    subroutines: `
      .function "work"
      work:
      fcall (E) f # #
      ret (E)`,
    expected: (id) => 23 * id + 1,
  },
];

import type { Program } from "../program.ts";

const every = [8, 16, 32] as const;

const wanted = `
  .decl WANT v_type=G type=ud num_elts=32 align=GRF
  .decl AT v_type=G type=uw num_elts=1 align=GRF`;

/**
 * Calls the functions whose addresses the lanes have in WANT, one after the other, each with the lanes that want it.
 * `before` and `after` are inserted before and after each call, for the lanes of P3. WANT ends as 0; S, T, F and P2 are
 * overwritten.
 */
const callEach = (sizes: string, before: string, after: string): string => `
  again:
  setp (NM) P2 0:ud
  cmp.ne (E) P2 WANT@ 0:ud
  mov (one) S! P2
  fbl (one) T! S$
  shl (one) AT! T$ 2:ud
  addr_add (one) A1(0)<1> &WANT AT$
  mov (one) F! r[A1(0),0]<0;1,0>:ud
  cmp.eq (E) P3 WANT@ F$
  ${before}
  (P3) ifcall (E) F$ ${sizes}
  ${after}
  (P3) mov (E) WANT! 0:ud
  cmp.ne (E) P2 WANT@ 0:ud
  (P2) goto (E) again`;

const collatz = (n: number): number => (n === 1 ? 0 : 1 + collatz(n % 2 === 0 ? n / 2 : 3 * n + 1));

const tree = (n: number): number => {
  if (n >= 15) return n;
  const [left, right] = [tree(2 * n + 1), tree(2 * n + 2)];
  return n % 3 === 0 ? left + right : n % 3 === 1 ? left * 3 + right : left ^ (right << 2);
};

const alternate = (n: number, factor: 1 | 3): number =>
  n === 0 ? 7 : factor * alternate(n - 1, factor === 1 ? 3 : 1) + n;

/** How the halves of a thread are written. */
const halves = [
  { width: 16, low: "(M1, 8)", high: "(M3, 8)", row: 1 },
  { width: 32, low: "(M1, 16)", high: "(M5, 16)", row: 2 },
] as const;

/** Several of the rules of calls at once. */
export const combinations: readonly Program[] = [
  {
    title: "a machine whose states are functions: each returns the address of the next, until a lane gets null",
    widths: every,
    declarations: wanted,
    functions: [
      {
        name: "choose",
        takes: 1,
        returns: 1,
        body: `
          faddr halve S!
          faddr triple T!
          and (E) X! ARG@ 1:ud
          cmp.eq (E) P1 X@ 1:ud
          (P1) sel (E) RET! T$ S$
          cmp.eq (E) P1 ARG@ 1:ud
          (P1) mov (E) RET! 0:ud
          fret (E)`,
      },
      ...[
        { name: "halve", step: "shr (E) X! ARG@ 1:ud" },
        { name: "triple", step: "mul (E) X! ARG@ 3:ud\nadd (E) X! X@ 1:ud" },
      ].map(({ name, step }) => ({
        name,
        takes: 1,
        returns: 2,
        body: `
          ${step}
          mov (E) ARG! X@
          fcall (E) choose # #
          mov (E) RET(#,0)<1> RET@
          mov (E) RET! X@
          fret (E)`,
      })),
    ],
    kernel: `
      add (E) X! ID@ 1:ud
      mov (E) ARG! X@
      fcall (E) choose # #
      mov (E) WANT! RET@
      cmp.eq (E) P1 WANT@ 0:ud
      (P1) goto (E) done
      round:
      ${callEach("# ##", "mov (E) ARG! X@", "(P3) mov (E) X! RET@\n(P3) mov (E) W! RET(#,0)<1;1,0>")}
      add (E) R! R@ 1:ud
      mov (E) WANT! W@
      cmp.ne (E) P1 WANT@ 0:ud
      (P1) goto (E) round
      done:`,
    expected: (id) => collatz(id + 1),
  },
  {
    title: "trees whose nodes are evaluated by functions of their own, lane by lane, in a recursion",
    widths: every,
    declarations: wanted,
    functions: [
      ["plus", "add (E) RET! ARG@ ARG(#,0)<1;1,0>"],
      ["three", "mul (E) X! ARG@ 3:ud\nadd (E) RET! X@ ARG(#,0)<1;1,0>"],
      ["mix", "shl (E) X! ARG(#,0)<1;1,0> 2:ud\nxor (E) RET! ARG@ X@"],
    ]
      .map(([name, body]) => ({ name: name!, takes: 2, returns: 1, body: `${body}\nfret (E)` }))
      .concat({
        name: "tree",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) RET! X@
          cmp.ge (E) P1 X@ 15:ud
          (P1) fret (E)
          shl (E) ARG! X@ 1:ud
          add (E) ARG! ARG@ 1:ud
          fcall (E) tree # #
          mov (E) Y! RET@
          shl (E) ARG! X@ 1:ud
          add (E) ARG! ARG@ 2:ud
          fcall (E) tree # #
          mov (E) W! RET@
          mod (E) X! X@ 3:ud
          faddr plus F!
          mov (E) WANT! F$
          faddr three F!
          cmp.eq (E) P1 X@ 1:ud
          (P1) mov (E) WANT! F$
          faddr mix F!
          cmp.eq (E) P1 X@ 2:ud
          (P1) mov (E) WANT! F$
          ${callEach("## #", "mov (E) ARG! Y@\nmov (E) ARG(#,0)<1> W@", "(P3) mov (E) X! RET@")}
          mov (E) RET! X@
          fret (E)`,
      }),
    kernel: "and (E) ARG! ID@ 15:ud\nfcall (E) tree # #\nmov (E) R! RET@",
    expected: (id) => tree(id & 15),
  },
  {
    title: "calls of 8, 4, 2 channels, each with a function of its own; the rest do not call",
    widths: [16, 32],
    functions: [1, 2, 3].map((n) => ({
      name: `by${n}`,
      takes: 1,
      returns: 1,
      body: `mul (E) RET! ARG@ ${n}:ud\nfret (E)`,
    })),
    kernel: [
      { exec: "(M1, 8)", element: "(0,0)", factor: 1 },
      { exec: "(M3, 4)", element: "(1,0)", factor: 2 },
      { exec: "(M4, 2)", element: "(1,4)", factor: 3 },
    ]
      .map(
        ({ exec, element, factor }) => `
          mov (E) ARG! ID@
          faddr by${factor} F!
          ifcall ${exec} F$ # #
          mov ${exec} R${element}<1> RET${element}<1;1,0>`,
      )
      .join("\n"),
    expected: (id) => (id < 8 ? id : id < 12 ? 2 * id : id < 14 ? 3 * id : 0),
  },
  {
    title: "a call without arguments and results: what it does is seen in %fp alone",
    widths: every,
    functions: [
      { name: "count", takes: 0, returns: 0, body: "add (one) %fp(0,0)<1> %fp(0,0)<0;1,0> 1:ud\nfret (E)" },
      {
        name: "twice",
        takes: 0,
        returns: 0,
        body: "faddr count F!\nifcall (one) F$ 0 0\nfcall (E) count 0 0\nfret (E)",
      },
    ],
    kernel: `
      mov (one) %fp(0,0)<1> 0:uq
      faddr twice F!
      cmp.lt (E) P1 ID@ 4:ud
      (P1) ifcall (E) F$ 0 0
      (!P1) ifcall (E) F$ 0 0
      cmp.gt (E) P1 ID@ 1000:ud
      (P1) ifcall (E) F$ 0 0
      ifcall (one) F$ 0 0
      mov (one) S! %fp(0,0)<0;1,0>
      mov (E) R! S$`,
    expected: () => 6,
  },
  {
    title: "functions that call each other by the address that they are given, each from a subroutine of its own",
    widths: every,
    functions: (
      [
        ["down", 1],
        ["up", 3],
      ] as const
    ).map(([name, factor]) => ({
      name,
      takes: 2,
      returns: 1,
      body: `
        mov (E) X! ARG@
        mov (one) F! ARG(#,0)<0;1,0>
        call (E) walk
        mov (E) RET! Y@
        fret (E)
        .function "walk"
        walk:
        mov (E) Y! 7:ud
        cmp.eq (E) P1 X@ 0:ud
        (P1) ret (E)
        add (E) ARG! X@ -1:d
        faddr ${name} S!
        mov (NM) ARG(#,0)<1> S$
        ifcall (E) F$ ## #
        mul (E) Y! RET@ ${factor}:ud
        add (E) Y! Y@ X@
        ret (E)`,
    })),
    kernel: `
      and (E) ARG! ID@ 7:ud
      faddr up S!
      mov (NM) ARG(#,0)<1> S$
      cmp.ne (E) P1 ID@ 5:ud
      (P1) fcall (E) down ## #
      (P1) mov (E) R! RET@`,
    expected: (id) => (id === 5 ? 0 : alternate(id & 7, 1)),
  },
  {
    title: "a function that some lanes enter in the middle of its loop, and leave at three places",
    widths: every,
    functions: [
      { name: "step", takes: 1, returns: 1, body: "mul (E) X! ARG@ 5:ud\nand (E) RET! X@ 255:ud\nfret (E)" },
      {
        name: "walk",
        takes: 1,
        returns: 1,
        body: `
          faddr step F!
          mov (E) X! ARG@
          mov (E) Y! 0:ud
          and (E) Z! X@ 1:ud
          cmp.eq (E) P1 Z@ 1:ud
          (P1) goto (E) middle
          again:
          mov (E) ARG! X@
          ifcall (E) F$ # #
          add (E) X! RET@ 1:ud
          cmp.eq (E) P2 X@ 1:ud
          (P2) goto (E) out
          middle:
          add (E) Y! Y@ 1:ud
          mov (E) RET! Y@
          cmp.ge (E) P2 Y@ 6:ud
          (P2) fret (E)
          add (E) X! X@ 3:ud
          cmp.lt (E) P2 X@ 200:ud
          (P2) goto (E) again
          add (E) RET! X@ 1000:ud
          fret (E)
          out:
          mov (E) RET! 5000:ud
          fret (E)`,
      },
    ],
    kernel: "mul (E) ARG! ID@ 7:ud\nfcall (E) walk # #\nmov (E) R! RET@",
    expected: (id) => {
      let x = 7 * id;
      let middle = (x & 1) === 1;
      for (let y = 1; ; y++) {
        if (!middle) x = ((x * 5) & 255) + 1;
        if (!middle && x === 1) return 5000;
        middle = false;
        if (y >= 6) return y;
        x += 3;
        if (x >= 200) return x + 1000;
      }
    },
  },
  {
    title: "a scalar call from a function that some lanes execute: it adds what all lanes of the thread have",
    widths: every,
    functions: [
      {
        name: "sum",
        takes: 1,
        returns: 1,
        body: `
          mov (one) S! 0:ud
          mov (one) T! 0:ud
          again:
          shl (one) U! T$ 2:ud
          mov (one) AT! U$
          addr_add (one) A1(0)<1> &HELD AT$
          mov (NM) HELD(0,0)<1> ARG@
          add (one) S! S$ r[A1(0),0]<0;1,0>:ud
          add (one) T! T$ 1:ud
          cmp.lt (one) P1 T$ 8:ud
          (P1) goto (M1, 1) again
          mov (E) RET! S$
          fret (E)`,
      },
      {
        name: "some",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (NM) ARG! X@
          fcall (one) sum # #
          add (E) RET! RET@ X@
          fret (E)`,
      },
    ],
    declarations: `
      .decl HELD v_type=G type=ud num_elts=32 align=GRF
      .decl AT v_type=G type=uw num_elts=1 align=GRF`,
    kernel: `
      mov (E) ARG! ID@
      fcall (E) some # #
      mov (E) R! RET@`,
    expected: (id) => 28 + id,
  },
  ...halves.flatMap(({ width, low, high, row }): Program[] => [
    {
      title: `returns of half the channels, ${low} and ${high}: the lower lanes leave, the upper ones go on`,
      widths: [width],
      functions: [
        {
          name: "halves",
          takes: 1,
          returns: 1,
          body: `
            add (E) RET! ARG@ 1:ud
            fret ${low}
            add (E) RET! RET@ 10:ud
            and (E) X! ARG@ 1:ud
            cmp.eq (E) P1 X@ 1:ud
            (P1) fret ${high}
            add (E) RET! RET@ 100:ud
            fret (E)`,
        },
      ],
      kernel: `
        cmp.ne (E) P1 ID@ 3:ud
        mov (E) ARG! ID@
        (P1) fcall (E) halves # #
        (P1) mov (E) R! RET@`,
      expected: (id) => (id === 3 ? 0 : id + (id < width / 2 ? 1 : (id & 1) === 1 ? 11 : 111)),
    },
    {
      title: `a subroutine for the channels of ${high} alone, which those of ${low} leave at once`,
      widths: [width],
      kernel: `
        mov (E) R! ID@
        call ${high} sub
        add (E) R! R@ 1000:ud
        call (E) sub`,
      subroutines: `
        .function "sub"
        sub:
        add (E) R! R@ 1:ud
        ret ${low}
        add (E) R! R@ 10:ud
        ret (E)`,
      expected: (id) => id + 1000 + (id < width / 2 ? 1 : 22),
    },
    {
      title: `each half of a thread, ${low} and ${high}, calls in a loop of its own, as often as its lanes want`,
      widths: [width],
      functions: [
        { name: "step", takes: 1, returns: 1, body: "mul (E) RET! ARG@ 3:ud\nadd (E) RET! RET@ 1:ud\nfret (E)" },
      ],
      kernel: `
        and (E) X! ID@ 3:ud
        mov (E) Y! ID@
        low:
        mov (E) ARG! Y@
        fcall ${low} step # #
        mov ${low} Y! RET@
        cmp.gt ${low} P1 X@ 0:ud
        (P1) add ${low} X! X@ -1:d
        (P1) goto ${low} low
        high:
        mov (E) ARG! Y@
        fcall ${high} step # #
        mov ${high} Y(${row},0)<1> RET(${row},0)<1;1,0>
        cmp.gt ${high} P1 X(${row},0)<1;1,0> 0:ud
        (P1) add ${high} X(${row},0)<1> X(${row},0)<1;1,0> -1:d
        (P1) goto ${high} high
        mov (E) R! Y@`,
      expected: (id) => Array.from({ length: (id & 3) + 1 }).reduce((y: number) => 3 * y + 1, id),
    },
  ]),
];

import type { Program } from "../program.ts";

const every = [8, 16, 32] as const;

const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));
const ackermann = (m: number, n: number): number =>
  m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
const female = (n: number): number => (n === 0 ? 1 : n - male(female(n - 1)));
const male = (n: number): number => (n === 0 ? 0 : n - female(male(n - 1)));
const binomial = (n: number, k: number): number =>
  k === 0 || k === n ? 1 : binomial(n - 1, k - 1) + binomial(n - 1, k);

/** Recursion: several activations of one function. */
export const recursion: readonly Program[] = [
  {
    title: "a factorial: lanes leave the recursion at different depths",
    widths: every,
    functions: [
      {
        name: "factorial",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) RET! 1:ud
          cmp.le (E) P1 X@ 1:ud
          (P1) fret (E)
          add (E) ARG! X@ -1:d
          fcall (E) factorial # #
          mul (E) RET! RET@ X@
          fret (E)`,
      },
    ],
    kernel: `
      and (E) ARG! ID@ 7:ud
      fcall (E) factorial # #
      mov (E) R! RET@`,
    expected: (id) => factorial(id & 7),
  },
  {
    title: "Ackermann's function: recursion in an argument, and calls whose result is returned as it is",
    widths: [8, 16],
    functions: [
      {
        name: "ackermann",
        takes: 2,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) Y! ARG(#,0)<1;1,0>
          add (E) RET! Y@ 1:ud
          cmp.eq (E) P1 X@ 0:ud
          (P1) fret (E)
          cmp.ne (E) P2 Y@ 0:ud
          (P2) goto (E) both
          add (E) ARG! X@ -1:d
          mov (E) ARG(#,0)<1> 1:ud
          fcall (E) ackermann ## #
          fret (E)
          both:
          mov (E) ARG! X@
          add (E) ARG(#,0)<1> Y@ -1:d
          fcall (E) ackermann ## #
          mov (E) ARG(#,0)<1> RET@
          add (E) ARG! X@ -1:d
          fcall (E) ackermann ## #
          fret (E)`,
      },
    ],
    kernel: `
      and (E) ARG! ID@ 1:ud
      shr (E) X! ID@ 1:ud
      and (E) ARG(#,0)<1> X@ 3:ud
      add (E) ARG! ARG@ 1:ud
      fcall (E) ackermann ## #
      mov (E) R! RET@`,
    expected: (id) => ackermann((id & 1) + 1, (id >> 1) & 3),
  },
  {
    title: "mutual recursion decides whether a number is even",
    widths: every,
    functions: [
      {
        name: "even",
        takes: 1,
        returns: 1,
        body: `
          mov (E) RET! 1:ud
          cmp.eq (E) P1 ARG@ 0:ud
          (P1) fret (E)
          add (E) ARG! ARG@ -1:d
          fcall (E) odd # #
          fret (E)`,
      },
      {
        name: "odd",
        takes: 1,
        returns: 1,
        body: `
          mov (E) RET! 0:ud
          cmp.eq (E) P1 ARG@ 0:ud
          (P1) fret (E)
          add (E) ARG! ARG@ -1:d
          fcall (E) even # #
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      fcall (E) even # #
      mov (E) R! RET@`,
    expected: (id) => (id % 2 === 0 ? 1 : 0),
  },
  {
    title: "Hofstadter's female and male sequences, through addresses",
    widths: [8, 16],
    functions: [
      {
        name: "female",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) RET! 1:ud
          cmp.eq (E) P1 X@ 0:ud
          (P1) fret (E)
          faddr female F!
          add (E) ARG! X@ -1:d
          ifcall (E) F$ # #
          faddr male F!
          mov (E) ARG! RET@
          ifcall (E) F$ # #
          add (E) RET! X@ (-)RET@
          fret (E)`,
      },
      {
        name: "male",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) RET! 0:ud
          cmp.eq (E) P1 X@ 0:ud
          (P1) fret (E)
          faddr male F!
          add (E) ARG! X@ -1:d
          ifcall (E) F$ # #
          faddr female F!
          mov (E) ARG! RET@
          ifcall (E) F$ # #
          add (E) RET! X@ (-)RET@
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      fcall (E) female # #
      mov (E) X! RET@
      mov (E) ARG! ID@
      fcall (E) male # #
      shl (E) X! X@ 8:ud
      or (E) R! X@ RET@`,
    expected: (id) => (female(id) << 8) | male(id),
  },
  {
    title: "binomial coefficients: two recursive calls with a value held across the first",
    widths: [16],
    functions: [
      {
        name: "binomial",
        takes: 2,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) Y! ARG(#,0)<1;1,0>
          mov (E) RET! 1:ud
          cmp.eq (E) P1 Y@ 0:ud
          (P1) fret (E)
          cmp.eq (E) P1 Y@ X@
          (P1) fret (E)
          add (E) ARG! X@ -1:d
          add (E) ARG(#,0)<1> Y@ -1:d
          fcall (E) binomial ## #
          mov (E) Z! RET@
          add (E) ARG! X@ -1:d
          mov (E) ARG(#,0)<1> Y@
          fcall (E) binomial ## #
          add (E) RET! RET@ Z@
          fret (E)`,
      },
    ],
    kernel: `
      and (E) ARG(#,0)<1> ID@ 3:ud
      shr (E) X! ID@ 1:ud
      and (E) X! X@ 7:ud
      add (E) ARG! X@ ARG(#,0)<1;1,0>
      fcall (E) binomial ## #
      mov (E) R! RET@`,
    expected: (id) => binomial(((id >> 1) & 7) + (id & 3), id & 3),
  },
  {
    title: "scalar recursion, sixty deep",
    widths: every,
    functions: [
      {
        name: "down",
        takes: 1,
        returns: 1,
        body: `
          mov (one) S! ARG$
          mov (NM) RET! 0:ud
          cmp.eq (one) P1 S$ 0:ud
          (P1) fret (one)
          add (one) ARG! S$ -1:d
          fcall (one) down # #
          add (E) RET! RET@ S$
          fret (one)`,
      },
    ],
    kernel: `
      mov (one) ARG! 60:ud
      fcall (one) down # #
      add (E) R! RET@ ID@`,
    expected: (id) => id + (60 * 61) / 2,
  },
  {
    title: "lanes go on alone while the others wait: the depth is each lane's own number",
    widths: every,
    functions: [
      {
        name: "depth",
        takes: 2,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) Y! ARG(#,0)<1;1,0>
          mov (E) RET! Y@
          cmp.gt (E) P1 X@ 0:ud
          add (E) ARG! X@ -1:d
          add (E) ARG(#,0)<1> Y@ Y@
          add (E) ARG(#,0)<1> ARG(#,0)<1;1,0> 1:ud
          (P1) fcall (E) depth ## #
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      and (E) ARG! ARG@ 15:ud
      mov (E) ARG(#,0)<1> 0:ud
      fcall (E) depth ## #
      mov (E) R! RET@`,
    expected: (id) => 2 ** (id & 15) - 1,
  },
  {
    title: "frames on the stack that %sp points to: each activation keeps a vector in memory",
    widths: [16],
    functions: [
      {
        name: "sum",
        takes: 1,
        returns: 1,
        body: `
          mov (one) Q! %fp(0,0)<0;1,0>
          mov (one) %fp(0,0)<1> %sp(0,0)<0;1,0>
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> 64:ud
          mov (NM) X! ARG@
          svm_block_st (4) %fp(0,0)<0;1,0> X.0
          mov (E) RET! 0:ud
          cmp.ne (E) P1 X@ 0:ud
          add (E) ARG! X@ -1:d
          (P1) fcall (E) sum # #
          svm_block_ld (4) %fp(0,0)<0;1,0> Y.0
          add (E) RET! RET@ Y@
          mov (one) %sp(0,0)<1> %fp(0,0)<0;1,0>
          mov (one) %fp(0,0)<1> Q$
          fret (E)`,
      },
    ],
    kernel: `
      mov (one) %sp(0,0)<1> STK$
      mov (one) %fp(0,0)<1> STK$
      and (E) ARG! ID@ 7:ud
      fcall (E) sum # #
      mov (E) R! RET@
      add (one) Q! %sp(0,0)<0;1,0> (-)STK$
      mov (one) S! Q$
      shl (one) S! S$ 16:ud
      add (E) R! R@ S$`,
    expected: (id) => ((id & 7) * ((id & 7) + 1)) / 2,
  },
  {
    title: "a sum of thousands of numbers, an activation for each",
    widths: [16],
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
      add (E) ARG! ID@ 5000:ud
      fcall (E) sum # #
      mov (E) R! RET@`,
    expected: (id) => ((id + 5000) * (id + 5001)) / 2,
  },
];

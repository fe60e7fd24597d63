import type { Program } from "../program.ts";

const every = [8, 16, 32] as const;

/** `call` and `ret`: subroutines of a routine, which share its variables. */
export const subroutines: readonly Program[] = [
  {
    title: "a subroutine is called from two places with different lanes",
    widths: every,
    kernel: `
      mov (E) R! ID@
      cmp.lt (E) P1 ID@ 4:ud
      (P1) call (E) twice
      (!P1) goto (E) rest
      add (E) R! R@ 1:ud
      rest:
      call (E) twice`,
    subroutines: `
      .function "twice"
      twice:
      add (E) R! R@ R@
      ret (E)`,
    expected: (id) => (id < 4 ? 2 * (2 * id + 1) : 2 * id),
  },
  {
    title: "a subroutine that lanes leave early, within divergent code",
    widths: every,
    kernel: `
      and (E) X! ID@ 1:ud
      cmp.eq (E) P1 X@ 1:ud
      (P1) goto (E) odd
      call (E) classify
      add (E) R! R@ 1:ud
      goto (E) meet
      odd:
      call (E) classify
      add (E) R! R@ 2:ud
      meet:
      add (E) R! R@ 100:ud`,
    subroutines: `
      .function "classify"
      classify:
      cmp.lt (E) P2 ID@ 3:ud
      mov (E) R! 1000:ud
      (P2) ret (E)
      cmp.lt (E) P2 ID@ 6:ud
      mov (E) R! 2000:ud
      (P2) ret (E)
      mov (E) R! 3000:ud
      ret (E)`,
    expected: (id) => (id < 3 ? 1000 : id < 6 ? 2000 : 3000) + 1 + (id & 1) + 100,
  },
  {
    title: "a subroutine that comes after another calls it, in a divergent loop",
    widths: every,
    kernel: `
      and (E) X! ID@ 3:ud
      again:
      call (E) outer
      cmp.gt (E) P1 X@ 0:ud
      (P1) add (E) X! X@ -1:d
      (P1) goto (E) again`,
    subroutines: `
      .function "inner"
      inner:
      add (E) R! R@ 1:ud
      cmp.lt (E) P2 R@ Y@
      (P2) goto (E) inner_again
      ret (E)
      inner_again:
      add (E) R! R@ 10:ud
      ret (E)
      .function "outer"
      outer:
      mov (E) Y! X@
      cmp.gt (E) P3 X@ 1:ud
      (P3) call (E) inner
      add (E) R! R@ 100:ud
      ret (E)`,
    expected: (id) => {
      let r = 0;
      for (let x = id & 3; x >= 0; x--) {
        if (x > 1) {
          r += 1;
          if (r < x) r += 10;
        }
        r += 100;
      }
      return r;
    },
  },
  {
    title: "a scalar call of a subroutine executes in every lane",
    widths: every,
    kernel: `
      cmp.eq (E) P1 ID@ 2:ud
      (!P1) goto (E) after
      call (one) bump
      add (E) R! R@ 1000:ud
      after:
      add (E) R! R@ 1:ud`,
    subroutines: `
      .function "bump"
      bump:
      add (E) R! R@ ID@
      add (E) R! R@ 10:ud
      ret (E)`,
    expected: (id) => id + 11 + (id === 2 ? 1000 : 0),
  },
  {
    title: "predicates are the routine's: what a subroutine compares, its caller sees",
    widths: every,
    kernel: `
      cmp.lt (E) P1 ID@ 100:ud
      call (E) compare
      (P1) add (E) R! R@ 1:ud`,
    subroutines: `
      .function "compare"
      compare:
      cmp.ge (E) P1 ID@ 5:ud
      ret (E)`,
    expected: (id) => (id >= 5 ? 1 : 0),
  },
  {
    title: "a subroutine that no lane calls",
    widths: every,
    kernel: `
      cmp.gt (E) P1 ID@ 99:ud
      mov (one) S! 1:ud
      (P1) call (E) never
      mov (E) R! S$`,
    subroutines: `
      .function "never"
      never:
      mov (one) S! 2:ud
      ret (E)`,
    expected: () => 1,
  },
  {
    title: "any of the channels sends all active lanes into a subroutine",
    widths: [16],
    kernel: `
      cmp.eq (E) P1 ID@ 9:ud
      cmp.lt (E) P2 ID@ 4:ud
      (!P2) goto (E) rest
      (P1.any) call (E) bump
      rest:
      (P1.all) call (E) bump
      (P1.any) call (M1, 8) bump
      (P1.any) call (M3, 8) bump`,
    subroutines: `
      .function "bump"
      bump:
      add (E) R! R@ 1:ud
      ret (E)`,
    expected: (id) => (id < 4 ? 1 : 0) + (id >= 8 ? 1 : 0),
  },
  {
    title: "subroutines of a function, which is called by some lanes, recursively",
    widths: every,
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) Y! 0:ud
          call (E) weigh
          cmp.gt (E) P1 X@ 1:ud
          mov (E) RET! 0:ud
          shr (E) ARG! X@ 1:ud
          (P1) fcall (E) f # #
          add (E) RET! RET@ Y@
          fret (E)
          .function "weigh"
          weigh:
          and (E) Y! X@ 1:ud
          cmp.eq (E) P2 Y@ 0:ud
          (P2) ret (E)
          mul (E) Y! X@ X@
          ret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      cmp.gt (E) P1 ID@ 2:ud
      (P1) fcall (E) f # #
      (P1) mov (E) R! RET@`,
    expected: (id) => {
      if (id <= 2) return 0;
      let r = 0;
      for (let x = id; x > 0; x >>= 1) r += x % 2 === 1 ? x * x : 0;
      return r;
    },
  },
  {
    title: "a function called from a subroutine, whose lanes have partly returned",
    widths: every,
    functions: [{ name: "f", takes: 1, returns: 1, body: "mul (E) RET! ARG@ 3:ud\nfret (E)" }],
    kernel: `
      mov (NM) RET! 0:ud
      call (E) work
      add (E) R! R@ 1:ud`,
    subroutines: `
      .function "work"
      work:
      cmp.ge (E) P1 ID@ 6:ud
      (P1) ret (E)
      mov (E) ARG! ID@
      fcall (E) f # #
      mov (E) R! RET@
      ret (E)`,
    expected: (id) => (id < 6 ? 3 * id : 0) + 1,
  },
];

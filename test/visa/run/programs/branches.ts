import type { Program } from "../program.ts";

const every = [8, 16, 32] as const;

const collatz = (n: number): number => (n === 1 ? 0 : 1 + collatz(n % 2 === 0 ? n / 2 : 3 * n + 1));
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
const range = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i);
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Lanes diverge and converge again; unmasked instructions run once per path. */
export const branches: readonly Program[] = [
  {
    title: "a predicate is moved as a whole, though channel 0 is elsewhere: IGC drops the mask",
    widths: every,
    kernel: `
      cmp.eq (E) P1 ID@ 0:ud
      cmp.gt (E) P2 ID@ 2:ud
      (P1) goto (E) done
      mov (M1, 1) S(0,0)<1> P2
      mov (E) R! S$
      done:`,
    expected: (id, width) => (id === 0 ? 0 : 2 ** width - 8),
  },
  {
    title: "a loop that lanes leave at different times",
    widths: every,
    kernel: `
      add (E) X! ID@ 1:ud
      again:
      cmp.eq (E) P1 X@ 1:ud
      (P1) goto (E) done
      add (E) R! R@ 1:ud
      and (E) Y! X@ 1:ud
      shr (E) Z! X@ 1:ud
      mad (E) W! X@ 3:ud 1:ud
      cmp.ne (E) P2 Y@ 0:ud
      (P2) sel (E) X! W@ Z@
      goto (E) again
      done:`,
    expected: (id) => collatz(id + 1),
  },
  {
    title: "nested loops: triangular numbers of triangular numbers",
    widths: every,
    kernel: `
      and (E) X! ID@ 7:ud
      outer:
      mov (E) Y! X@
      inner:
      add (E) R! R@ Y@
      cmp.gt (E) P1 Y@ 0:ud
      (P1) add (E) Y! Y@ -1:d
      (P1) goto (E) inner
      cmp.gt (E) P2 X@ 0:ud
      (P2) add (E) X! X@ -1:d
      (P2) goto (E) outer`,
    expected: (id) => sum(range((id & 7) + 1).map((n) => sum(range(n + 1)))),
  },
  {
    title: "break, continue and an early way out of both loops",
    widths: every,
    kernel: `
      mov (E) X! 0:ud
      outer:
      mov (E) Y! 0:ud
      inner:
      mul (E) Z! X@ Y@
      cmp.eq (E) P1 Z@ ID@
      (P1) goto (E) out
      add (E) Y! Y@ 1:ud
      cmp.gt (E) P2 Y@ X@
      (P2) goto (E) next
      and (E) W! Y@ 1:ud
      cmp.ne (E) P3 W@ 0:ud
      (P3) goto (E) inner
      add (E) R! R@ 1:ud
      goto (E) inner
      next:
      add (E) X! X@ 1:ud
      cmp.lt (E) P4 X@ 6:ud
      (P4) goto (E) outer
      add (E) R! R@ 1000:ud
      goto (E) end
      out:
      add (E) R! R@ 100:ud
      end:`,
    expected: (id) => {
      let count = 0;
      for (let x = 0; x < 6; x++) {
        for (let y = 0; ; ) {
          if (x * y === id) return count + 100;
          if (++y > x) break;
          if (y % 2 === 0) count++;
        }
      }
      return count + 1000;
    },
  },
  {
    title: "a switch by a chain of branches: each lane executes its own case, and falls into the next one",
    widths: every,
    kernel: `
      and (E) X! ID@ 3:ud
      cmp.eq (E) P1 X@ 1:ud
      (P1) goto (E) one
      cmp.eq (E) P1 X@ 2:ud
      (P1) goto (E) two
      cmp.eq (E) P1 X@ 3:ud
      (P1) goto (E) three
      add (E) R! R@ 1:ud
      goto (E) end
      three:
      add (E) R! R@ 10:ud
      two:
      add (E) R! R@ 100:ud
      one:
      add (E) R! R@ 1000:ud
      end:
      add (E) R! R@ 10000:ud`,
    expected: (id) => [10001, 11000, 11100, 11110][id & 3]!,
  },
  {
    title: "two loops with two entries each: lanes enter in the middle",
    widths: every,
    kernel: `
      mov (E) X! ID@
      and (E) Y! ID@ 1:ud
      cmp.ne (E) P1 Y@ 0:ud
      (P1) goto (E) second
      first:
      add (E) R! R@ 1:ud
      cmp.lt (E) P2 X@ 2:ud
      (P2) goto (E) end
      add (E) X! X@ -2:d
      second:
      add (E) R! R@ 100:ud
      cmp.lt (E) P3 X@ 3:ud
      (P3) goto (E) end
      add (E) X! X@ -3:d
      goto (E) first
      end:`,
    expected: (id) => {
      let [x, r] = [id, 0];
      for (let second = id % 2 === 1; ; second = !second) {
        r += second ? 100 : 1;
        const step = second ? 3 : 2;
        if (x < step) return r;
        x -= step;
      }
    },
  },
  {
    title: "a scalar counter without mask counts the paths that any lane takes, and those alone",
    widths: every,
    kernel: `
      mov (one) S! 0:ud
      cmp.lt (E) P1 ID@ 3:ud
      (P1) goto (E) low
      add (one) S! S$ 1:ud
      cmp.gt (E) P2 ID@ 1000:ud
      (!P2) goto (E) meet
      add (one) S! S$ 100:ud
      goto (E) meet
      low:
      add (one) S! S$ 10:ud
      meet:
      add (one) S! S$ 1000:ud
      mov (E) R! S$`,
    expected: () => 1011,
  },
  {
    title: "a scalar counter without mask counts the rounds of the lane that stays longest",
    widths: every,
    kernel: `
      mov (one) S! 0:ud
      and (E) X! ID@ 5:ud
      again:
      add (one) S! S$ 1:ud
      cmp.gt (E) P1 X@ 0:ud
      (P1) add (E) X! X@ -1:d
      (P1) goto (E) again
      mov (E) R! S$`,
    expected: () => 6,
  },
  {
    title: "unmasked instructions write to lanes that wait elsewhere",
    widths: every,
    kernel: `
      mov (E) X! 1:ud
      cmp.eq (E) P1 ID@ 3:ud
      (!P1) goto (E) meet
      mov (NM) X! 2:ud
      mov (E) X! 3:ud
      meet:
      mov (E) R! X@`,
    expected: (id) => (id === 3 ? 3 : 2),
  },
  {
    title: "a branch of execution size 1 moves all active lanes, and no lane that waits elsewhere",
    widths: every,
    kernel: `
      and (E) X! ID@ 1:ud
      cmp.eq (E) P1 X@ 0:ud
      (P1) goto (E) even
      goto (M1, 1) odd
      add (E) R! R@ 1:ud
      odd:
      add (E) R! R@ 10:ud
      even:
      add (E) R! R@ 100:ud`,
    expected: (id) => (id % 2 === 1 ? 110 : 100),
  },
  {
    title: "a uniform loop, by jmp and by goto of execution size 1",
    widths: every,
    kernel: `
      mov (one) S! 0:ud
      first:
      add (E) R! R@ ID@
      add (one) S! S$ 1:ud
      cmp.lt (one) P1 S$ 5:ud
      (P1) jmp (M1, 1) first
      second:
      add (E) R! R@ 1000:ud
      add (one) S! S$ -1:d
      cmp.gt (one) P1 S$ 2:ud
      (P1) goto (M1, 1) second`,
    expected: (id) => 5 * id + 3000,
  },
  {
    title: "a uniform branch reads the predicate of its own channel",
    widths: [16],
    kernel: `
      cmp.eq (E) P1 ID@ 8:ud
      (P1) goto (M3, 1) taken
      add (E) R! R@ 1:ud
      taken:
      (P1) goto (M1, 1) untaken
      add (E) R! R@ 10:ud
      untaken:
      (!P1) goto (M1, 1) end
      add (E) R! R@ 100:ud
      end:`,
    expected: () => 10,
  },
  {
    title: "a branch of 8 channels in a thread of 16 leaves the others where they are",
    widths: [16],
    kernel: `
      goto (M1, 8) low
      add (E) R! R@ 1:ud
      low:
      cmp.ne (E) P1 ID@ 12:ud
      (P1) goto (M3, 8) high
      add (E) R! R@ 10:ud
      high:
      add (E) R! R@ 100:ud`,
    expected: (id) => (id < 8 ? 0 : 1) + (id < 8 || id === 12 ? 10 : 0) + 100,
  },
  {
    title: "a loop that goes on for all while any lane has not finished",
    widths: every,
    kernel: `
      and (E) X! ID@ 7:ud
      again:
      add (E) R! R@ 1:ud
      cmp.gt (E) P1 X@ 0:ud
      (P1) add (E) X! X@ -1:d
      (P1.any) goto (E) again`,
    expected: () => 8,
  },
  {
    title: "a loop that goes on while all have not finished",
    widths: every,
    kernel: `
      and (E) X! ID@ 7:ud
      add (E) X! X@ 3:ud
      again:
      add (E) R! R@ 1:ud
      add (E) X! X@ -1:d
      cmp.gt (E) P1 X@ 0:ud
      (P1.all) goto (E) again
      shl (E) X! X@ 8:ud
      or (E) R! R@ X@`,
    expected: (id) => 3 | ((id & 7) << 8),
  },
  {
    title: "Euclid's algorithm, with a function in the loop",
    widths: every,
    functions: [
      {
        name: "remainder",
        takes: 2,
        returns: 1,
        body: `
          mov (E) RET! ARG@
          again:
          cmp.lt (E) P1 RET@ ARG(#,0)<1;1,0>
          (P1) fret (E)
          add (E) RET! RET@ (-)ARG(#,0)<1;1,0>
          goto (E) again`,
      },
    ],
    kernel: `
      mov (E) X! 60:ud
      add (E) Y! ID@ 1:ud
      again:
      cmp.eq (E) P1 Y@ 0:ud
      (P1) goto (E) done
      mov (E) ARG! X@
      mov (E) ARG(#,0)<1> Y@
      fcall (E) remainder ## #
      mov (E) X! Y@
      mov (E) Y! RET@
      goto (E) again
      done:
      mov (E) R! X@`,
    expected: (id) => gcd(60, id + 1),
  },
  {
    title: "a jump table interprets a program of bytes",
    widths: [16],
    declarations: `
      .decl CODE v_type=G type=ub num_elts=8 align=GRF
      .decl OP v_type=G type=ub num_elts=1 align=GRF`,
    kernel: `
      mov (one) CODE(0,0)<1> 1:ub
      mov (one) CODE(0,1)<1> 0:ub
      mov (one) CODE(0,2)<1> 2:ub
      mov (one) CODE(0,3)<1> 1:ub
      mov (one) CODE(0,4)<1> 3:ub
      addr_add (one) A1(0)<1> &CODE 0:uw
      mov (E) R! ID@
      step:
      mov (one) OP(0,0)<1> r[A1(0),0]<0;1,0>:ub
      addr_add (one) A1(0)<1> A1(0)<1> 1:uw
      switchjmp (M1, 1) OP(0,0)<0;1,0> (twice, increment, square, end)
      twice:
      add (E) R! R@ R@
      jmp (M1, 1) step
      increment:
      add (E) R! R@ 1:ud
      jmp (M1, 1) step
      square:
      mul (E) R! R@ R@
      jmp (M1, 1) step
      end:`,
    expected: (id) => (2 * (id + 1)) ** 2 + 1,
  },
  {
    title: "lanes that return from the kernel early are gone",
    widths: every,
    kernel: `
      mov (E) R! 1:ud
      svm_scatter.4.1 (M1, 8) SELF.0 R.0
      mov (one) S! 0:ud
      cmp.lt (E) P1 ID@ 5:ud
      (P1) ret (E)
      add (one) S! S$ 1:ud
      mov (E) R! 2:ud
      add (E) R! R@ S$`,
    expected: (id) => (id < 5 ? 1 : 3),
  },
  {
    title: "a return of execution size 1 ends the thread, with lanes that wait elsewhere",
    widths: [8],
    kernel: `
      mov (E) R! 1:ud
      svm_scatter.4.1 (M1, 8) SELF.0 R.0
      cmp.lt (E) P1 ID@ 5:ud
      (!P1) goto (E) waiting
      cmp.eq (E) P2 ID@ 0:ud
      (P2) ret (one)
      waiting:
      mov (E) R! 2:ud`,
    expected: () => 1,
  },
];

import { describe, expect, test } from "vitest";
import type { Program } from "../visa/run/program.ts";
import { runProgram } from "../visa/run/run-program.ts";

const every = [8, 16, 32] as const;

/** Threads wait with lanes elsewhere, which sanitizers would tell. */
const programs: readonly Program[] = [
  {
    title: "what follows a barrier is only a jump: the lanes that take it wait for those that went past the barrier",
    widths: every,
    items: 64,
    group: 64,
    kernel: `
      and (E) X! ID@ 7:ud
      cmp.lt (E) P1 X@ 4:ud
      (!P1) goto (E) past
      barrier
      goto (E) both
      past:
      mul (E) X! X@ 3:ud
      both:
      add (E) R! X@ 1:ud`,
    expected: (id) => ((id & 7) < 4 ? id & 7 : 3 * (id & 7)) + 1,
  },
  {
    title: "a thread waits as a whole: some lanes at a barrier two calls deep, the others where they are",
    widths: every,
    items: 64,
    group: 64,
    functions: [
      {
        name: "outer",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          and (E) Y! X@ 3:ud
          cmp.eq (E) P2 Y@ 1:ud
          (!P2) goto (E) past
          mul (E) ARG! X@ 3:ud
          call (E) work
          mov (E) X! RET@
          past:
          add (E) RET! X@ 10:ud
          fret (E)
          .function "work"
          work:
          barrier
          fcall (E) inner # #
          barrier
          add (E) RET! RET@ 100:ud
          ret (E)`,
      },
      {
        name: "inner",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          and (E) Y! X@ 8:ud
          cmp.eq (E) P1 Y@ 0:ud
          (P1) goto (E) low
          add (E) X! X@ 1000:ud
          low:
          barrier
          mov (E) RET! X@
          fret (E)`,
      },
    ],
    kernel: `
      and (E) X! ID@ 1:ud
      cmp.eq (E) P1 X@ 0:ud
      (P1) goto (E) even
      mov (E) ARG! ID@
      fcall (E) outer # #
      mov (E) R! RET@
      even:
      add (E) R! R@ ID@`,
    expected: (id) => {
      if (id % 2 === 0) return id;
      const inner = 3 * id + ((3 * id) & 8 ? 1000 : 0);
      return id + 10 + (id % 4 === 1 ? inner + 100 : id);
    },
  },
  {
    title: "a loop, in a function, that waits for another thread while lanes are elsewhere",
    widths: [8, 16],
    items: 64,
    group: 64,
    declarations: `
      .decl SLOT v_type=G type=ud num_elts=32 align=GRF
      .decl ZERO v_type=G type=ud num_elts=32 align=GRF
      .decl SEEN v_type=G type=ud num_elts=32 align=GRF`,
    functions: [
      {
        name: "await",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (NM) SLOT(0,0)<1> 0:ud
          mov (NM) ZERO(0,0)<1> 0:ud
          and (E) Y! X@ 3:ud
          cmp.eq (E) P1 Y@ 2:ud
          (!P1) goto (E) others
          again:
          dword_atomic.add (E) %slm SLOT.0 ZERO.0 %null.0 SEEN.0
          cmp.eq (E) P2 SEEN(0,0)<1;1,0> 0:ud
          (P2) goto (E) again
          add (E) X! X@ 1000:ud
          others:
          add (E) RET! X@ 1:ud
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      cmp.gt (E) P1 ID@ 31:ud
      (P1) goto (E) second
      fcall (E) await # #
      mov (E) R! RET@
      goto (E) end
      second:
      mov (NM) SLOT(0,0)<1> 0:ud
      mov (NM) ZERO(0,0)<1> 1:ud
      dword_atomic.add (E) %slm SLOT.0 ZERO.0 %null.0 %null.0
      end:`,
    expected: (id) => (id > 31 ? 0 : id + 1 + (id % 4 === 2 ? 1000 : 0)),
  },
  {
    title: "as many threads as a group may have, of fewer lanes than an instruction without a mask is for",
    widths: [8],
    items: 1024,
    group: 1024,
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 1,
        body: `
          mov (M1_NM, 16) ARG(4,0)<1> 5:ud
          mov (E) X! ARG@
          and (E) Y! X@ 1:ud
          barrier
          cmp.eq (E) P1 Y@ 0:ud
          (P1) goto (E) even
          barrier
          add (E) X! X@ 1:ud
          goto (E) end
          even:
          barrier
          end:
          add (E) RET! X@ X@
          fret (E)`,
      },
    ],
    kernel: "mov (E) ARG! ID@\nfcall (E) f # #\nmov (E) R! RET@",
    expected: (id) => 2 * (id + (id % 2)),
  },
];

describe.each(programs)("$title", (program) => {
  test.each(program.widths)("in threads of %d lanes", (width) => {
    const items = Array.from({ length: program.items ?? width }, (_, id) => id);
    const wanted = { reports: [], values: items.map((id) => program.expected(id, width) >>> 0) };
    const mode = { generate: true, watched: false };
    expect(runProgram(program, width, mode)).toEqual(wanted);
    expect(runProgram(program, width, { ...mode, compiled: true })).toEqual({ ...wanted, obstacle: null });
  });
});

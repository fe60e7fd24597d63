import type { Program } from "../program.ts";

const double = { name: "double", takes: 1, returns: 1, body: "add (E) RET! ARG@ ARG@\nfret (E)" };
const square = { name: "square", takes: 1, returns: 1, body: "mul (E) RET! ARG@ ARG@\nfret (E)" };
const every = [8, 16, 32] as const;

/** Which functions are called, with which lanes, and what they return. */
export const calls: readonly Program[] = [
  {
    title: "each arm of a branch calls its own function, and the lanes converge again",
    widths: every,
    functions: [double, square],
    kernel: `
      mov (E) ARG! ID@
      cmp.lt (E) P1 ID@ 5:ud
      (!P1) goto (E) big
      fcall (E) double # #
      mov (E) R! RET@
      goto (E) done
      big:
      mov (E) ARG! ID@
      fcall (E) square # #
      mov (E) R! RET@
      done:
      add (E) R! R@ 1:ud`,
    expected: (id) => (id < 5 ? 2 * id : id * id) + 1,
  },
  {
    title: "lanes that are predicated off do not call, and keep what they have",
    widths: every,
    functions: [square],
    kernel: `
      mov (E) R! 1000:ud
      and (E) X! ID@ 1:ud
      cmp.ne (E) P1 X@ 0:ud
      mov (E) ARG! ID@
      (P1) fcall (E) square # #
      (P1) mov (E) R! RET@`,
    expected: (id) => (id % 2 === 1 ? id * id : 1000),
  },
  {
    title: "an inverted predicate",
    widths: every,
    functions: [square],
    kernel: `
      mov (E) R! 1000:ud
      cmp.gt (E) P1 ID@ 3:ud
      mov (E) ARG! ID@
      (!P1) fcall (E) square # #
      (!P1) mov (E) R! RET@`,
    expected: (id) => (id <= 3 ? id * id : 1000),
  },
  {
    title: "any and all of the channels decide for every active lane",
    widths: [16],
    functions: [{ name: "mark", takes: 0, returns: 1, body: "mov (E) RET! 1:ud\nfret (E)" }],
    kernel: `
      cmp.eq (E) P1 ID@ 3:ud
      cmp.lt (E) P2 ID@ 16:ud
      mov (E) RET! 0:ud
      (P1.any) fcall (E) mark 0 #
      add (E) R! R@ RET@
      mov (E) RET! 0:ud
      (P1.all) fcall (E) mark 0 #
      shl (E) X! RET@ 1:ud
      add (E) R! R@ X@
      mov (E) RET! 0:ud
      (P2.all) fcall (E) mark 0 #
      shl (E) X! RET@ 2:ud
      add (E) R! R@ X@
      mov (E) RET! 0:ud
      (!P2.any) fcall (E) mark 0 #
      shl (E) X! RET@ 3:ud
      add (E) R! R@ X@
      mov (E) RET! 0:ud
      (!P1.all) fcall (E) mark 0 #
      shl (E) X! RET@ 4:ud
      add (E) R! R@ X@`,
    expected: () => 1 + 4 + 16,
  },
  {
    title: "any looks at the channels of the execution size alone, active or not",
    widths: [16],
    functions: [{ name: "mark", takes: 0, returns: 1, body: "mov (M1_NM, 16) RET! 7:ud\nfret (M3, 8)" }],
    kernel: `
      cmp.eq (E) P1 ID@ 3:ud
      cmp.eq (E) P2 ID@ 9:ud
      mov (E) RET! 0:ud
      (P1.any) fcall (M3, 8) mark 0 #
      mov (E) R! RET@
      cmp.eq (E) P3 ID@ 12:ud
      (!P3) goto (E) elsewhere
      (P2.any) fcall (M3, 8) mark 0 #
      mov (E) R! RET@
      elsewhere:
      add (E) R! R@ 1:ud`,
    expected: (id) => (id === 12 ? 8 : 1),
  },
  {
    title: "M3 with 8 channels calls with lanes 8 to 15",
    widths: [16],
    functions: [square],
    kernel: `
      mov (E) R! ID@
      mov (E) ARG! ID@
      fcall (M3, 8) square # #
      mov (M3, 8) R(1,0)<1> RET(1,0)<1;1,0>`,
    expected: (id) => (id >= 8 ? id * id : id),
  },
  {
    title: "M5 with 16 channels calls with the upper half of 32 lanes",
    widths: [32],
    functions: [{ name: "f", takes: 1, returns: 1, body: "mad (E) RET! ARG@ ARG@ ARG@\nfret (E)" }],
    kernel: `
      mov (E) R! ID@
      mov (E) ARG! ID@
      cmp.ne (E) P1 ID@ 20:ud
      (P1) fcall (M5, 16) f # #
      (P1) mov (M5, 16) R(2,0)<1> RET(2,0)<1;1,0>`,
    expected: (id) => (id >= 16 && id !== 20 ? id * id + id : id),
  },
  {
    title: "a scalar call executes in every lane, in divergent code too",
    widths: every,
    functions: [{ name: "f", takes: 1, returns: 1, body: "add (E) RET! ARG@ 100:ud\nfret (one)" }],
    kernel: `
      mov (NM) ARG! ID@
      mov (NM) RET! 0:ud
      cmp.eq (E) P1 ID@ 2:ud
      (!P1) goto (E) after
      fcall (one) f # #
      add (E) R! R@ 1000:ud
      after:
      add (E) R! R@ RET@`,
    expected: (id) => id + 100 + (id === 2 ? 1000 : 0),
  },
  {
    title: "the predicate of a scalar call is that of channel 0, whether it is active or not",
    widths: every,
    functions: [{ name: "f", takes: 0, returns: 1, body: "mov (E) RET! 5:ud\nfret (E)" }],
    kernel: `
      mov (NM) RET! 1:ud
      cmp.eq (E) P1 ID@ 0:ud
      cmp.ge (E) P2 ID@ 1:ud
      cmp.eq (E) P3 ID@ 4:ud
      (!P3) goto (E) after
      (P1) fcall (one) f 0 #
      add (E) R! R@ 10:ud
      after:
      add (E) R! R@ RET@
      mov (NM) RET! 1:ud
      (P2) fcall (one) f 0 #
      add (E) R! R@ RET@`,
    expected: (id) => 5 + 1 + (id === 4 ? 10 : 0),
  },
  {
    title: "a scalar call from within a masked call borrows the other lanes and gives them back",
    widths: [16],
    functions: [
      {
        name: "outer",
        takes: 1,
        returns: 1,
        body: `
          mov (NM) X! 0:ud
          mov (E) X! ARG@
          mov (NM) ARG! X@
          fcall (one) inner # #
          add (E) RET! RET@ X@
          fret (E)`,
      },
      {
        name: "inner",
        takes: 1,
        returns: 1,
        body: `
          cmp.lt (E) P1 ARG@ 6:ud
          add (E) RET! ARG@ 50:ud
          (P1) fret (E)
          add (E) RET! RET@ 500:ud
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      and (E) X! ID@ 1:ud
      cmp.eq (E) P1 X@ 1:ud
      mov (NM) RET! 0:ud
      (P1) fcall (E) outer # #
      mov (E) R! RET@`,
    // Lanes that are even are in `inner` with X = 0.
    expected: (id) => (id % 2 === 0 ? 50 : 2 * id + (id < 6 ? 50 : 550)),
  },
  {
    title: "what a callee does to %arg, to its variables and predicates is not seen by the caller",
    widths: every,
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 1,
        body: `
          cmp.lt (E) P1 ARG@ 100:ud
          mov (NM) X! 77:ud
          mov (one) S! 78:ud
          mov (NM) ARG! 79:ud
          mov (E) RET! X@
          fret (E)`,
      },
    ],
    kernel: `
      cmp.lt (E) P1 ID@ 4:ud
      mov (E) X! ID@
      mov (one) S! 9:ud
      mov (E) ARG! ID@
      fcall (E) f # #
      (P1) mov (E) R! 1000:ud
      add (E) R! R@ X@
      add (E) R! R@ S$
      add (E) R! R@ RET@`,
    expected: (id) => (id < 4 ? 1000 : 0) + id + 9 + 77,
  },
  {
    title: "two values in and two out",
    widths: every,
    functions: [
      {
        name: "divide",
        takes: 2,
        returns: 2,
        body: `
          mov (E) X! ARG@
          mov (E) Y! 0:ud
          again:
          cmp.lt (E) P1 X@ ARG(#,0)<1;1,0>
          (P1) goto (E) found
          add (E) Y! Y@ 1:ud
          add (E) X! X@ (-)ARG(#,0)<1;1,0>
          goto (E) again
          found:
          mov (E) RET! Y@
          mov (E) RET(#,0)<1> X@
          fret (E)`,
      },
    ],
    kernel: `
      mul (E) ARG! ID@ 7:ud
      add (E) ARG(#,0)<1> ID@ 1:ud
      fcall (E) divide ## ##
      shl (E) X! RET@ 16:ud
      or (E) R! X@ RET(#,0)<1;1,0>`,
    expected: (id) => (Math.floor((7 * id) / (id + 1)) << 16) | ((7 * id) % (id + 1)),
  },
  {
    title: "only return_size registers of %retval come back, and none but arg_size of %arg go in",
    widths: [16],
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 1,
        body: "mov (E) RET! 1:ud\nmov (E) RET(2,0)<1> 2:ud\nmov (E) RET(4,0)<1> 3:ud\nfret (E)",
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      fcall (E) f 2 2
      mov (E) R! RET@`,
    expected: () => 1,
  },
  {
    title: "a call that no lane makes changes nothing, not even %retval",
    widths: every,
    functions: [{ name: "f", takes: 0, returns: 1, body: "mov (E) RET! 5:ud\nfret (E)" }],
    kernel: `
      mov (E) RET! ID@
      cmp.gt (E) P1 ID@ 1000:ud
      (P1) fcall (E) f 0 #
      mov (E) R! RET@`,
    expected: (id) => id,
  },
  {
    title: "values of other types pass through %arg and %retval as bytes",
    widths: [16],
    declarations: `
      .decl ARGF v_type=G type=f num_elts=256 align=GRF alias=<%arg, 0>
      .decl RETF v_type=G type=f num_elts=96 align=GRF alias=<%retval, 0>
      .decl RETB v_type=G type=ub num_elts=384 align=GRF alias=<%retval, 0>`,
    functions: [{ name: "f", takes: 1, returns: 1, body: "add (E) RETF! ARGF@ 0.5:f\nfret (E)" }],
    kernel: `
      mov (E) ARGF! ID@
      fcall (E) f # #
      mov (E) R! RETB(0,3)<4;1,0>`,
    expected: (id) => {
      const view = new DataView(new ArrayBuffer(4));
      view.setFloat32(0, id + 0.5);
      return view.getUint8(0);
    },
  },
];

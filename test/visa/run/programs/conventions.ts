import type { Program } from "../program.ts";

const every = [8, 16, 32] as const;
const add = (name: string, n: number) => ({ name, takes: 1, returns: 1, body: `add (E) RET! ARG@ ${n}:ud\nfret (E)` });

/** Arguments, return values, and the variables that calls preserve. */
export const conventions: readonly Program[] = [
  {
    title: "all of %arg goes in: 32 registers of 8 dwords",
    widths: [8],
    functions: [
      {
        name: "sum",
        takes: 32,
        returns: 1,
        body: `
          mov (E) X! 0:ud
          ${Array.from({ length: 32 }, (_, i) => `add (E) X! X@ ARG(${i},0)<1;1,0>`).join("\n")}
          mov (E) RET! X@
          fret (E)`,
      },
    ],
    kernel: `
      ${Array.from({ length: 32 }, (_, i) => `mul (E) ARG(${i},0)<1> ID@ ${i + 1}:ud`).join("\n")}
      fcall (E) sum 32 1
      mov (E) R! RET@`,
    expected: (id) => (id * 32 * 33) / 2,
  },
  {
    title: "all of %retval comes out: 12 registers",
    widths: [8],
    functions: [
      {
        name: "powers",
        takes: 1,
        returns: 12,
        body: `
          mov (E) RET! 1:ud
          ${Array.from({ length: 11 }, (_, i) => `mul (E) RET(${i + 1},0)<1> RET(${i},0)<1;1,0> ARG@`).join("\n")}
          fret (E)`,
      },
    ],
    kernel: `
      and (E) ARG! ID@ 3:ud
      faddr powers F!
      ifcall (E) F$ 1 12
      mov (E) X! 0:ud
      ${Array.from({ length: 12 }, (_, i) => `add (E) X! X@ RET(${i},0)<1;1,0>`).join("\n")}
      mov (E) R! X@`,
    expected: (id) => Array.from({ length: 12 }, (_, i) => (id & 3) ** i).reduce((a, b) => a + b, 0),
  },
  {
    title: "a function hands on the %arg that it got, without touching it",
    widths: every,
    functions: [
      add("plus", 5),
      { name: "direct", takes: 1, returns: 1, body: "fcall (E) plus # #\nfret (E)" },
      { name: "indirect", takes: 1, returns: 1, body: "faddr direct F!\nifcall (E) F$ # #\nfret (E)" },
    ],
    kernel: "mov (E) ARG! ID@\nfcall (E) indirect # #\nmov (E) R! RET@",
    expected: (id) => id + 5,
  },
  {
    title: "a function that changes its %arg, and its caller's other arguments",
    widths: every,
    functions: [
      {
        name: "swap",
        takes: 2,
        returns: 2,
        body: `
          mov (E) X! ARG@
          mov (E) ARG! ARG(#,0)<1;1,0>
          mov (E) ARG(#,0)<1> X@
          mov (E) RET! ARG@
          mov (E) RET(#,0)<1> ARG(#,0)<1;1,0>
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! ID@
      mul (E) ARG(#,0)<1> ID@ ID@
      fcall (E) swap ## ##
      mul (E) X! RET@ 256:ud
      add (E) R! X@ RET(#,0)<1;1,0>`,
    expected: (id) => id * id * 256 + id,
  },
  {
    title: "half of the lanes give their argument, the others one of their own, and all call",
    widths: every,
    functions: [add("plus", 1)],
    kernel: `
      cmp.lt (E) P1 ID@ 4:ud
      (P1) mov (E) ARG! ID@
      (!P1) mul (E) ARG! ID@ 10:ud
      fcall (E) plus # #
      mov (E) R! RET@`,
    expected: (id) => (id < 4 ? id : 10 * id) + 1,
  },
  {
    title: "words and bytes in %arg, doubles and halves in %retval",
    widths: [8],
    declarations: `
      .decl AW v_type=G type=w num_elts=8 alias=<%arg, 0>
      .decl AB v_type=G type=ub num_elts=8 alias=<%arg, 16>
      .decl RD v_type=G type=df num_elts=8 alias=<%retval, 0>
      .decl RH v_type=G type=hf num_elts=8 alias=<%retval, 64>
      .decl G v_type=G type=f num_elts=8 align=GRF`,
    functions: [
      {
        name: "convert",
        takes: 1,
        returns: 3,
        body: `
          mov (E) RD! AW@
          mov (E) G! AB@
          mov (E) RH! G@
          fret (E)`,
      },
    ],
    kernel: `
      mul (E) X! ID@ -3:d
      mov (E) AW! X@
      add (E) X! ID@ 200:ud
      mov (E) AB! X@
      fcall (E) convert 1 3
      mul (E) RD! RD@ -1.5:df
      mov (E) X! RD@
      mov (E) G! RH@
      mov (E) Y! G@
      shl (E) Y! Y@ 16:ud
      or (E) R! X@ Y@`,
    expected: (id) => ((id + 200) << 16) | Math.trunc(4.5 * id),
  },
  {
    title: "a result that is an address, called at once",
    widths: every,
    functions: [
      add("plus1", 1),
      add("plus2", 2),
      {
        name: "choose",
        takes: 1,
        returns: 1,
        body: `
          faddr plus1 F!
          faddr plus2 S!
          cmp.eq (one) P1 ARG$ 0:ud
          (P1) mov (one) F! S$
          mov (NM) RET! F$
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! 0:ud
      fcall (E) choose # #
      mov (E) ARG! ID@
      ifcall (E) RET$ # #
      mov (E) X! RET@
      mov (E) ARG! 1:ud
      fcall (E) choose # #
      mov (E) ARG! X@
      ifcall (E) RET$ # #
      mov (E) R! RET@`,
    expected: (id) => id + 3,
  },
  {
    title: "a lane keeps the result of its call while others call the same function",
    widths: every,
    functions: [add("plus1", 1), add("plus100", 100)],
    kernel: `
      cmp.lt (E) P1 ID@ 5:ud
      mov (E) ARG! ID@
      (P1) fcall (E) plus1 # #
      mov (E) ARG! ID@
      (!P1) fcall (E) plus100 # #
      mov (E) R! RET@`,
    expected: (id) => id + (id < 5 ? 1 : 100),
  },
  {
    title: "lanes leave a function one after the other, each with a result of its own",
    widths: every,
    functions: [
      {
        name: "collatz",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) RET! 0:ud
          again:
          cmp.le (E) P1 X@ 1:ud
          (P1) fret (E)
          add (E) RET! RET@ 1:ud
          and (E) Y! X@ 1:ud
          cmp.eq (E) P2 Y@ 0:ud
          (P2) goto (E) half
          mul (E) X! X@ 3:ud
          add (E) X! X@ 1:ud
          goto (E) again
          half:
          shr (E) X! X@ 1:ud
          goto (E) again`,
      },
    ],
    kernel: "add (E) ARG! ID@ 1:ud\nfcall (E) collatz # #\nmov (E) R! RET@",
    expected: (id) => {
      let steps = 0;
      for (let x = id + 1; x > 1; x = x % 2 === 0 ? x / 2 : 3 * x + 1) steps++;
      return steps;
    },
  },
  {
    title: "each level of calls has other lanes: what comes back is for those that went",
    widths: every,
    functions: [
      { name: "c", takes: 1, returns: 1, body: "add (E) RET! ARG@ 400:ud\nfret (E)" },
      {
        name: "b",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          add (E) RET! X@ 200:ud
          and (E) Y! X@ 2:ud
          cmp.eq (E) P1 Y@ 2:ud
          mov (E) ARG! X@
          (P1) fcall (E) c # #
          fret (E)`,
      },
      {
        name: "a",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          add (E) RET! X@ 100:ud
          and (E) Y! X@ 1:ud
          cmp.eq (E) P1 Y@ 1:ud
          mov (E) ARG! X@
          faddr b F!
          (P1) ifcall (E) F$ # #
          add (E) RET! RET@ 1000:ud
          fret (E)`,
      },
    ],
    kernel: `
      cmp.gt (E) P1 ID@ 2:ud
      mov (E) ARG! ID@
      (P1) fcall (E) a # #
      (P1) mov (E) R! RET@`,
    expected: (id) => (id <= 2 ? 0 : 1000 + id + ((id & 1) === 0 ? 100 : (id & 2) === 2 ? 400 : 200)),
  },
  {
    title: "a scalar call that its predicate's element 0 forbids",
    widths: every,
    functions: [add("plus", 9)],
    kernel: `
      mov (NM) RET! 3:ud
      mov (E) ARG! ID@
      cmp.ne (E) P1 ID@ 0:ud
      (P1) fcall (one) plus # #
      mov (E) R! RET@
      mov (E) ARG! ID@
      (!P1) fcall (one) plus # #
      shl (E) R! R@ 16:ud
      or (E) R! R@ RET@`,
    expected: (id) => (3 << 16) | (id + 9),
  },
  {
    title: "a table of addresses in shared memory, filled by one thread and used by all",
    widths: [8, 16],
    items: 64,
    group: 32,
    functions: [add("plus1", 1), add("plus2", 2)],
    declarations: `
      .decl TABLE v_type=G type=ud num_elts=16 align=GRF
      .decl AT v_type=G type=ud num_elts=16 align=GRF`,
    kernel: `
      and (one) S! ID$ 31:ud
      cmp.ne (one) P1 S$ 0:ud
      (P1) jmp (M1, 1) filled
      mov (M1_NM, 8) TABLE(0,0)<1> 0:ud
      mov (M1_NM, 8) AT(0,0)<1> 0x76543210:uv
      shl (M1_NM, 8) AT(0,0)<1> AT(0,0)<1;1,0> 2:ud
      faddr plus1 TABLE(0,0)<1>
      faddr plus2 TABLE(0,1)<1>
      scatter4_scaled.R (M1, 8) %slm 0x0:ud AT.0 TABLE.0
      filled:
      barrier
      shr (one) S! ID$ 3:ud
      and (one) S! S$ 1:ud
      mov (NM) AT(0,0)<1> 0:ud
      shl (one) AT(0,0)<1> S$ 2:ud
      gather4_scaled.R (E) %slm 0x0:ud AT.0 TABLE.0
      mov (E) ARG! ID@
      ifcall (E) TABLE(0,0)<0;1,0> # #
      mov (E) R! RET@`,
    expected: (id, width) => id + 1 + ((Math.floor(id / width) * (width / 8)) & 1),
  },
  {
    title: "objects with tables of functions in memory: each lane calls the method of its object",
    widths: [16],
    functions: [
      { name: "square", takes: 1, returns: 1, body: "mul (E) RET! ARG@ ARG@\nfret (E)" },
      { name: "double", takes: 1, returns: 1, body: "add (E) RET! ARG@ ARG@\nfret (E)" },
      { name: "negate", takes: 1, returns: 1, body: "mov (E) RET! (-)ARG@\nfret (E)" },
    ],
    declarations: `
      .decl TABLE v_type=G type=ud num_elts=8 align=GRF
      .decl PLACE v_type=G type=uq num_elts=16 align=GRF
      .decl WANT v_type=G type=ud num_elts=16 align=GRF
      .decl TW v_type=G type=uw num_elts=1 align=GRF`,
    kernel: `
      mov (M1_NM, 8) TABLE(0,0)<1> 0:ud
      faddr square TABLE(0,0)<1>
      faddr double TABLE(0,1)<1>
      faddr negate TABLE(0,2)<1>
      svm_block_st (2) STK$ TABLE.0
      mod (E) X! ID@ 3:ud
      shl (E) X! X@ 2:ud
      mov (M1_NM, 8) PLACE(0,0)<1> X(0,0)<1;1,0>
      mov (M1_NM, 8) PLACE(2,0)<1> X(1,0)<1;1,0>
      add (M1_NM, 8) PLACE(0,0)<1> PLACE(0,0)<1;1,0> STK$
      add (M1_NM, 8) PLACE(2,0)<1> PLACE(2,0)<1;1,0> STK$
      svm_gather.4.1 (E) PLACE.0 WANT.0
      cmp.ge (E) P2 ID@ 0:ud
      again:
      mov (one) S! P2
      fbl (one) T! S$
      shl (one) T! T$ 2:ud
      mov (one) TW(0,0)<1> T$
      addr_add (one) A1(0)<1> &WANT TW(0,0)<0;1,0>
      mov (one) F! r[A1(0),0]<0;1,0>:ud
      cmp.eq (E) P3 WANT@ F$
      mov (E) ARG! ID@
      (P3) ifcall (E) F$ # #
      (P3) mov (E) R! RET@
      (P3) mov (E) WANT! 0:ud
      cmp.ne (E) P2 WANT@ 0:ud
      (P2.any) goto (E) again`,
    expected: (id) => [id * id, 2 * id, -id][id % 3]!,
  },
  {
    title: "a frame in memory with a function's address in it, three deep",
    widths: [16],
    functions: [
      {
        name: "leaf",
        takes: 1,
        returns: 1,
        body: "add (E) RET! ARG@ 7:ud\nfret (E)",
      },
      {
        name: "through",
        takes: 1,
        returns: 1,
        body: `
          mov (one) Q! %sp(0,0)<0;1,0>
          add (one) %sp(0,0)<1> Q$ 32:ud
          faddr leaf F!
          svm_scatter.4.1 (one) Q.0 F.0
          mov (one) F! 0:ud
          svm_gather.4.1 (one) Q.0 S.0
          ifcall (E) S$ # #
          mul (E) RET! RET@ 2:ud
          mov (one) %sp(0,0)<1> Q$
          fret (E)`,
      },
      {
        name: "outer",
        takes: 1,
        returns: 1,
        body: `
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> 64:ud
          fcall (E) through # #
          mov (E) ARG! RET@
          fcall (E) through # #
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> -64:d
          fret (E)`,
      },
    ],
    kernel: `
      mov (one) %sp(0,0)<1> STK$
      mov (E) ARG! ID@
      cmp.ne (E) P1 ID@ 4:ud
      (P1) fcall (E) outer # #
      (P1) mov (E) R! RET@`,
    expected: (id) => (id === 4 ? 0 : 2 * (2 * (id + 7) + 7)),
  },
  {
    title: "lanes leave before the function has given back its stack, and the last ones do it",
    widths: every,
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 1,
        body: `
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> 64:ud
          mov (E) RET! 5:ud
          cmp.lt (E) P1 ARG@ 4:ud
          (P1) fret (E)
          mov (E) RET! 6:ud
          add (one) %sp(0,0)<1> %sp(0,0)<0;1,0> -64:d
          fret (E)`,
      },
    ],
    kernel: `
      mov (one) %sp(0,0)<1> STK$
      mov (E) ARG! ID@
      fcall (E) f # #
      add (one) Q! %sp(0,0)<0;1,0> (-)STK$
      mov (one) S! Q$
      add (E) R! RET@ S$`,
    expected: (id) => (id < 4 ? 5 : 6),
  },
  {
    title: "a barrier in a recursion: all threads go equally deep",
    widths: [8, 16],
    items: 32,
    group: 32,
    functions: [
      {
        name: "deep",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          barrier
          mov (NM) RET! 1:ud
          cmp.eq (one) P1 X$ 0:ud
          (P1) fret (one)
          add (E) ARG! X@ -1:d
          fcall (E) deep # #
          barrier
          add (E) RET! RET@ RET@
          fret (E)`,
      },
    ],
    kernel: "mov (NM) ARG! 6:ud\nfcall (E) deep # #\nadd (E) R! RET@ ID@",
    expected: (id) => 64 + id,
  },
  {
    title: "a subroutine that calls functions, from a function that subroutines call",
    widths: every,
    functions: [
      add("plus", 3),
      {
        name: "f",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          call (E) twice
          add (E) RET! RET@ 1000:ud
          fret (E)
          .function "twice"
          twice:
          mov (E) ARG! X@
          fcall (E) plus # #
          cmp.ge (E) P1 RET@ 8:ud
          (P1) ret (E)
          mov (E) ARG! RET@
          fcall (E) plus # #
          ret (E)`,
      },
    ],
    kernel: `
      cmp.ne (E) P1 ID@ 1:ud
      (P1) call (E) work
      add (E) R! R@ 1:ud`,
    subroutines: `
      .function "work"
      work:
      mov (E) ARG! ID@
      faddr f F!
      ifcall (E) F$ # #
      mov (E) R! RET@
      ret (E)`,
    expected: (id) => (id === 1 ? 0 : 1000 + (id + 3 >= 8 ? id + 3 : id + 6)) + 1,
  },
  {
    title: "what a NoMask write puts into %arg and %retval for lanes that do not call",
    widths: every,
    functions: [{ name: "f", takes: 1, returns: 1, body: "mul (NM) RET! ARG@ 2:ud\nfret (E)" }],
    kernel: `
      mov (NM) ARG! ID@
      cmp.eq (E) P1 ID@ 3:ud
      (P1) fcall (E) f # #
      mov (E) R! RET@`,
    expected: (id) => 2 * id,
  },
  {
    title: "a call in a loop of its own for each lane, with a call stack that grows and shrinks",
    widths: [8, 16],
    functions: [
      {
        name: "fib",
        takes: 1,
        returns: 1,
        body: `
          mov (E) X! ARG@
          mov (E) RET! X@
          cmp.lt (E) P1 X@ 2:ud
          (P1) fret (E)
          mov (E) Z! 0:ud
          mov (E) W! 1:ud
          again:
          faddr fib F!
          add (E) ARG! X@ (-)W@
          ifcall (E) F$ # #
          add (E) Z! Z@ RET@
          add (E) W! W@ 1:ud
          cmp.le (E) P1 W@ 2:ud
          (P1) goto (E) again
          mov (E) RET! Z@
          fret (E)`,
      },
    ],
    kernel: "and (E) ARG! ID@ 7:ud\nfcall (E) fib # #\nmov (E) R! RET@",
    expected: (id) => [0, 1, 1, 2, 3, 5, 8, 13][id & 7]!,
  },
  {
    title: "results in registers that the caller did not ask for do not come back",
    widths: every,
    functions: [
      {
        name: "two",
        takes: 1,
        returns: 1,
        body: "mov (E) RET! ARG@\nmov (E) RET(#,0)<1> 77:ud\nfret (E)",
      },
    ],
    kernel: `
      mov (NM) RET(#,0)<1> 5:ud
      mov (E) ARG! ID@
      mov (E) X! RET(#,0)<1;1,0>
      fcall (E) two # #
      shl (E) X! X@ 8:ud
      or (E) R! X@ RET@`,
    expected: (id) => (5 << 8) | id,
  },
];

import type { Fault } from "./fault.ts";

const plus = { name: "plus", takes: 1, returns: 1, body: "add (E) RET! ARG@ 1:ud\nfret (E)" };
const two = {
  name: "two",
  takes: 2,
  returns: 2,
  body: "add (E) RET! ARG@ 1:ud\nadd (E) RET(#,0)<1> ARG(#,0)<1;1,0> 2:ud\nfret (E)",
};

/** Values that were never written: in registers, predicates, %arg and %retval. */
export const unwritten: readonly Fault[] = [
  {
    title: "the address of a call",
    report: "uninitialized-read",
    functions: [plus],
    kernel: "mov (E) ARG! ID@\nifcall (E) F$ # # <--",
    threads: "0-15",
    says: ["`F`"],
  },
  {
    title: "the address of a call that only some threads set",
    report: "uninitialized-read",
    items: 32,
    functions: [plus],
    kernel: `
      cmp.lt (one) P1 ID$ 16:ud
      (!P1) jmp (M1, 1) over
      faddr plus F!
      over:
      mov (E) ARG! ID@
      ifcall (E) F$ # # <--`,
    threads: "16-31",
    says: ["`F`"],
  },
  {
    title: "the upper half of an address",
    report: "uninitialized-read",
    functions: [plus],
    declarations: ".decl LOW v_type=G type=ud num_elts=1 alias=<Q, 0>",
    kernel: "faddr plus LOW!\nmov (E) ARG! ID@\nifcall (E) Q$ # # <--",
    threads: "0-15",
    says: ["`Q`"],
  },
  {
    title: "the predicate of a call",
    report: "uninitialized-read",
    functions: [plus],
    kernel: "mov (E) ARG! ID@\n(P2) fcall (E) plus # # <--",
    threads: "0-15",
    says: ["`P2`"],
  },
  {
    title: "a predicate that was compared in the other lanes only",
    report: "uninitialized-read",
    functions: [plus],
    kernel: `
      mov (E) ARG! ID@
      cmp.gt (M1, 8) P2 ARG@ 3:ud
      (P2) fcall (E) plus # # <--`,
    threads: "8-15",
    says: ["`P2`"],
  },
  {
    title: "an argument that the caller does not give",
    report: "uninitialized-read",
    functions: [{ name: "f", takes: 2, returns: 1, body: "add (E) RET! ARG@ ARG(#,0)<1;1,0> <--\nfret (E)" }],
    kernel: "mov (E) ARG! ID@\nfcall (E) f ## #\nmov (E) R! RET@",
    threads: "0-15",
    stack: ["f", "k"],
    says: ["`%arg`"],
  },
  {
    title: "a part of %arg that is not passed",
    report: "uninitialized-read",
    functions: [{ name: "f", takes: 1, returns: 1, body: "add (E) RET! ARG@ ARG(#,0)<1;1,0> <--\nfret (E)" }],
    kernel: "mov (E) ARG! ID@\nmov (E) ARG(#,0)<1> ID@\nfcall (E) f # #\nmov (E) R! RET@",
    threads: "0-15",
    stack: ["f", "k"],
    says: ["`%arg`"],
  },
  {
    title: "%arg after a call, which has destroyed it",
    report: "uninitialized-read",
    functions: [plus],
    kernel: "mov (E) ARG! ID@\nfcall (E) plus # #\nadd (E) R! RET@ ARG@ <--",
    threads: "0-15",
    says: ["`%arg`"],
  },
  {
    title: "%arg for a second call, after a call by address in some lanes",
    report: "uninitialized-read",
    functions: [plus],
    kernel: `
      mov (E) ARG! ID@
      faddr plus F!
      cmp.lt (E) P1 ID@ 3:ud
      (P1) ifcall (E) F$ # #
      mov (E) R! ARG@ <--`,
    threads: "0-15",
    says: ["`%arg`"],
  },
  {
    title: "%retval beyond the returned registers",
    report: "uninitialized-read",
    functions: [plus],
    kernel: "mov (E) ARG! ID@\nfcall (E) plus # #\nadd (E) R! RET@ RET(#,0)<1;1,0> <--",
    threads: "0-15",
    says: ["`%retval`"],
  },
  {
    title: "%retval in lanes that have not called",
    report: "uninitialized-read",
    functions: [plus],
    kernel: "mov (E) ARG! ID@\ncmp.ge (E) P1 ID@ 6:ud\n(P1) fcall (E) plus # #\nmov (E) R! RET@ <--",
    threads: "0-5",
    says: ["`%retval`"],
  },
  {
    title: "%retval of a function that leaves a lane's result out",
    report: "uninitialized-read",
    functions: [{ name: "f", takes: 1, returns: 1, body: "cmp.ne (E) P1 ARG@ 7:ud\n(P1) mov (E) RET! 1:ud\nfret (E)" }],
    kernel: "mov (E) ARG! ID@\nfcall (E) f # #\nmov (E) R! RET@ <--",
    threads: "7",
    says: ["`%retval`"],
  },
  {
    title: "a variable of a function, which is a new one each time",
    report: "uninitialized-read",
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 1,
        body: `
          cmp.ne (E) P1 ARG@ 0:ud
          mov (E) Y! ARG@
          (!P1) mov (E) X! 9:ud
          mov (E) RET! 0:ud
          add (E) ARG! Y@ -1:d
          (P1) fcall (E) f # #
          add (E) RET! RET@ X@ <--
          fret (E)`,
      },
    ],
    kernel: "and (E) ARG! ID@ 1:ud\nfcall (E) f # #\nmov (E) R! RET@",
    threads: "1, 3, 5, 7, 9, 11, 13, 15",
    stack: ["f", "k"],
    says: ["`X`"],
  },
  {
    title: "the stack pointer, which was never set",
    report: "null-dereference",
    functions: [
      { name: "f", takes: 0, returns: 0, body: "mov (NM) X! 1:ud\nsvm_block_st (2) %sp(0,0)<0;1,0> X.0 <--\nfret (E)" },
    ],
    kernel: "fcall (E) f 0 0",
    threads: "0",
    stack: ["f", "k"],
    says: ["0x0"],
  },
  {
    title: "a second argument, of two calls the later",
    report: "uninitialized-read",
    functions: [{ ...two, body: two.body.replace("2:ud", "2:ud <--") }],
    kernel: `
      mov (E) ARG! ID@
      mov (E) ARG(#,0)<1> ID@
      fcall (E) two ## ##
      mov (E) ARG! RET@
      fcall (E) two ## ##
      add (E) R! RET@ RET(#,0)<1;1,0>`,
    threads: "0-15",
    stack: ["two", "k"],
    says: ["`%arg`"],
  },
];

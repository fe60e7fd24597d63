import type { Fault } from "./fault.ts";

const f = (body: string, takes = 1) => [{ name: "f", takes, returns: 0, body }];
const call = "mov (E) ARG! ID@\nfcall (E) f # 0";
const places = ".decl AT v_type=G type=uq num_elts=16 align=GRF";
/** The address of `out`, and `bytes` times the lane's number plus `first`, in AT. */
const at = (bytes: number, first: number): string => `
  mul (E) X! ARG@ ${bytes}:ud
  mov (M1_NM, 8) AT(0,0)<1> X(0,0)<1;1,0>
  mov (M1_NM, 8) AT(2,0)<1> X(1,0)<1;1,0>
  add (M1_NM, 8) AT(0,0)<1> AT(0,0)<1;1,0> Q$
  add (M1_NM, 8) AT(2,0)<1> AT(2,0)<1;1,0> Q$
  add (M1_NM, 8) AT(0,0)<1> AT(0,0)<1;1,0> ${first}:ud
  add (M1_NM, 8) AT(2,0)<1> AT(2,0)<1;1,0> ${first}:ud`;
/** The address of `out` goes in through the second vector of %arg. */
const callWithOut = `
  mov (E) ARG! ID@
  mov (one) OUTARG(0,0)<1> OUT$
  fcall (E) f ## 0`;
const withOut = `${places}\n.decl OUTARG v_type=G type=uq num_elts=1 alias=<%arg, 64>`;
const take = "mov (NM) X! 0:ud\nmov (NM) Y! 1:ud\nmov (one) Q! OUTARG(0,0)<0;1,0>";

/** Accesses in functions: the buffer has 1024 bytes. */
export const memory: readonly Fault[] = [
  {
    title: "a scattered store of the last lanes beyond the end",
    report: "global-out-of-bounds",
    declarations: withOut,
    functions: f(`${take}${at(4, 976)}\nsvm_scatter.4.1 (E) AT.0 X.0 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "12-15",
    stack: ["f", "k"],
    says: ["stores 4 bytes", '0 bytes after the end of buffer "out" (1024 bytes)'],
  },
  {
    title: "a gather of the first lane before the beginning",
    report: "global-out-of-bounds",
    declarations: withOut,
    functions: f(`${take}\nadd (one) Q! Q$ -4:d${at(4, 0)}\nsvm_gather.4.1 (E) AT.0 X.0 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "0",
    stack: ["f", "k"],
    says: ["loads 4 bytes", '4 bytes before buffer "out"'],
  },
  {
    title: "a gather under a predicate",
    report: "global-out-of-bounds",
    declarations: withOut,
    functions: f(`${take}${at(0x50, 0)}\ncmp.gt (E) P1 ARG@ 13:ud\n(P1) svm_gather.4.1 (E) AT.0 X.0 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "14-15",
    stack: ["f", "k"],
    says: ["loads 4 bytes", 'buffer "out"'],
  },
  {
    title: "a misaligned store of every second lane",
    report: "misaligned-access",
    declarations: withOut,
    functions: f(`${take}${at(6, 0)}\nsvm_scatter.4.1 (E) AT.0 X.0 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "1, 3, 5, 7, 9, 11, 13, 15",
    stack: ["f", "k"],
    says: ["multiple of 4"],
  },
  {
    title: "a block store across the end",
    report: "global-out-of-bounds",
    declarations: withOut,
    functions: f(`${take}\nadd (one) Q! Q$ 1008:ud\nsvm_block_st (4) Q$ X.0 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "0",
    stack: ["f", "k"],
    says: ["at byte 1008, 48 bytes past the end", 'buffer "out"'],
  },
  {
    title: "a misaligned block load",
    report: "misaligned-access",
    declarations: withOut,
    functions: f(`${take}\nadd (one) Q! Q$ 8:ud\nsvm_block_ld.aligned (2) Q$ X.0 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "0",
    stack: ["f", "k"],
    says: ["multiple of 16"],
  },
  {
    title: "an atomic addition beyond the end",
    report: "global-out-of-bounds",
    declarations: withOut,
    functions: f(`${take}${at(4, 1020)}\nsvm_atomic.add (E) AT.0 X.0 Y.0 %null.0 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "1-15",
    stack: ["f", "k"],
    says: ["updates 4 bytes", 'buffer "out"'],
  },
  {
    title: "a null pointer",
    report: "null-dereference",
    declarations: places,
    functions: f("mov (NM) X! 0:ud\nmov (one) Q! 0:uq\nsvm_scatter.4.1 (one) Q.0 X.0 <--\nfret (E)"),
    kernel: call,
    threads: "0",
    stack: ["f", "k"],
    says: ["0x0"],
  },
  {
    title: "the address of a function is not an address of data",
    report: "wrong-state-space",
    functions: f("faddr f Q!\nsvm_gather.4.1 (one) Q.0 X.0 <--\nfret (E)"),
    kernel: call,
    threads: "0",
    stack: ["f", "k"],
    says: ["the address of a function"],
  },
  {
    title: "a frame that is larger than the thread's stack",
    report: "global-out-of-bounds",
    functions: f("mov (NM) X! 1:ud\nadd (one) Q! %sp(0,0)<0;1,0> 4096:ud\nsvm_block_st (2) Q$ X.0 <--\nfret (E)"),
    kernel: `mov (one) %sp(0,0)<1> STK$\n${call}`,
    threads: "0",
    stack: ["f", "k"],
    says: ["0 bytes after the end of the private memory of thread 0 (4096 bytes)"],
  },
  {
    title: "a frame that reaches into the stack of the next thread",
    report: "global-out-of-bounds",
    items: 32,
    functions: f("mov (NM) X! 1:ud\nadd (one) Q! %sp(0,0)<0;1,0> 4096:ud\nsvm_block_st (2) Q$ X.0 <--\nfret (E)"),
    kernel: `mov (one) %sp(0,0)<1> STK$\n${call}`,
    threads: "0",
    stack: ["f", "k"],
    says: ["0 bytes after the end of the private memory of thread 0 (4096 bytes)"],
  },
  {
    platform: "DG2",
    title: "shared memory beyond its end",
    report: "shared-out-of-bounds",
    functions: f("mov (NM) Y! 1:ud\nmul (E) X! ARG@ 0x1200:ud\nlsc_store.slm (E) flat[X]:a32 Y:d32 <--\nfret (E)"),
    kernel: call,
    threads: "15",
    stack: ["f", "k"],
    says: ["stores 4 bytes"],
  },
  {
    platform: "DG2",
    title: "an LSC load of global memory beyond its end",
    report: "global-out-of-bounds",
    declarations: withOut,
    functions: f(`${take}${at(16, 800)}\nlsc_load.ugm (E) Y:d32 flat[AT+4]:a64 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "14-15",
    stack: ["f", "k"],
    says: ["loads 4 bytes", 'buffer "out"'],
  },
  {
    platform: "DG2",
    title: "a misaligned LSC block",
    report: "misaligned-access",
    declarations: withOut,
    functions: f(`${take}\nlsc_load.ugm (one) X:d32x8t flat[Q+6]:a64 <--\nfret (E)`, 2),
    kernel: callWithOut,
    threads: "0",
    stack: ["f", "k"],
    says: ["multiple of 4", "at byte 6"],
  },
  {
    title: "shared memory as a surface, beyond its end",
    report: "shared-out-of-bounds",
    functions: f(
      "mov (NM) Y! 1:ud\nmul (E) X! ARG@ 0x1200:ud\nscatter4_scaled.R (E) %slm 0x0:ud X.0 Y.0 <--\nfret (E)",
    ),
    kernel: call,
    threads: "15",
    stack: ["f", "k"],
    says: ["stores 4 bytes"],
  },
  {
    title: "a misaligned access to shared memory as a surface",
    report: "misaligned-access",
    functions: f("mul (E) X! ARG@ 2:ud\ngather4_scaled.R (E) %slm 0x0:ud X.0 Y.0 <--\nfret (E)"),
    kernel: call,
    threads: "1, 3, 5, 7, 9, 11, 13, 15",
    stack: ["f", "k"],
    says: ["multiple of 4"],
  },
  {
    title: "a surface that the launch has not bound",
    report: "surface-unbound",
    declarations: ".decl T6 v_type=T num_elts=1",
    functions: f("mov (NM) X! 0:ud\nmovs (one) T6(0) 7:ud\ngather4_scaled.R (E) T6 0x0:ud X.0 Y.0 <--\nfret (E)"),
    kernel: call,
    threads: "0-15",
    stack: ["f", "k"],
    says: ["7"],
  },
  {
    title: "an indirect source outside of all variables",
    report: "register-out-of-bounds",
    functions: f(
      "addr_add (one) A1(0)<1> &X 0x7f00:uw\nmov (E) Y! r[A1(0),0]<8;8,1>:ud <--\nfret (E)".replace(
        "mov (E) Y! r[A1(0),0]<8;8,1>:ud",
        "mov (M1, 8) Y! r[A1(0),0]<8;8,1>:ud",
      ),
    ),
    kernel: call,
    threads: "0-7",
    stack: ["f", "k"],
    says: [],
  },
];

import { describe, expect, test } from "vitest";
import { diagnoseProgram, lineOf } from "./diagnose.ts";

/*
 * Programs of a kernel and functions a (ArgSize 2) and b (ArgSize 4), both of RetValSize 2. The lines of the kernel's
 * body count from 1. Origin: the pages IFCALL, FCALL and FADDR ("it is an error if <arg_size> and <return_size> do not
 * match the callee's declared values").
 */
const callee = (name: string, argSize: number): readonly [string, string] => [
  `${name}.visaasm`,
  `.version 3.6\n.global_function "${name}"\n.decl P1 v_type=P num_elts=16\n.kernel_attr SimdSize=16\n.kernel_attr ArgSize=${argSize}\n.kernel_attr RetValSize=2\n.function "${name}_0"\n${name}_0:\n    fret (M1, 16)\n`,
];

const head = `.version 3.6
.kernel "k"
.decl F v_type=G type=ud num_elts=8 align=GRF
.decl G v_type=G type=ud num_elts=16 align=GRF
.decl A v_type=G type=uq num_elts=8 align=GRF
.decl Q v_type=G type=uq num_elts=4 align=GRF
.decl QL v_type=G type=ud num_elts=8 alias=<Q, 0>
.decl X v_type=A num_elts=1
.decl P1 v_type=P num_elts=16
.kernel_attr SimdSize=16
.function "m"
m:
`;

function said(
  body: string,
  files = [callee("a", 2), callee("b", 4)],
  symbols: readonly string[] = [],
): readonly string[] {
  const indented = body.replace(/^(?=[a-z(])(?!\w+:)/gm, "    ");
  const before = head.split("\n").length - 1;
  const found = diagnoseProgram([["k.visaasm", `${head}${indented}\n    ret (M1, 1)\n`], ...files], {
    symbols: new Set(symbols),
  });
  return found.map((d) => {
    const where = d.source.path === "k.visaasm" ? `${lineOf(d) - before}` : d.source.path;
    return `${where} ${d.severity} ${d.code.replace("visa-", "")}`;
  });
}

const wrong = "error call-size-mismatch";

const programs: Readonly<Record<string, readonly [body: string, said: readonly string[]]>> = {
  "right sizes": ["faddr a F(0,0)<1>\nifcall (M1, 16) F(0,0)<0;1,0> 2 2", []],
  "wrong argument size": ["faddr a F(0,0)<1>\nifcall (M1, 16) F(0,0)<0;1,0> 4 2", [`2 ${wrong}`]],
  "wrong return size": ["faddr a F(0,0)<1>\nifcall (M1, 16) F(0,0)<0;1,0> 2 1", [`2 ${wrong}`]],
  "through a narrowing move": [
    "faddr a Q(0,0)<1>\nmov (M1_NM, 1) F(0,3)<1> Q(0,0)<0;1,0>\nifcall (M1, 16) F(0,3)<0;1,0> 4 2",
    [`3 ${wrong}`],
  ],
  "through an alias": ["faddr a Q(0,0)<1>\nifcall (M1, 16) QL(0,0)<0;1,0> 4 2", [`2 ${wrong}`]],
  "broadcast to all lanes": [
    "faddr a F(0,0)<1>\nmov (M1_NM, 16) G(0,0)<1> F(0,0)<0;1,0>\nifcall (M1, 16) G(1,7)<0;1,0> 4 2",
    [`3 ${wrong}`],
  ],
  "moved under a mask: it may be something else": [
    "faddr a F(0,0)<1>\nmov (M1, 1) F(0,3)<1> F(0,0)<0;1,0>\nifcall (M1, 16) F(0,3)<0;1,0> 4 2",
    ["3 warning call-size-mismatch"],
  ],
  "one of two on different ways": [
    "(P1) goto (M1, 16) L\nfaddr a F(0,0)<1>\ngoto (M1, 16) E\nL:\nfaddr b F(0,0)<1>\nE:\nifcall (M1, 16) F(0,0)<0;1,0> 2 2",
    ["7 warning call-size-mismatch"],
  ],
  "both on different ways": [
    "(P1) goto (M1, 16) L\nfaddr a F(0,0)<1>\ngoto (M1, 16) E\nL:\nfaddr b F(0,0)<1>\nE:\nifcall (M1, 16) F(0,0)<0;1,0> 3 2",
    [`7 ${wrong}`, `7 ${wrong}`],
  ],
  "both of a selection": [
    "faddr a F(0,0)<1>\nfaddr b F(0,1)<1>\n(P1) sel (M1_NM, 1) F(0,2)<1> F(0,0)<0;1,0> F(0,1)<0;1,0>\nifcall (M1, 16) F(0,2)<0;1,0> 7 2",
    [`4 ${wrong}`, `4 ${wrong}`],
  ],
  "in a loop": ["faddr a F(0,0)<1>\nL:\nifcall (M1, 16) F(0,0)<0;1,0> 3 2\n(P1) goto (M1, 16) L", [`3 ${wrong}`]],
  "elements of one variable": [
    "faddr a F(0,0)<1>\nfaddr b F(0,1)<1>\nifcall (M1, 16) F(0,1)<0;1,0> 4 2\nifcall (M1, 16) F(0,0)<0;1,0> 2 2",
    [],
  ],
  "overwritten with anything": [
    "faddr a F(0,0)<1>\nmov (M1_NM, 8) F(0,0)<1> G(0,0)<1;1,0>\nifcall (M1, 16) F(0,0)<0;1,0> 3 2",
    [],
  ],
  "perhaps overwritten": [
    "faddr a F(0,0)<1>\n(P1) add (M1, 8) F(0,0)<1> G(0,0)<1;1,0> 1:ud\nifcall (M1, 16) F(0,0)<0;1,0> 3 2",
    ["3 warning call-size-mismatch"],
  ],
  "overwritten from memory": [
    "faddr a F(0,0)<1>\nsvm_gather.4.1 (M1, 8) A.0 F.0\nifcall (M1, 16) F(0,0)<0;1,0> 3 2",
    [],
  ],
  "overwritten through an address": [
    "faddr a F(0,0)<1>\nmov (M1_NM, 1) r[X(0),0]<1>:ud 0:ud\nifcall (M1, 16) F(0,0)<0;1,0> 3 2",
    [],
  ],
  "a subroutine may have changed it": [
    'faddr a F(0,0)<1>\ncall (M1, 16) s\nifcall (M1, 16) F(0,0)<0;1,0> 3 2\nret (M1, 1)\n.function "s"\ns:\nmov (M1, 8) F(0,0)<1> 0:ud\n(P1) ret (M1, 16)',
    ["9 error scalar-mask"],
  ],
  "a direct call": ["fcall (M1, 16) a 3 2", [`1 ${wrong}`]],
  "a function that is not there": ["fcall (M1, 16) aa 2 2", ["1 error unknown-function"]],
  "the address of a function that is not there": ["faddr c F(0,0)<1>", ["1 error unknown-function"]],
  "a kernel cannot be called": ["fcall (M1, 16) k 2 2", ["1 error unknown-function"]],
  "a scalar return of a subroutine": ['call (M1, 16) s\nret (M1, 1)\n.function "s"\ns:', ["5 error scalar-mask"]],
};

describe("calls of functions in a program", () => {
  for (const [name, [body, wanted]] of Object.entries(programs)) {
    test(name, () => expect(said(body)).toEqual(wanted));
  }

  test("names of data are known to the program", () => {
    expect(said("faddr table Q(0,0)<1>", [], ["table"])).toEqual([]);
    expect(said("faddr table Q(0,0)<1>", [])).toEqual(["1 error unknown-function"]);
  });

  test("two functions of the same name", () => {
    expect(said("fcall (M1, 16) a 2 2", [callee("a", 2), callee("a", 2)])).toEqual([
      "a.visaasm error duplicate-routine",
    ]);
  });

  test("of a kernel that was compiled twice, the first is kept", () => {
    expect(said("fcall (M1, 16) a 2 2", [callee("a", 2), ["k2.visaasm", `${head}    ret (M1, 1)\n`]])).toEqual([]);
  });
});

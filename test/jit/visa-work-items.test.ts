import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Device, scalar } from "../../src/index.ts";
import type { IrFunction, WorkItemModel } from "../../src/ir/index.ts";
import { CompiledFunctions } from "../../src/jit/compile/plan/compiled-functions.ts";
import { loadProgram } from "../../src/program/program.ts";
import { DeviceCore } from "../../src/runtime/device/device-core.ts";
import { compileVisa } from "../../src/runtime/visa/compile.ts";

/*
 * Which kernels of vISA are compiled without the hardware thread around their work items, and that these give what the
 * interpreter gives, which has the thread. Each kernel stores X at OUT + 4 ID in the lanes that reach its end. ID is
 * the work item, S and T are scalars, P1 and P2 predicates.
 */
interface Case {
  readonly title: string;
  readonly form: "work items" | "threads";
  readonly body: string;
  readonly width?: 8 | 16 | 32;
  /** The lanes of a thread all have a work item: nothing is known of what the others begin with. */
  readonly whole?: true;
  /** The most instructions of the work items' form, besides the code that all kernels here have. */
  readonly most?: number;
  /** What is read lies beyond its variable, which the sanitizer reports; it is 0, so that X is ID. */
  readonly beyond?: true;
}

const head = (width: number): string => `.version 4.0
.kernel "k"
${["S", "T"].map((v) => `.decl ${v} v_type=G type=d num_elts=1 align=dword`).join("\n")}
${["X", "Y", "ID"].map((v) => `.decl ${v} v_type=G type=d num_elts=${width} align=GRF`).join("\n")}
.decl YU v_type=G type=ud num_elts=${width} align=GRF alias=<Y, 0>
.decl A v_type=G type=uq num_elts=${width} align=GRF
.decl B v_type=G type=uq num_elts=${width} align=GRF
.decl BD v_type=G type=d num_elts=${2 * width} align=GRF alias=<B, 0>
.decl YB v_type=G type=ub num_elts=${4 * width} align=GRF alias=<Y, 0>
.decl YW v_type=G type=uw num_elts=${2 * width} align=GRF alias=<Y, 0>
.decl Z v_type=G type=d num_elts=${2 * width} align=GRF
.decl H v_type=G type=d num_elts=8 align=GRF
.decl ZW v_type=G type=uw num_elts=${4 * width} align=GRF alias=<Z, 0>
.decl W v_type=G type=uw num_elts=${width} align=GRF
${["L", "M", "LB", "MB"].map((v) => `.decl ${v} v_type=G type=d num_elts=16 align=GRF`).join("\n")}
.decl MU v_type=G type=ud num_elts=16 align=GRF alias=<M, 0>
.decl A0 v_type=A num_elts=${Math.min(width, 16)}
.decl SL v_type=G type=ud num_elts=1 align=GRF
.decl SU v_type=G type=ud num_elts=1 align=dword alias=<S, 0>
.decl TU v_type=G type=ud num_elts=1 align=dword alias=<T, 0>
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl OD v_type=G type=d num_elts=2 align=GRF alias=<OUT, 0>
.decl P1 v_type=P num_elts=32
.decl P2 v_type=P num_elts=32
.input OUT offset=32 size=8
.input ID offset=64 size=${4 * width}
.kernel_attr SimdSize=${width}
.function "k_main"
k_main:
`;

const scatter = (width: number): string =>
  width === 32
    ? "    svm_scatter.4.1 (M1, 16) A.0 X.0\n    svm_scatter.4.1 (M5, 16) A.128 X.64"
    : "    svm_scatter.4.1 (E) A.0 X.0";

const tail = (width: number): string => `
    mul (E) A(0,0)<1> ID(0,0)<1;1,0> 4:d
    add (E) A(0,0)<1> A(0,0)<1;1,0> OUT(0,0)<0;1,0>
${scatter(width)}
END:
    ret (M1, 1)
`;

const textOf = ({ body, width = 16 }: Case): string =>
  (head(width) + body + tail(width)).replaceAll("(E)", `(M1, ${width})`).replaceAll("(NM)", `(M1_NM, ${width})`);

const inputs = [
  { name: "OUT", kind: "arg", type: "u64" },
  { name: "ID", kind: "lane-id", type: "u32" },
] as const;

const cases: readonly Case[] = [
  { title: "lanes by themselves", form: "work items", body: "    add (E) X(0,0)<1> ID(0,0)<1;1,0> 3:d" },
  {
    title: "a scalar that all lanes compute alike",
    form: "work items",
    body: "    mov (M1_NM, 1) S(0,0)<1> 5:d\n    add (E) X(0,0)<1> ID(0,0)<1;1,0> S(0,0)<0;1,0>",
  },
  {
    title: "halves of the lanes, one after the other",
    form: "work items",
    width: 32,
    body: `    add (M1, 16) X(0,0)<1> ID(0,0)<1;1,0> 3:d
    add (M5, 16) X(2,0)<1> ID(2,0)<1;1,0> 3:d`,
  },
  {
    title: "halves of a predicate, each changed before the other is written",
    form: "work items",
    width: 32,
    most: 6,
    body: `    cmp.lt (M1, 16) P1 ID(0,0)<1;1,0> 40:d
    cmp.lt (M5, 16) P1 ID(2,0)<1;1,0> 40:d
    cmp.gt (M1, 16) P2 ID(0,0)<1;1,0> 3:d
    and (M1, 16) P2 P2 P1
    cmp.gt (M5, 16) P2 ID(2,0)<1;1,0> 3:d
    and (M5, 16) P2 P2 P1
    (P2) sel (M1, 16) X(0,0)<1> 1:d 2:d
    (P2) sel (M5, 16) X(2,0)<1> 1:d 2:d`,
  },
  {
    title: "a word of all lanes, read before the second half of them is written",
    form: "work items",
    width: 32,
    whole: true,
    body: `    cmp.lt (M1, 16) P1 ID(0,0)<1;1,0> 40:d
    mov (M1_NM, 1) S(0,0)<1> P1
    cmp.lt (M5, 16) P1 ID(2,0)<1;1,0> 40:d
    add (E) X(0,0)<1> ID(0,0)<1;1,0> S(0,0)<0;1,0>`,
  },
  {
    title: "four lanes that store, active or not, where others have not computed the address",
    form: "threads",
    body: `    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    and (E) Y(0,0)<1> ID(0,0)<1;1,0> 31:d
    shl (E) Y(0,0)<1> Y(0,0)<1;1,0> 2:d
    scatter_scaled.4 (E) %slm 0x0:ud YU.0 X.0
    barrier
    cmp.eq (E) P1 ID(0,0)<1;1,0> 0:d
    (P1) goto (E) FEW
    goto (M1, 1) ALL
FEW:
    mov (M1_NM, 1) S(0,0)<1> 0x10:d
    mov (M1_NM, 4) L(0,0)<1> 77:d
    add (M1_NM, 4) M(0,0)<1> S(0,0)<0;1,0> 0xc840:uv
    scatter_scaled.4 (M1_NM, 4) %slm 0x0:ud MU.0 L.0
ALL:
    barrier
    gather_scaled.4 (E) %slm 0x0:ud YU.0 X.0`,
  },
  {
    title: "four lanes that store, active or not, where all are",
    form: "work items",
    body: `    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    and (E) Y(0,0)<1> ID(0,0)<1;1,0> 31:d
    shl (E) Y(0,0)<1> Y(0,0)<1;1,0> 2:d
    scatter_scaled.4 (E) %slm 0x0:ud YU.0 X.0
    barrier
    mov (M1_NM, 1) S(0,0)<1> 0x10:d
    mov (M1_NM, 4) L(0,0)<1> 77:d
    add (M1_NM, 4) M(0,0)<1> S(0,0)<0;1,0> 0xc840:uv
    scatter_scaled.4 (M1_NM, 4) %slm 0x0:ud MU.0 L.0
    barrier
    gather_scaled.4 (E) %slm 0x0:ud YU.0 X.0`,
  },
  {
    title: "one lane's element, active or not, where others have not computed what it becomes",
    form: "threads",
    body: `    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    and (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    mov (NM) L(0,0)<1> 0:d
    cmp.lt (E) P1 Y(0,0)<1;1,0> 3:d
    (!P1) goto (E) ALL
    mov (NM) M(0,0)<1> ID(0,0)<1;1,0>
    mov (M1_NM, 1) L(0,5)<1> M(0,4)<0;1,0>
ALL:
    add (E) X(0,0)<1> X(0,0)<1;1,0> L(0,0)<1;1,0>`,
  },
  {
    title: "one lane's element, where all have computed what it becomes",
    form: "work items",
    body: `    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    mov (NM) L(0,0)<1> 0:d
    mov (NM) M(0,0)<1> ID(0,0)<1;1,0>
    mov (M1_NM, 1) L(0,5)<1> M(0,4)<0;1,0>
    add (E) X(0,0)<1> X(0,0)<1;1,0> L(0,0)<1;1,0>`,
  },
  {
    title: "half of the lanes alone",
    form: "work items",
    body: "    mov (E) X(0,0)<1> 1:d\n    add (M1, 8) X(0,0)<1> ID(0,0)<1;1,0> 3:d",
  },
  {
    title: "halves of which the second reads what the first wrote",
    form: "work items",
    width: 32,
    body: `    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    add (M1, 16) X(2,0)<1> X(0,0)<1;1,0> 3:d
    add (M5, 16) X(0,0)<1> X(2,0)<1;1,0> 3:d`,
  },
  {
    title: "lanes that write the elements of others, which need not have a work item",
    form: "work items",
    width: 32,
    body: `    mov (E) Y(0,0)<1> ID(0,0)<1;1,0>
    add (M1, 16) Y(2,0)<1> ID(0,0)<1;1,0> 3:d
    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    mov (M1, 16) X(0,0)<1> Y(2,0)<1;1,0>`,
  },
  {
    title: "lanes that write the elements of others, computed from a scalar",
    form: "work items",
    width: 32,
    body: `    mov (M1_NM, 1) S(0,0)<1> 5:d
    mov (M5, 16) L(0,0)<1> ID(2,0)<1;1,0>
    mov (M1_NM, 16) L(0,0)<1> S(0,0)<0;1,0>
    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> L(0,0)<1;1,0>`,
  },
  {
    title: "lanes that write the elements of others, computed from a scalar that is loaded",
    form: "work items",
    width: 32,
    body: `    mov (M1_NM, 1) S(0,0)<1> 8:d
    mov (M1_NM, 1) T(0,0)<1> 5:d
    scatter_scaled.4 (M1_NM, 1) %slm 0x0:ud SU.0 TU.0
    gather_scaled.4 (M1_NM, 1) %slm 0x0:ud SU.0 SL.0
    add (M1_NM, 1) SL(0,0)<1> SL(0,0)<0;1,0> SU(0,0)<0;1,0>
    mov (M5, 16) L(0,0)<1> ID(2,0)<1;1,0>
    mov (M1_NM, 16) L(0,0)<1> SL(0,0)<0;1,0>
    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> L(0,0)<1;1,0>`,
  },
  {
    title: "lanes that write the elements of others, which are elsewhere",
    form: "threads",
    width: 32,
    body: `    mov (M1, 16) L(0,0)<1> ID(0,0)<1;1,0>
    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    and (E) Y(0,0)<1> ID(0,0)<1;1,0> 3:d
    cmp.eq (E) P1 Y(0,0)<1;1,0> 1:d
    (P1) goto (E) J
    add (M5, 16) L(0,0)<1> ID(2,0)<1;1,0> 3:d
J:
    add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> L(0,0)<1;1,0>`,
  },
  {
    title: "a vector in two variables",
    form: "work items",
    width: 32,
    most: 6,
    body: `    add (M1, 16) L(0,0)<1> ID(0,0)<1;1,0> 3:d
    add (M5, 16) M(0,0)<1> ID(2,0)<1;1,0> 3:d
    mul (M1, 16) X(0,0)<1> L(0,0)<1;1,0> 5:d
    mul (M5, 16) X(2,0)<1> M(0,0)<1;1,0> 5:d`,
  },
  {
    title: "a vector in two variables, whose second half is computed after something else",
    form: "work items",
    width: 32,
    most: 7,
    body: `    add (M1, 16) L(0,0)<1> ID(0,0)<1;1,0> 3:d
    mov (M1_NM, 1) S(0,0)<1> 5:d
    add (M5, 16) M(0,0)<1> ID(2,0)<1;1,0> 3:d
    mul (M1, 16) X(0,0)<1> L(0,0)<1;1,0> S(0,0)<0;1,0>
    mov (M1_NM, 1) S(0,0)<1> 5:d
    mul (M5, 16) X(2,0)<1> M(0,0)<1;1,0> S(0,0)<0;1,0>`,
  },
  {
    title: "a vector in two variables, whose second half is computed from something else",
    form: "work items",
    width: 32,
    body: `    mov (M1_NM, 1) S(0,0)<1> 5:d
    mul (M1, 16) X(0,0)<1> ID(0,0)<1;1,0> S(0,0)<0;1,0>
    mov (M1_NM, 1) S(0,0)<1> 7:d
    mul (M5, 16) X(2,0)<1> ID(2,0)<1;1,0> S(0,0)<0;1,0>`,
  },
  {
    title: "two variables that are the first half of a vector in turn",
    form: "work items",
    width: 32,
    body: `    add (M1, 16) L(0,0)<1> ID(0,0)<1;1,0> 3:d
    add (M5, 16) M(0,0)<1> ID(2,0)<1;1,0> 3:d
    mul (M1, 16) LB(0,0)<1> L(0,0)<1;1,0> L(0,0)<1;1,0>
    mul (M5, 16) MB(0,0)<1> M(0,0)<1;1,0> M(0,0)<1;1,0>
    add (M1, 16) M(0,0)<1> LB(0,0)<1;1,0> -1:d
    add (M5, 16) L(0,0)<1> MB(0,0)<1;1,0> -1:d
    mov (M1, 16) X(0,0)<1> M(0,0)<1;1,0>
    mov (M5, 16) X(2,0)<1> L(0,0)<1;1,0>`,
  },
  {
    title: "a vector in two variables, in lanes that go different ways",
    form: "work items",
    width: 32,
    body: `    mov (M1, 16) L(0,0)<1> ID(0,0)<1;1,0>
    mov (M5, 16) M(0,0)<1> ID(2,0)<1;1,0>
    and (M1, 16) LB(0,0)<1> L(0,0)<1;1,0> 3:d
    and (M5, 16) MB(0,0)<1> M(0,0)<1;1,0> 3:d
    cmp.eq (M1, 16) P1 LB(0,0)<1;1,0> 1:d
    cmp.eq (M5, 16) P1 MB(0,0)<1;1,0> 1:d
    (P1) goto (M1, 32) J
    add (M1, 16) L(0,0)<1> L(0,0)<1;1,0> 100:d
    add (M5, 16) M(0,0)<1> M(0,0)<1;1,0> 100:d
J:
    (P1) add (M1, 16) L(0,0)<1> L(0,0)<1;1,0> 1000:d
    (P1) add (M5, 16) M(0,0)<1> M(0,0)<1;1,0> 1000:d
    mov (M1, 16) X(0,0)<1> L(0,0)<1;1,0>
    mov (M5, 16) X(2,0)<1> M(0,0)<1;1,0>`,
  },
  {
    title: "another lane's element",
    form: "work items",
    body: "    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d\n    add (E) X(0,0)<1> ID(0,0)<1;1,0> Y(0,3)<0;1,0>",
  },
  {
    title: "a quadword of another lane, for all lanes of the thread, those without a work item too",
    form: "work items",
    body: `    mov (E) B(0,0)<1> ID(0,0)<1;1,0>
    mov (NM) Y(0,0)<1> B(0,0)<0;1,0>
    add (E) X(0,0)<1> ID(0,0)<1;1,0> Y(1,7)<0;1,0>`,
  },
  {
    title: "a predicate as a number",
    form: "work items",
    body: `    cmp.gt (E) P1 ID(0,0)<1;1,0> 6:d
    mov (M1_NM, 1) S(0,0)<1> P1
    mov (E) X(0,0)<1> S(0,0)<0;1,0>`,
  },
  {
    title: "any lane's predicate",
    form: "threads",
    body: `    mov (E) X(0,0)<1> 1:d
    cmp.eq (E) P1 ID(0,0)<1;1,0> 6:d
    (!P1.any) goto (E) L
    mov (E) X(0,0)<1> 2:d
L:`,
  },
  {
    title: "a loop that lanes leave one by one, with a counter of their own rounds",
    form: "work items",
    body: `    mov (M1_NM, 1) S(0,0)<1> 0:d
    mov (E) X(0,0)<1> 0:d
L:
    add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 1:d
    mov (E) X(0,0)<1> S(0,0)<0;1,0>
    cmp.lt (E) P1 S(0,0)<0;1,0> ID(0,0)<1;1,0>
    (P1) goto (E) L`,
  },
  {
    title: "the counter of a loop that lanes have left, read by all of them after it",
    form: "threads",
    body: `    mov (M1_NM, 1) S(0,0)<1> 0:d
L:
    add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 1:d
    cmp.lt (E) P1 S(0,0)<0;1,0> ID(0,0)<1;1,0>
    (P1) goto (E) L
    mov (E) X(0,0)<1> S(0,0)<0;1,0>`,
  },
  {
    title: "a scalar that lanes on one way change, and those on the other read",
    form: "threads",
    body: `    mov (M1_NM, 1) S(0,0)<1> 1:d
    cmp.lt (E) P1 ID(0,0)<1;1,0> 5:d
    (P1) goto (E) L
    mov (M1_NM, 1) S(0,0)<1> 2:d
L:
    mov (E) X(0,0)<1> S(0,0)<0;1,0>`,
  },
  {
    title: "a vector that is written without a mask on one way",
    form: "threads",
    body: `    mov (E) X(0,0)<1> 1:d
    cmp.lt (E) P1 ID(0,0)<1;1,0> 5:d
    (P1) goto (E) L
    mov (NM) X(0,0)<1> 2:d
L:`,
  },
  {
    title: "a uniform branch on what all lanes compute alike",
    form: "work items",
    body: `    mov (M1_NM, 1) S(0,0)<1> 0:d
    mov (E) X(0,0)<1> 0:d
L:
    add (E) X(0,0)<1> X(0,0)<1;1,0> ID(0,0)<1;1,0>
    add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 1:d
    cmp.lt (NM) P1 S(0,0)<0;1,0> 4:d
    (P1) goto (M1, 1) L`,
  },
  {
    title: "a uniform branch on one lane's own value",
    form: "threads",
    body: `    mov (E) X(0,0)<1> 1:d
    cmp.lt (E) P1 ID(0,0)<1;1,0> 5:d
    (P1) goto (M1, 1) L
    mov (E) X(0,0)<1> 2:d
L:`,
  },
  {
    title: "a barrier that all lanes come to",
    form: "work items",
    body: "    barrier\n    add (E) X(0,0)<1> ID(0,0)<1;1,0> 3:d",
  },
  {
    title: "a barrier after lanes may have ended",
    form: "threads",
    body: `    cmp.gt (E) P1 ID(0,0)<1;1,0> 100:d
    (P1) goto (E) END
    barrier
    add (E) X(0,0)<1> ID(0,0)<1;1,0> 3:d`,
  },
  {
    title: "offsets into local memory that are generic addresses",
    form: "work items",
    body: `    and (E) Y(0,0)<1> ID(0,0)<1;1,0> 63:d
    shl (E) Y(0,0)<1> Y(0,0)<1;1,0> 2:d
    or (E) Y(0,0)<1> Y(0,0)<1;1,0> 0x10000000:d
    scatter4_scaled.R (E) %slm 0x0:ud YU.0 ID.0
    barrier
    gather4_scaled.R (E) %slm 0x0:ud YU.0 X.0
    add (E) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>`,
  },
  {
    title: "a loop in only some channels of the thread",
    form: "threads",
    width: 32,
    body: `    mov (E) X(0,0)<1> 0:d
    mov (M1_NM, 1) S(0,0)<1> 0:d
L:
    add (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 1:d
    add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 1:d
    cmp.lt (M1_NM, 8) P2 S(0,0)<0;1,0> 5:d
    (P2) goto (M1, 8) L`,
  },
  {
    title: "a sum over the thread, in some of its lanes",
    form: "work items",
    body: `    mov (E) X(0,0)<1> 1:d
    cmp.gt (E) P1 ID(0,0)<1;1,0> 6:d
    (P1) goto (E) L
    mov (NM) Y(0,0)<1> 100:d
    mov (E) Y(0,0)<1> ID(0,0)<1;1,0>
    add (M1_NM, 8) H(0,0)<1> Y(0,0)<1;1,0> Y(1,0)<1;1,0>
    add (M1_NM, 4) H(0,0)<1> H(0,0)<1;1,0> H(0,4)<1;1,0>
    add (M1_NM, 2) H(0,0)<1> H(0,0)<1;1,0> H(0,2)<1;1,0>
    add (M1_NM, 1) S(0,0)<1> H(0,0)<0;1,0> H(0,1)<0;1,0>
    mov (E) X(0,0)<1> S(0,0)<0;1,0>
L:`,
  },
  {
    title: "an element of a lane that may be elsewhere",
    form: "work items",
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    cmp.gt (E) P1 ID(0,0)<1;1,0> 6:d
    (P1) goto (E) L
    add (E) Y(0,0)<1> Y(0,0)<1;1,0> 1000:d
    mov (E) X(0,0)<1> Y(1,1)<0;1,0>
L:
    add (E) X(0,0)<1> X(0,0)<1;1,0> Y(0,3)<0;1,0>`,
  },
  {
    title: "lanes that swap their elements, by even and odd ones",
    form: "work items",
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    mov (M1_NM, 8) Z(0,0)<2> Y(0,1)<2;1,0>
    mov (M1_NM, 8) Z(0,1)<2> Y(0,0)<2;1,0>
    mov (NM) X(0,0)<1> Z(0,0)<1;1,0>`,
  },
  {
    title: "elements of the next lane, and beyond the last one",
    form: "work items",
    whole: true,
    body: `    mov (NM) Z(0,0)<1> ID(0,0)<1;1,0>
    mov (NM) Z(2,0)<1> 77:d
    mov (E) X(0,0)<1> Z(0,3)<1;1,0>`,
  },
  {
    title: "sums of all lanes before, by elements",
    form: "work items",
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    mov (M1_NM, 1) H(0,0)<1> 0:d
    mov (M1_NM, 4) H(0,1)<1> Y(0,0)<1;1,0>
    mov (M1_NM, 2) H(0,5)<1> Y(0,4)<1;1,0>
    mov (M1_NM, 1) H(0,7)<1> Y(0,6)<0;1,0>
    add (M1_NM, 4) H(0,1)<2> H(0,0)<2;1,0> H(0,1)<2;1,0>
    add (M1_NM, 2) H(0,2)<4> H(0,2)<4;1,0> H(0,1)<4;1,0>
    add (M1_NM, 2) H(0,3)<4> H(0,3)<4;1,0> H(0,1)<4;1,0>
    add (M1_NM, 4) H(0,4)<1> H(0,3)<0;1,0> H(0,4)<4;4,1>
    mov (E) X(0,0)<1> H(0,5)<0;1,0>
    add (M1, 8) X(0,0)<1> H(0,0)<1;1,0> ID(0,0)<1;1,0>`,
  },
  {
    title: "addresses that are put together from halves",
    form: "work items",
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 4:d
    mov (E) BD(0,0)<2> Y(0,0)<1;1,0>
    mov (E) BD(0,1)<2> 0:d
    add (E) B(0,0)<1> B(0,0)<1;1,0> OUT(0,0)<0;1,0>
    svm_scatter.4.1 (E) B.0 ID.0
    mov (E) X(0,0)<1> BD(0,0)<2;1,0>
    sub (E) X(0,0)<1> X(0,0)<1;1,0> OD(0,0)<0;1,0>
    add (E) X(0,0)<1> X(0,0)<1;1,0> BD(0,1)<2;1,0>
    sub (E) X(0,0)<1> X(0,0)<1;1,0> OD(0,1)<0;1,0>`.replace(/sub (.*) (\S+)$/gm, "add $1 (-)$2"),
  },
  {
    title: "bytes and words of a register",
    form: "work items",
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 0x01010101:d
    mov (E) YB(0,1)<4> 200:ub
    mov (E) YB(0,3)<4> YB(0,2)<4;1,0>
    mov (E) X(0,0)<1> YW(0,1)<2;1,0>
    add (E) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>`,
  },
  {
    title: "an atomic operation of the thread, in some of its lanes",
    form: "work items",
    body: `    mov (E) X(0,0)<1> 0:d
    and (E) Y(0,0)<1> ID(0,0)<1;1,0> 3:d
    cmp.ne (E) P1 Y(0,0)<1;1,0> 2:d
    (P1) goto (E) L
    mov (M1_NM, 1) SL(0,0)<1> 8:ud
    mov (M1_NM, 1) T(0,0)<1> 1:d
    dword_atomic.add (M1_NM, 1) %slm SL.0 T.0 %null.0 S.0
    mov (E) X(0,0)<1> S(0,0)<0;1,0>
L:`,
  },
  {
    title: "how many lanes are active",
    form: "work items",
    body: `    mov (E) X(0,0)<1> 0:d
    cmp.gt (E) P1 ID(0,0)<1;1,0> 6:d
    (P1) goto (E) L
    setp (NM) P2 0x0:ud
    cmp.eq (E) P2 ID(0,0)<1;1,0> ID(0,0)<1;1,0>
    mov (M1_NM, 1) S(0,0)<1> P2
    cbit (M1_NM, 1) TU(0,0)<1> SU(0,0)<0;1,0>
    mov (E) X(0,0)<1> T(0,0)<0;1,0>
L:`,
  },
  {
    title: "a predicate of one channel",
    form: "work items",
    body: `    mov (M1_NM, 1) S(0,0)<1> ID(0,2)<0;1,0>
    cmp.eq (M1_NM, 1) P2 S(0,0)<0;1,0> 2:d
    (P2) sel (M1_NM, 1) T(0,0)<1> 5:d 6:d
    add (E) X(0,0)<1> ID(0,0)<1;1,0> T(0,0)<0;1,0>`,
  },
  {
    title: "elements of which each is read by itself",
    form: "work items",
    body: `    mov (M1_NM, 1) S(0,0)<1> 64:d
    mov (M1_NM, 8) H(0,0)<1> S(0,0)<0;1,0>
    add (M1_NM, 8) H(0,0)<1> H(0,0)<8;8,1> 0x76543210:uv
    mov (E) Y(0,0)<1> 64:d
    add (E) Y(0,0)<1> Y(0,0)<1;1,0> ID(0,0)<1;1,0>
    add (E) X(0,0)<1> Y(0,0)<1;1,0> H(0,5)<0;1,0>
    add (E) X(0,0)<1> X(0,0)<1;1,0> H(0,7)<0;1,0>`,
  },
  {
    title: "lanes of which some write for others",
    form: "work items",
    body: `    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    mov (M1, 8) X(1,0)<1> Y(0,1)<1;1,0>`,
  },
  {
    title: "some active lanes that write for others",
    form: "threads",
    body: `    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    and (E) Z(0,0)<1> ID(0,0)<1;1,0> 3:d
    cmp.eq (E) P1 Z(0,0)<1;1,0> 2:d
    (P1) goto (E) L
    mov (M1, 8) X(1,0)<1> Y(0,1)<1;1,0>
L:`,
  },
  {
    title: "elements of lanes that are computed",
    form: "work items",
    whole: true,
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    and (E) Z(0,0)<1> Y(0,0)<1;1,0> 15:d
    shl (E) W(0,0)<1> ZW(0,0)<16;8,2> 2:uw
    addr_add (E) A0(0)<1> &Y W(0,0)<1;1,0>
    mov (E) X(0,0)<1> r[A0(0),0]<1,0>:d`,
  },
  {
    title: "the element of a lane that all compute alike",
    form: "work items",
    whole: true,
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    mov (M1_NM, 1) S(0,0)<1> 5:d
    shl (M1_NM, 1) W(0,0)<1> SU(0,0)<0;1,0> 2:uw
    addr_add (M1_NM, 1) A0(0)<1> &Y W(0,0)<0;1,0>
    mov (M1_NM, 1) T(0,0)<1> r[A0(0),0]<0;1,0>:d
    mov (E) X(0,0)<1> T(0,0)<0;1,0>`,
  },
  {
    title: "an element whose distance grows from round to round",
    form: "work items",
    whole: true,
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    mov (E) X(0,0)<1> 0:d
    mov (M1_NM, 1) W(0,0)<1> 0:uw
    mov (M1_NM, 1) S(0,0)<1> 0:d
L:
    addr_add (M1_NM, 1) A0(0)<1> &Y W(0,0)<0;1,0>
    mov (M1_NM, 1) T(0,0)<1> r[A0(0),0]<0;1,0>:d
    add (E) X(0,0)<1> X(0,0)<1;1,0> T(0,0)<0;1,0>
    add (M1_NM, 1) W(0,0)<1> W(0,0)<0;1,0> 4:uw
    add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 1:d
    cmp.lt (E) P1 S(0,0)<0;1,0> 4:d
    (P1) goto (E) L`,
  },
  {
    title: "an element at a computed place beyond its variable, where another one is",
    form: "work items",
    beyond: true,
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    mov (M1_NM, 1) W(0,0)<1> 0x80:uw
    addr_add (M1_NM, 1) A0(0)<1> &Y W(0,0)<0;1,0>
    mov (M1_NM, 1) T(0,0)<1> r[A0(0),0]<0;1,0>:d
    add (E) X(0,0)<1> ID(0,0)<1;1,0> T(0,0)<0;1,0>`,
  },
  {
    title: "lanes of a thread whose elements are beyond their variable",
    form: "threads",
    beyond: true,
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    shl (E) W(0,0)<1> ID(0,0)<1;1,0> 2:d
    and (E) W(0,0)<1> W(0,0)<1;1,0> 0x3c:uw
    add (E) W(0,0)<1> W(0,0)<1;1,0> 0x80:uw
    addr_add (E) A0(0)<1> &Y W(0,0)<1;1,0>
    add (E) X(0,0)<1> ID(0,0)<1;1,0> r[A0(0),0]<1,0>:d
    cmp.eq (E) P1 ID(0,0)<1;1,0> 6:d
    (!P1.any) goto (E) L
    mov (M1_NM, 1) S(0,0)<1> 2:d
L:`,
  },
  {
    title: "a predicate that is set from a word of lanes, in every thread",
    form: "work items",
    body: `    mov (M1_NM, 1) S(0,0)<1> 0xa5c3:d
    setp (NM) P1 SU(0,0)<0;1,0>
    mov (E) X(0,0)<1> 1:d
    (P1) mov (E) X(0,0)<1> ID(0,0)<1;1,0>`,
  },
  // Lanes of a thread go together ("execution model" of the manual): all load before the first of them stores.
  {
    title: "lanes that store where others have loaded",
    form: "work items",
    body: `    mul (E) A(0,0)<1> ID(0,0)<1;1,0> 4:d
    add (E) A(0,0)<1> A(0,0)<1;1,0> OUT(0,0)<0;1,0>
    add (E) A(0,0)<1> A(0,0)<1;1,0> 256:d
    svm_gather.4.1 (E) A.0 X.0
    add (E) X(0,0)<1> X(0,0)<1;1,0> ID(0,0)<1;1,0>
    xor (E) Y(0,0)<1> ID(0,0)<1;1,0> 8:d
    mul (E) A(0,0)<1> Y(0,0)<1;1,0> 4:d
    add (E) A(0,0)<1> A(0,0)<1;1,0> OUT(0,0)<0;1,0>
    add (E) A(0,0)<1> A(0,0)<1;1,0> 256:d
    svm_scatter.4.1 (E) A.0 X.0`,
  },
  ...[
    { title: "bytes loaded into words, of which the rest stays", load: "svm_gather.1.2 (E) A.0 X.0" },
    { title: "bytes loaded into words by some lanes", load: "(P1) svm_gather.1.2 (E) A.0 X.0" },
    { title: "four bytes loaded into a word each", load: "svm_gather.1.4 (E) A.0 X.0" },
  ].map(
    ({ title, load }): Case => ({
      title,
      form: "work items",
      body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 0x01830507:d
    mul (E) A(0,0)<1> ID(0,0)<1;1,0> 4:d
    add (E) A(0,0)<1> A(0,0)<1;1,0> OUT(0,0)<0;1,0>
    svm_scatter.4.1 (E) A.0 Y.0
    add (E) X(0,0)<1> ID(0,0)<1;1,0> 0x12345678:d
    cmp.gt (E) P1 Y(0,0)<1;1,0> 0x10000000:d
    ${load}`,
    }),
  ),
  {
    title: "bytes loaded into words, half of the lanes at a time",
    form: "work items",
    width: 32,
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 0x01830507:d
    mul (E) A(0,0)<1> ID(0,0)<1;1,0> 4:d
    add (E) A(0,0)<1> A(0,0)<1;1,0> OUT(0,0)<0;1,0>
    svm_scatter.4.1 (M1, 16) A.0 Y.0
    svm_scatter.4.1 (M5, 16) A.128 Y.64
    add (E) X(0,0)<1> ID(0,0)<1;1,0> 0x12345678:d
    svm_gather.1.2 (M1, 16) A.0 X.0
    svm_gather.1.2 (M5, 16) A.128 X.64`,
  },
  {
    title: "blocks that the thread stores and loads",
    form: "work items",
    body: `    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d
    oword_st (4) %slm 4:ud Y.0
    oword_ld (4) %slm 4:ud X.0`,
  },
];

/** The work items' form of a kernel; null if it keeps its threads. */
function workItemsOf(one: Case): IrFunction | null {
  const { program } = compileVisa([{ path: "k.visaasm", text: textOf(one) }], { inputs });
  const loaded = loadProgram(new DeviceCore().memory, program!.ir);
  const { file } = program!.ir.functions[0]!;
  const at = (name: string): number => file!.variables.find((v) => v.name === name)!.at;
  const width = one.width ?? 16;
  const model: WorkItemModel = {
    parts: [
      { at: at("OUT"), bytes: 8, from: 0, source: { kind: "param", offset: 0 } },
      { at: at("ID"), bytes: 4 * width, from: 0, source: { kind: "item-index" } },
    ],
    filled: [],
    pointers: [0],
    paramBytes: 8,
    surfaces: new Map(),
    privateMemory: { bytes: 0, base: null, stateOf: () => ({ sr0: 0, msg0: 0 }) },
  };
  const functions = new CompiledFunctions(loaded);
  const found = functions.asWorkItems(functions.list[0]!, width, model);
  return found === null ? null : found.list[0]!.ir;
}

function run(one: Case, engine: "jit" | "interpreter", items: number) {
  const device = new Device();
  const out = device.buffer("s32", 130);
  const module = device.load([{ path: "k.visaasm", text: textOf(one) }], { isa: "visa", inputs });
  const result = module.kernel("k").launch({ global: items, local: items / 2, args: [out], engine });
  expect([result.engine, result.reports]).toEqual([engine, []]);
  return [...out.read()];
}

describe.each(cases)("$title", (one) => {
  test("has the form", () => {
    const form = workItemsOf(one);
    expect(form === null ? "threads" : "work items").toBe(one.form);
    if (one.most === undefined) return;
    const rest = workItemsOf({ ...one, body: "" })!;
    expect(form!.instructions.length - rest.instructions.length).toBeLessThanOrEqual(one.most);
  });
  test.each(one.whole ? [64] : [64, 26])("gives the same in both engines, with %i work items", (items) => {
    expect(run(one, "jit", items)).toEqual(run(one, "interpreter", items));
  });
});

test.each(cases.filter(({ beyond }) => beyond))("$title: reads zeros, and is named", (one) => {
  expect(run(one, "jit", 64).slice(0, 64)).toEqual(Array.from({ length: 64 }, (_, i) => i));
  const device = new Device();
  const module = device.load([{ path: "k.visaasm", text: textOf(one) }], { isa: "visa", inputs });
  const args = [device.buffer("s32", 64)];
  const { reports } = module.kernel("k").launch({ global: 64, local: 32, args, sanitize: "all" });
  expect(reports.map(({ code }) => code)).toContain("register-out-of-bounds");
});

// What IGC makes of kernels where a register holds half of the lanes' elements: vectors, ids too, have two variables.
test("local ids in two registers are the work items' own", () => {
  const read = (file: string): string =>
    readFileSync(new URL(`../../bench/visa/opencl/${file}`, import.meta.url), "utf8");
  const source = { path: "k.visaasm", text: read("matmul-tiled.skl.32.visaasm") };
  const options = { isa: "visa", target: "skl", zeinfo: parse(read("matmul-tiled.skl.32.yaml")) } as const;
  const n = 32;
  const run = (engine: "jit" | "interpreter") => {
    const device = new Device();
    const numbers = Array.from({ length: n * n }, (_, i) => (i * 7) % 64);
    const [a, b, c] = [device.buffer("f32", numbers), device.buffer("f32", numbers), device.buffer("f32", n * n)];
    const args = [scalar("s32", n), a, b, c];
    const { reports } = device
      .load(source, options)
      .kernel()
      .launch({ global: [n, n], local: [16, 16], args, engine });
    return { reports, c: [...c.read()] };
  };
  expect(run("jit")).toEqual(run("interpreter"));
  const memory = new DeviceCore().memory;
  const { program } = compileVisa([source], options);
  const functions = new CompiledFunctions(loadProgram(memory, program!.ir));
  const section = () => ({ address: 0n, bytes: 0 });
  const args = [scalar("s32", n), 0n, 0n, 0n];
  const { threads } = program!.plan("matmul_tiled", [n, n, 1], [16, 16, 1], args, { memory, section }).request;
  const found = functions.asWorkItems(functions.list[0]!, threads!.width, threads!.items!);
  expect(found).not.toBeNull();
  expect(found!.list[0]!.ir.file).toBeUndefined();
});

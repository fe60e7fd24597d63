import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import type { WorkItemModel } from "../../src/ir/index.ts";
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
}

const head = (width: number): string => `.version 4.0
.kernel "k"
${["X", "Y", "ID"].map((v) => `.decl ${v} v_type=G type=d num_elts=${width} align=GRF`).join("\n")}
.decl A v_type=G type=uq num_elts=${width} align=GRF
${["S", "T"].map((v) => `.decl ${v} v_type=G type=d num_elts=1 align=dword`).join("\n")}
.decl OUT v_type=G type=uq num_elts=1 align=GRF
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
    title: "half of the lanes alone",
    form: "threads",
    body: "    mov (E) X(0,0)<1> 1:d\n    add (M1, 8) X(0,0)<1> ID(0,0)<1;1,0> 3:d",
  },
  {
    title: "halves of which the second reads what the first wrote",
    form: "threads",
    width: 32,
    body: `    mov (E) X(0,0)<1> ID(0,0)<1;1,0>
    add (M1, 16) X(2,0)<1> X(0,0)<1;1,0> 3:d
    add (M5, 16) X(0,0)<1> X(2,0)<1;1,0> 3:d`,
  },
  {
    title: "another lane's element",
    form: "threads",
    body: "    mul (E) Y(0,0)<1> ID(0,0)<1;1,0> 7:d\n    add (E) X(0,0)<1> ID(0,0)<1;1,0> Y(0,3)<0;1,0>",
  },
  {
    title: "a predicate as a number",
    form: "threads",
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
];

/** The registers' places as the file of `head` has them are found by running a launch; here only the form counts. */
function formOf(one: Case): Case["form"] {
  const { program } = compileVisa([{ path: "k.visaasm", text: textOf(one) }], { inputs });
  const loaded = loadProgram(new DeviceCore().memory, program!.ir);
  const { file } = program!.ir.functions[0]!;
  const at = (name: string): number => file!.variables.find((v) => v.name === name)!.at;
  const width = one.width ?? 16;
  const model: WorkItemModel = {
    parts: [
      { at: at("OUT"), bytes: 8, source: { kind: "param", offset: 0 } },
      { at: at("ID"), bytes: 4 * width, source: { kind: "item-index" } },
    ],
    filled: [],
    pointers: [0],
    paramBytes: 8,
    surfaces: new Map(),
  };
  const functions = new CompiledFunctions(loaded);
  return functions.asWorkItems(functions.list[0]!, width, model) === null ? "threads" : "work items";
}

function run(one: Case, engine: "jit" | "interpreter", items: number) {
  const device = new Device();
  const out = device.buffer("s32", 64);
  const module = device.load([{ path: "k.visaasm", text: textOf(one) }], { isa: "visa", inputs });
  const result = module.kernel("k").launch({ global: items, local: items / 2, args: [out], engine });
  expect([result.engine, result.reports]).toEqual([engine, []]);
  return [...out.read()];
}

describe.each(cases)("$title", (one) => {
  test("has the form", () => expect(formOf(one)).toBe(one.form));
  test.each([64, 26])("gives the same in both engines, with %i work items", (items) => {
    expect(run(one, "jit", items)).toEqual(run(one, "interpreter", items));
  });
});

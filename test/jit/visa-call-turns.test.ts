import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Device, scalar } from "../../src/index.ts";
import { CompiledFunctions } from "../../src/jit/compile/plan/compiled-functions.ts";
import { loadProgram } from "../../src/program/program.ts";
import { DeviceCore } from "../../src/runtime/device/device-core.ts";
import { compileVisa } from "../../src/runtime/visa/compile.ts";

/*
 * The loops that compilers of vISA write where each lane calls a function of its own: compiled as one call by address,
 * if they are nothing else (src/ir/flow/call-turns.ts). IGC's own are in visa-work-item-calls.test.ts.
 */

const zeinfo = parse(readFileSync(new URL("../../bench/visa/opencl/calls-table.skl.16.yaml", import.meta.url), "utf8"));
const text = readFileSync(new URL("../../bench/visa/opencl/calls-table.skl.16.visaasm", import.meta.url), "utf8");
const options = { isa: "visa", target: "skl", zeinfo } as const;

/** Whether lanes still read each other's addresses. */
function takesTurns(text: string): boolean {
  const { memory } = new DeviceCore();
  const { program } = compileVisa([{ path: "k.visaasm", text }], options);
  const functions = new CompiledFunctions(loadProgram(memory, program!.ir));
  const section = () => ({ address: 0n, bytes: 0 });
  const plan = program!.plan("calls_table", [64, 1, 1], [64, 1, 1], [scalar("u32", 1), 0n], { memory, section });
  const { width, items } = plan.request.threads!;
  const kernel = functions.named("calls_table")!;
  const found = functions.asWorkItems(kernel, width, items!) ?? functions;
  return found.list[kernel.number]!.ir.instructions.some(({ op }) => op.kind === "warp") || found === functions;
}

function run(text: string, engine: "jit" | "interpreter") {
  const device = new Device();
  const out = device.buffer("u32", 100);
  const kernel = device.load({ path: "k.visaasm", text }, options).kernel("calls_table");
  const { reports } = kernel.launch({ global: 100, local: 50, args: [scalar("u32", 5), out], engine });
  return { reports: reports.map(({ message }) => message.replace(/ at 0x[0-9a-f]+/, "")), out: [...out.read()] };
}

test("IGC's loop is one call", () => {
  expect(takesTurns(text)).toBe(false);
});

const call = "    ifcall (M1, 16) V0086(0,0)<0;1,0> 4 2\n";
const result = "    mov (M1, 16) V0072(0,0)<1> V0047(0,0)<1;1,0>\n";

/** Loops that are not, by what differs. All of them end. */
const others: readonly (readonly [name: string, from: string, to: string])[] = [
  [
    "the call changes the lane's address",
    result,
    `${result}    add (M1, 16) V0072(0,0)<1> V0072(0,0)<1;1,0> 0x1:d
    mov (M1, 16) V0078(0,0)<1> V0058(0,0)<0;1,0>
`,
  ],
  [
    "the lanes that were left are used afterwards",
    "    add (M1_NM, 1) V0073(0,0)<1> V0073(0,0)<0;1,0> 0x1:w\n",
    "    add (M1, 16) V0072(0,0)<1> V0072(0,0)<1;1,0> V0084(0,0)<0;1,0>\n    add (M1_NM, 1) V0073(0,0)<1> V0073(0,0)<0;1,0> 0x1:w\n",
  ],
  ["there are two calls", call, `${call}    mov (M1, 16) V0045(0,0)<1> V0047(0,0)<1;1,0>\n${call}`],
  ["a lane counts its turns", "_0_026:\n", "_0_026:\n    add (M1, 16) V0072(0,0)<1> V0072(0,0)<1;1,0> 0x1:d\n"],
];

test.each(others)("%s: the loop stays", (_, from, to) => {
  expect(text).toContain(from);
  const changed = text.replace(from, to);
  expect(takesTurns(changed)).toBe(true);
  const found = run(changed, "interpreter");
  expect(found).not.toEqual(run(text, "interpreter"));
  expect(run(changed, "jit")).toEqual(found);
});

/** Two functions that store to the same place: who comes last wins. Lanes call `f` where their bit in CHOICE is set. */
const racing = `.version 4.0
.kernel "k"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl ID v_type=G type=ud num_elts=16 align=GRF
.decl CHOICE v_type=G type=uw num_elts=2 align=GRF
.decl F v_type=G type=uq num_elts=1 align=GRF
.decl G v_type=G type=uq num_elts=1 align=GRF
.decl OWN v_type=G type=uq num_elts=16 align=GRF
.decl LOW v_type=G type=ud num_elts=16 align=GRF
.decl LEFT v_type=G type=uw num_elts=1 align=dword
.decl NOW v_type=G type=uw num_elts=1 align=dword
.decl FIRST v_type=G type=ud num_elts=1 align=dword
.decl AT v_type=G type=uw num_elts=2 align=dword alias=<FIRST, 0>
.decl TURN v_type=G type=ud num_elts=1 align=dword
.decl ARG v_type=G type=ud num_elts=64 align=GRF alias=<%arg, 0>
.decl WHERE v_type=G type=uq num_elts=32 align=GRF alias=<%arg, 0>
.decl A0 v_type=A num_elts=1
.decl P1 v_type=P num_elts=16
.decl P5 v_type=P num_elts=16
.decl P6 v_type=P num_elts=16
.decl P7 v_type=P num_elts=16
.input OUT offset=32 size=8
.input CHOICE offset=64 size=4
.input ID offset=128 size=64
.kernel_attr SimdSize=16
.function "k_main"
k_main:
    faddr f F(0,0)<1>
    faddr g G(0,0)<1>
    setp (M1_NM, 16) P1 CHOICE(0,0)<0;1,0>
    (P1) sel (M1, 16) OWN(0,0)<1> F(0,0)<0;1,0> G(0,0)<0;1,0>
    setp (M1_NM, 16) P5 0x0:ud
    cmp.eq (M1, 16) P5 CHOICE(0,0)<0;1,0> CHOICE(0,0)<0;1,0>
    mov (M1_NM, 1) LEFT(0,0)<1> P5
again:
    mov (M1, 16) LOW(0,0)<1> OWN(0,0)<1;1,0>
    fbl (M1_NM, 1) FIRST(0,0)<1> LEFT(0,0)<0;1,0>
    shl (M1_NM, 1) FIRST(0,0)<1> FIRST(0,0)<0;1,0> 0x2:w
    addr_add (M1_NM, 1) A0(0)<1> &LOW AT(0,0)<0;1,0>
    mov (M1_NM, 1) TURN(0,0)<1> r[A0(0),0]<0;1,0>:ud
    setp (M1_NM, 16) P6 0x0:ud
    cmp.eq (M1, 16) P6 TURN(0,0)<0;1,0> LOW(0,0)<1;1,0>
    (!P6) goto (M1, 16) others
    mov (M1, 16) ARG(0,0)<1> ID(0,0)<1;1,0>
    mov (M1, 16) WHERE(2,0)<1> OUT(0,0)<0;1,0>
    ifcall (M1, 16) TURN(0,0)<0;1,0> 6 0
others:
    mov (M1_NM, 1) NOW(0,0)<1> P6
    not (M1_NM, 1) NOW(0,0)<1> NOW(0,0)<0;1,0>
    and (M1_NM, 1) LEFT(0,0)<1> LEFT(0,0)<0;1,0> NOW(0,0)<0;1,0>
    setp (M1_NM, 16) P7 LEFT(0,0)<0;1,0>
    (P7) goto (M1, 16) again
    ret (M1, 1)
${["f", "g"]
  .map(
    (name, i) => `
.global_function "${name}"
.decl ARG v_type=G type=ud num_elts=64 align=GRF alias=<%arg, 0>
.decl WHERE v_type=G type=uq num_elts=32 align=GRF alias=<%arg, 0>
.decl X v_type=G type=ud num_elts=16 align=GRF
.kernel_attr SimdSize=16
.kernel_attr Extern
.kernel_attr ArgSize=6
.kernel_attr RetValSize=0
.function "${name}_main"
${name}_main:
    add (M1, 16) X(0,0)<1> ARG(0,0)<1;1,0> ${100 * (i + 1)}:ud
    svm_scatter.4.1 (M1, 16) WHERE.64 X.0
    fret (M1, 16)
`,
  )
  .join("")}`;

describe("functions that store to the same place are called in the order of their first lanes", () => {
  test.each([0, 0xffff, 0x0001, 0x00ff, 0xff00, 0x8000, 0x5555, 0x7fff, 0x1234])("lanes of f: %i", (choice) => {
    // The second function has the last word, or the only one, with its last lane.
    const isFirst = choice & 1 ? 0 : 1;
    const second = choice === 0 ? 1 : choice === 0xffff ? 0 : 1 - isFirst;
    const last = 31 - Math.clz32(second === 0 ? choice : ~choice & 0xffff);
    for (const engine of ["jit", "interpreter"] as const) {
      const device = new Device();
      const out = device.buffer("u32", 1);
      const inputs = [
        { name: "OUT", kind: "arg", type: "u64" },
        { name: "CHOICE", kind: "arg", type: "u32" },
        { name: "ID", kind: "lane-id", type: "u32" },
      ] as const;
      const kernel = device
        .load([{ path: "k.visaasm", text: racing }], { isa: "visa", target: "skl", inputs })
        .kernel("k");
      const result = kernel.launch({ global: 16, local: 16, args: [out, scalar("u32", choice)], engine });
      expect(result.reports).toEqual([]);
      expect(result.engine).toBe(engine);
      expect([...out.read()]).toEqual([last + 100 * (second + 1)]);
    }
  });
});

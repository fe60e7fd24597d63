import { expect, test } from "vitest";
import { CompiledFunctions } from "../../src/jit/compile/plan/compiled-functions.ts";
import { sharedUseOf } from "../../src/jit/compile/plan/shared-use.ts";
import { Device } from "../../src/index.ts";
import { loadProgram } from "../../src/program/program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { DeviceCore } from "../../src/runtime/device/device-core.ts";
import { SourceText } from "../../src/source/index.ts";

const header = `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 small[64];
.shared .align 4 .b8 large[4096];
.extern .shared .align 4 .b8 given[];
`;

/** A kernel `k(.param .u64 x)` with registers %p, %r and %d, numbered from 0 to 9. */
const kernel = (body: string, name = "k"): string => `
.visible .entry ${name}(.param .u64 x) {
.reg .pred %p<10>; .reg .b32 %r<10>; .reg .b64 %d<10>;
${body}
ret; }`;

/** The names of the variables that a kernel can find; null where it may make up addresses. */
function usedBy(text: string): readonly string[] | null {
  const { module, diagnostics } = compile([new SourceText("k.ptx", header + text)], {});
  expect(diagnostics.map((d) => d.message)).toEqual([]);
  const program = loadProgram(new DeviceCore().memory, module!);
  const functions = new CompiledFunctions(program);
  const used = functions.list.filter(({ ir }) => ir.kind === "function" || ir.name === "k");
  const found = sharedUseOf(used, program);
  if (found === null) return null;
  const names = found.variables.map(
    ({ start }) => [...program.variables].find(([, v]) => v.variable.space === "shared" && v.address === start)![0],
  );
  return found.ofLaunch ? [...names, "given"] : names;
}

test.each([
  ["a variable", "mov.u32 %r0, %tid.x; mov.u32 %r1, small; add.u32 %r1, %r1, %r0; ld.shared.u8 %r2, [%r1];", ["small"]],
  ["memory of the launch", "ld.shared.u32 %r0, [given+4];", ["given"]],
  ["nothing", "ld.param.u64 %d0, [x]; ld.global.u32 %r0, [%d0];", []],
  ["a generic address", "mov.u64 %d0, large; cvta.shared.u64 %d0, %d0; ld.u32 %r0, [%d0];", ["large"]],
  [
    "a pointer that moves on",
    "mov.u32 %r0, small; L: ld.shared.u32 %r1, [%r0]; add.u32 %r0, %r0, 4;" + "setp.ne.u32 %p0, %r1, 0; @%p0 bra L;",
    ["small"],
  ],
  ["a number", "ld.shared.u32 %r0, [small]; mov.u32 %r3, 16; ld.shared.u32 %r1, [%r3];", null],
  ["a thread's number", "mov.u32 %r0, %tid.x; ld.shared.u8 %r1, [%r0]; ld.shared.u32 %r2, [small];", null],
  ["a parameter", "ld.param.u32 %r0, [x]; ld.shared.u32 %r1, [%r0];", null],
] as const)("%s", (_, body, names) => {
  expect(usedBy(kernel(body))).toEqual(names);
});

test("what functions name counts, and what they are given is an address", () => {
  const function_ = `
.func f(.param .b64 a) { .reg .b32 %r<2>; .reg .b64 %d; ld.param.u64 %d, [a];
ld.shared.u32 %r0, [%d]; ld.shared.u32 %r1, [large]; st.shared.u32 [%d], %r1; ret; }`;
  const call = "{ .param .b64 a; mov.u64 %d0, small; st.param.b64 [a], %d0; call.uni f, (a); }";
  expect([...usedBy(function_ + kernel(call))!].sort()).toEqual(["large", "small"]);
});

test("variables begin as zeros, whatever other kernels leave in them", () => {
  const fill = `mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 2; mov.u32 %r1, large; add.u32 %r1, %r1, %r0;
st.shared.u32 [%r1], 7; st.shared.u32 [small+60], 9; st.shared.u32 [%r1+3072], 8;`;
  const read = `ld.param.u64 %d0, [x]; mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 2; cvt.u64.u32 %d1, %r0;
add.u64 %d0, %d0, %d1; mov.u32 %r1, large; add.u32 %r1, %r1, %r0; ld.shared.u32 %r2, [%r1];
ld.shared.u32 %r3, [%r1+3072]; add.u32 %r2, %r2, %r3; st.shared.u32 [%r1], 5; st.global.u32 [%d0], %r2;`;
  const device = new Device();
  const module = device.load(header + kernel(fill, "fill") + kernel(read, "read"));
  const out = device.buffer(new Uint32Array(256).fill(1));
  for (const name of ["fill", "read"]) {
    const { engine } = module.kernel(name).launch({ grid: 3, block: 256, args: [out] });
    expect(engine).toBe("jit");
  }
  expect([...out.read()]).toEqual(new Array(256).fill(0));
});

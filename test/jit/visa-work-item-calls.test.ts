import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Device, scalar } from "../../src/index.ts";
import { CompiledFunctions } from "../../src/jit/compile/plan/compiled-functions.ts";
import { loadProgram } from "../../src/program/program.ts";
import { DeviceCore } from "../../src/runtime/device/device-core.ts";
import { compileVisa } from "../../src/runtime/visa/compile.ts";

/*
 * Functions of vISA that are compiled without the hardware thread around their work items: arguments and results are
 * registers, and nothing is left of the stack in the thread's private memory but its size.
 */

const imul = Math.imul;
const twist = (a: number, b: number): number => imul(a ^ (b << 7), 0x9e3779b1);
const shear = (a: number, b: number): number => (a >>> 3) + imul(b ^ 0x55, 5);
const blend = (a: number, b: number): number => (a & b) + (a | 3);
const turn = (a: number, b: number): number => ((a << 5) | (a >>> 27)) - b;
const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2));

/** What bench/opencl/calls-*.cl compute. */
const models: Readonly<Record<string, (id: number, n: number) => number>> = {
  direct: (id, rounds) => {
    let x = id;
    for (let i = 0; i < rounds; i++) {
      const a = twist(x, i + id);
      x = a ^ (a >>> 15);
    }
    return x >>> 0;
  },
  table: (id, rounds) => {
    let x = imul(id, 0x9e3779b1);
    for (let i = 0; i < rounds; i++) x = [twist, shear, blend, turn][(x >>> 9) & 3]!(x, i + id);
    return x >>> 0;
  },
  recursion: (id, n) => fib(n + (id % 3)),
};

const compiled = Object.keys(models).flatMap((name) =>
  ["skl.16", "dg2.16", "pvc.32"].map((variant) => ({ name, variant })),
);

describe.each(compiled)("calls-$name as IGC compiles it for $variant", ({ name, variant }) => {
  const read = (suffix: string): string =>
    readFileSync(new URL(`../../bench/visa/opencl/calls-${name}.${variant}.${suffix}`, import.meta.url), "utf8");
  const source = { path: "k.visaasm", text: read("visaasm") };
  const options = { isa: "visa", target: variant.split(".")[0]!, zeinfo: parse(read("yaml")) } as const;

  test("is compiled as its work items", () => {
    const { memory } = new DeviceCore();
    const { program } = compileVisa([source], options);
    const functions = new CompiledFunctions(loadProgram(memory, program!.ir));
    const section = () => ({ address: 0n, bytes: 0 });
    const args = [scalar("u32", 1), 0n];
    const plan = program!.plan(`calls_${name}`, [64, 1, 1], [64, 1, 1], args, { memory, section });
    const { width, items } = plan.request.threads!;
    const found = functions.asWorkItems(functions.named(`calls_${name}`)!, width, items!);
    expect(found?.list.map(({ ir }) => ir.file)).toEqual(functions.list.map(() => undefined));
  });

  // The last thread has fewer lanes.
  test.each(["jit", "interpreter"] as const)("computes in the %s what its source says", (engine) => {
    const device = new Device();
    const out = device.buffer("u32", 100);
    const kernel = device.load(source, options).kernel(`calls_${name}`);
    const result = kernel.launch({ global: 100, local: 50, args: [scalar("u32", 6), out], engine });
    expect(result.reports).toEqual([]);
    expect([...out.read()]).toEqual(Array.from({ length: 100 }, (_, id) => models[name]!(id, 6)));
  });

  // Work items times what .ze_info gives each: 80 bytes and more.
  test.each(["jit", "interpreter"] as const)("in the %s only threads that begin have memory", (engine) => {
    const device = new Device();
    const out = device.buffer("u32", 4096);
    const kernel = device.load(source, options).kernel(`calls_${name}`);
    const before = device.memory.used;
    const result = kernel.launch({ global: 4096, local: 256, args: [scalar("u32", 1), out], engine });
    expect(result.engine).toBe(engine);
    expect(device.memory.used - before >= 80 * 4096).toBe(engine === "interpreter");
  });
});

/** A function that is passed 2.0, whose bits are among those that offsets into shared local memory do not have. */
const passingTwo = `.version 4.0
.kernel "k"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl ID v_type=G type=ud num_elts=16 align=GRF
.decl AT v_type=G type=uq num_elts=16 align=GRF
.decl R v_type=G type=f num_elts=16 align=GRF
.decl ARG v_type=G type=f num_elts=64 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=f num_elts=64 align=GRF alias=<%retval, 0>
.input OUT offset=32 size=8
.input ID offset=64 size=64
.kernel_attr SimdSize=16
.function "k_main"
k_main:
    mov (M1, 16) ARG(0,0)<1> 0x40000000:f
    fcall (M1, 16) twice 2 2
    mov (M1, 16) R(0,0)<1> RET(0,0)<1;1,0>
    mul (M1, 16) AT(0,0)<1> ID(0,0)<1;1,0> 4:ud
    add (M1, 16) AT(0,0)<1> AT(0,0)<1;1,0> OUT(0,0)<0;1,0>
    svm_scatter.4.1 (M1, 16) AT.0 R.0
    ret (M1, 1)

.global_function "twice"
.decl ARG v_type=G type=f num_elts=64 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=f num_elts=64 align=GRF alias=<%retval, 0>
.kernel_attr SimdSize=16
.kernel_attr ArgSize=2
.kernel_attr RetValSize=2
.function "twice_main"
twice_main:
    add (M1, 16) RET(0,0)<1> ARG(0,0)<1;1,0> ARG(0,0)<1;1,0>
    fret (M1, 16)
`;

test.each(["jit", "interpreter"] as const)("the %s passes all bits of an argument", (engine) => {
  const device = new Device();
  const out = device.buffer("f32", 16);
  const inputs = [
    { name: "OUT", kind: "arg", type: "u64" },
    { name: "ID", kind: "lane-id", type: "u32" },
  ] as const;
  const kernel = device.load([{ path: "k.visaasm", text: passingTwo }], { isa: "visa", inputs }).kernel("k");
  expect(kernel.launch({ global: 16, local: 16, args: [out], engine }).reports).toEqual([]);
  expect([...out.read()]).toEqual(Array.from({ length: 16 }, () => 4));
});

// A call destroys all of %arg (docs/ifcall.md, sentence 24): of what is read after it, the element that has been written
// since is alone not 0.
test.each(["jit", "interpreter"] as const)(
  "the %s keeps one element of the arguments that is written after a call",
  (engine) => {
    const text = `.version 4.0
.kernel "k"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl ID v_type=G type=ud num_elts=16 align=GRF
.decl AT v_type=G type=uq num_elts=16 align=GRF
.decl R v_type=G type=ud num_elts=16 align=GRF
.decl ARG v_type=G type=ud num_elts=64 align=GRF alias=<%arg, 0>
.input OUT offset=32 size=8
.input ID offset=64 size=64
.kernel_attr SimdSize=16
.function "k_main"
k_main:
    add (M1, 16) ARG(0,0)<1> ID(0,0)<1;1,0> 100:ud
    fcall (M1, 16) nothing 2 0
    mov (M1_NM, 1) ARG(1,2)<1> 5:ud
    mov (M1, 16) R(0,0)<1> ARG(0,0)<1;1,0>
    mul (M1, 16) AT(0,0)<1> ID(0,0)<1;1,0> 4:ud
    add (M1, 16) AT(0,0)<1> AT(0,0)<1;1,0> OUT(0,0)<0;1,0>
    svm_scatter.4.1 (M1, 16) AT.0 R.0
    ret (M1, 1)

.global_function "nothing"
.kernel_attr SimdSize=16
.kernel_attr ArgSize=2
.kernel_attr RetValSize=0
.function "nothing_main"
nothing_main:
    fret (M1, 16)
`;
    const inputs = [
      { name: "OUT", kind: "arg", type: "u64" },
      { name: "ID", kind: "lane-id", type: "u32" },
    ] as const;
    const device = new Device();
    const out = device.buffer("u32", 16);
    const kernel = device.load([{ path: "k.visaasm", text }], { isa: "visa", inputs }).kernel("k");
    expect(kernel.launch({ global: 16, local: 16, args: [out], engine }).reports).toEqual([]);
    expect([...out.read()]).toEqual(Array.from({ length: 16 }, (_, lane) => (lane === 10 ? 5 : 0)));
  },
);

/** A function that calls itself N times, with a frame of 64 bytes each time. */
const nested = `.version 4.0
.kernel "k"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl STK v_type=G type=uq num_elts=1 align=GRF
.decl ID v_type=G type=ud num_elts=16 align=GRF
.decl N v_type=G type=ud num_elts=1 align=GRF
.decl AT v_type=G type=uq num_elts=16 align=GRF
.decl R v_type=G type=ud num_elts=16 align=GRF
.decl ARG v_type=G type=ud num_elts=64 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=ud num_elts=64 align=GRF alias=<%retval, 0>
.input OUT offset=32 size=8
.input N offset=64 size=4
.input STK offset=96 size=8
.input ID offset=128 size=64
.kernel_attr SimdSize=16
.function "k_main"
k_main:
    mov (M1_NM, 1) %sp(0,0)<1> STK(0,0)<0;1,0>
    mov (M1_NM, 1) %fp(0,0)<1> %sp(0,0)<0;1,0>
    mov (M1, 16) ARG(0,0)<1> N(0,0)<0;1,0>
    fcall (M1, 16) down 2 2
    mov (M1, 16) R(0,0)<1> RET(0,0)<1;1,0>
    mul (M1, 16) AT(0,0)<1> ID(0,0)<1;1,0> 4:ud
    add (M1, 16) AT(0,0)<1> AT(0,0)<1;1,0> OUT(0,0)<0;1,0>
    svm_scatter.4.1 (M1, 16) AT.0 R.0
    ret (M1, 1)

.global_function "down"
.decl X v_type=G type=ud num_elts=16 align=GRF
.decl OLD v_type=G type=uq num_elts=1 align=GRF
.decl PLACE v_type=G type=uq num_elts=1 align=GRF
.decl ARG v_type=G type=ud num_elts=64 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=ud num_elts=64 align=GRF alias=<%retval, 0>
.decl P1 v_type=P num_elts=16
.kernel_attr SimdSize=16
.kernel_attr ArgSize=2
.kernel_attr RetValSize=2
.function "down_main"
down_main:
    mov (M1, 16) X(0,0)<1> ARG(0,0)<1;1,0>
    mov (M1_NM, 1) OLD(0,0)<1> %fp(0,0)<0;1,0>
    mov (M1_NM, 1) %fp(0,0)<1> %sp(0,0)<0;1,0>
    add (M1_NM, 1) %sp(0,0)<1> %sp(0,0)<0;1,0> 64:uq
    add (M1_NM, 1) PLACE(0,0)<1> %fp(0,0)<0;1,0> 48:uq
    svm_block_st (1) PLACE(0,0)<0;1,0> OLD.0
    cmp.eq (M1, 16) P1 X(0,0)<1;1,0> 0:ud
    mov (M1, 16) RET(0,0)<1> 7:ud
    (P1) goto (M1, 16) out
    add (M1, 16) ARG(0,0)<1> X(0,0)<1;1,0> -1:d
    fcall (M1, 16) down 2 2
    add (M1, 16) RET(0,0)<1> RET(0,0)<1;1,0> 1:ud
out:
    mov (M1_NM, 1) %sp(0,0)<1> %fp(0,0)<0;1,0>
    mov (M1_NM, 1) %fp(0,0)<1> OLD(0,0)<0;1,0>
    fret (M1, 16)
`;

describe("a stack of 4096 bytes with frames of 64", () => {
  const inputs = [
    { name: "OUT", kind: "arg", type: "u64" },
    { name: "N", kind: "arg", type: "u32" },
    { name: "STK", kind: "stack", bytesPerThread: 4096 },
    { name: "ID", kind: "lane-id", type: "u32" },
  ] as const;
  const run = (n: number, engine: "jit" | "interpreter") => {
    const device = new Device();
    const out = device.buffer("u32", 32);
    const kernel = device.load([{ path: "k.visaasm", text: nested }], { isa: "visa", inputs }).kernel("k");
    const result = kernel.launch({ global: 32, local: 32, args: [out, scalar("u32", n)], engine });
    // Compiled code has taken memory before the interpreter does.
    const reports = result.reports.map(({ message }) => message.replace(/ at 0x[0-9a-f]+/, ""));
    return { engine: result.engine, reports, out: [...out.read()] };
  };

  test.each([0, 5, 63])("has room for %i calls within the first", (n) => {
    const out = Array.from({ length: 32 }, () => n + 7);
    expect(run(n, "jit")).toEqual({ engine: "jit", reports: [], out });
    expect(run(n, "interpreter")).toEqual({ engine: "interpreter", reports: [], out });
  });

  test("is left by the 65th: the interpreter says so", () => {
    const found = run(64, "jit");
    expect(found.engine).toBe("interpreter");
    expect(found.reports).toEqual([expect.stringContaining("after the end of the private memory of thread 0")]);
    expect(run(64, "interpreter")).toEqual(found);
  });
});

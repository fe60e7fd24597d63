import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Kernel, KernelFault, loadKernel } from "../../examples/standalone/loader.mjs";
import { type BenchPlan, bytesOfBuffer, initialValues } from "../../bench/suite/kernel.ts";
import { benchKernels } from "../../bench/suite/suite.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { buildKernel, type BuildOptions } from "../../src/runtime/standalone/standalone.ts";
import type { Scalar } from "../../src/runtime/data/argument.ts";

const head = ".version 8.0\n.target sm_80\n.address_size 64\n";

/** A copy of the description, as if read from a file. */
async function load(text: string, options: BuildOptions = {}, print?: (text: string) => void) {
  const { wasm, description } = buildKernel({ path: "k.ptx", text }, options);
  return loadKernel(JSON.parse(JSON.stringify(description)), wasm, print === undefined ? {} : { print });
}

/** By kernel of the bench, why it cannot stand alone. */
const obstacles: ReadonlyMap<string, string> = new Map([
  ["warp-scan", "its lanes wait for others of their warp"],
  ["fourier", "it computes f32.sin, for some operands of which Lanewise itself is asked"],
]);

describe("a stand-alone module leaves the same memory as the interpreter", () => {
  for (const kernel of benchKernels) {
    const plan = kernel.plan(kernel.quickSize);
    const names = new Set(plan.launches.map((l) => l.kernel));
    // A module has one kernel, and a memory of its own.
    if (names.size > 1) continue;
    const text = readFileSync(new URL(`../../bench/kernels/${kernel.file}.ptx`, import.meta.url), "utf8");
    const obstacle = /\bmma\.sync/.test(text) ? "it multiplies matrices" : obstacles.get(kernel.name);
    if (obstacle !== undefined) {
      test(`${kernel.name} cannot stand alone`, () => {
        expect(() => buildKernel({ path: "k.ptx", text }, {})).toThrow(obstacle);
      });
      continue;
    }
    // What stands alone has no textures.
    const plain = (arg: BenchPlan["launches"][number]["args"][number]): arg is string | Scalar =>
      typeof arg === "string" || "value" in arg;
    if (plan.launches.some(({ args }) => !args.every(plain))) continue;
    const initial = initialValues(plan);

    const device = new PtxDevice();
    const module = device.load(text);
    const buffers = new Map(
      Object.entries(plan.buffers).map(([name, { type, n }]) => [
        name,
        device.buffer(type, n).writeBytes(initial.get(name)!.bytes),
      ]),
    );
    const wanted = (): Map<string, Uint8Array> => {
      for (const { kernel: name, grid, block, shared = 0, args } of plan.launches) {
        const given = args.filter(plain).map((arg) => (typeof arg === "string" ? buffers.get(arg)! : arg));
        expect(module.kernel(name).launch({ grid, block, shared, args: given }).ok).toBe(true);
      }
      return new Map([...buffers].map(([name, b]) => [name, b.readBytes()]));
    };

    for (const specialised of [false, true]) {
      test(`${kernel.name}${specialised ? ", for its block" : ""}`, async () => {
        const [first] = plan.launches;
        const found = await load(text, { kernel: first!.kernel, ...(specialised ? { block: first!.block } : {}) });
        const own = new Map(
          Object.entries(plan.buffers).map(([name, b]) => [
            name,
            found.buffer(bytesOfBuffer(b)).write(initial.get(name)!.bytes),
          ]),
        );
        for (const { grid, block, shared = 0, args } of plan.launches) {
          const given = args.filter(plain).map((arg) => (typeof arg === "string" ? own.get(arg)! : arg.value));
          found.launch({ grid, block, shared, args: given });
        }
        const got = new Map([...own].map(([name, b]) => [name, b.read(Uint8Array)]));
        if (!specialised) expected.set(kernel.name, wanted());
        expect(got).toEqual(expected.get(kernel.name));
      });
    }
  }
});

const expected = new Map<string, Map<string, Uint8Array>>();

test("variables, constants, both kinds of shared memory, and a pointer read from memory", async () => {
  const kernel = await load(`${head}
.global .u32 counter = 7;
.global .u64 table[2] = {counter, generic(counter)};
.const .u32 factors[4] = {1, 10, 100, 1000};
.shared .u32 fixed[8];
.extern .shared .u32 dynamic[];
.visible .entry k(.param .u64 out)
{
  .reg .b32 t, x, y, i; .reg .b64 o, a, p;
  ld.param.u64 o, [out];
  mov.u32 t, %tid.x;
  mov.u64 a, factors; mul.wide.u32 p, t, 4; add.u64 p, a, p;
  ld.const.u32 x, [p];
  mov.u32 i, fixed; mad.lo.u32 i, t, 4, i; st.shared.u32 [i], x;
  mov.u32 i, dynamic; mad.lo.u32 i, t, 4, i; st.shared.u32 [i], t;
  bar.sync 0;
  mov.u32 i, fixed; ld.shared.u32 x, [i+12];
  mov.u32 i, dynamic; ld.shared.u32 y, [i+8];
  mad.lo.u32 x, x, y, t;
  ld.global.u64 p, [table];
  ld.global.u32 y, [p];
  add.u32 x, x, y;
  mad.wide.u32 o, t, 4, o;
  st.global.u32 [o], x;
  st.global.u32 [counter], 9;
  ret;
}`);
  const out = kernel.buffer(16);
  kernel.launch({ grid: 1, block: 4, args: [out], shared: 16 });
  // 1000 * 2, the thread, and the 7 of `counter`.
  expect([...out.read(Uint32Array)]).toEqual([2007, 2008, 2009, 2010]);
  expect([...kernel.variable("counter")!.read(Uint32Array)]).toEqual([9]);

  // Both kinds are read and written from outside, as cudaMemcpyToSymbol does.
  const factors = kernel.variable("factors")!;
  expect([...factors.read(Uint32Array)]).toEqual([1, 10, 100, 1000]);
  factors.write(new Uint32Array([1, 10, 100, 500]));
  kernel.variable("counter")!.write(new Uint32Array([20]));
  kernel.launch({ grid: 1, block: 4, args: [out], shared: 16 });
  expect([...out.read(Uint32Array)]).toEqual([1020, 1021, 1022, 1023]);
  expect(kernel.variable("none")).toBe(null);
});

test("a fault names the line, the thread and the block", async () => {
  const text = readFileSync(new URL("../../examples/saxpy.ptx", import.meta.url), "utf8");
  const kernel = await load(text);
  const line = text.split("\n").findIndex((l) => l.includes("ld.global.f32")) + 1;
  const [x, y] = [kernel.buffer(160), kernel.buffer(1000)];
  const launch = () => kernel.launch({ grid: 2, block: 32, args: [64, 2.5, x, y] });
  expect(launch).toThrow(KernelFault);
  expect(launch).toThrow(
    /^k\.ptx:\d+: 4 bytes at 0x7f[0-9a-f]+: .* \(kernel saxpy, thread \(8,0,0\) of block \(1,0,0\): ld/,
  );
  try {
    launch();
  } catch (fault) {
    expect(fault).toMatchObject({ line, thread: [8, 0, 0], block: [1, 0, 0] });
  }
});

/** Each thread prints its number and a quarter of it. */
const printing = (format: string): string => `${head}
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);
.global .align 1 .b8 format[${format.length + 1}] = {${[...format].map((c) => c.charCodeAt(0)).join()}, 0};
.visible .entry k()
{
  .local .align 8 .b8 args[16];
  .reg .b32 t; .reg .b64 f, a; .reg .f64 d;
  mov.u32 t, %tid.x;
  st.local.u32 [args], t;
  cvt.rn.f64.u32 d, t; mul.f64 d, d, 0d3FD0000000000000;
  st.local.f64 [args+8], d;
  cvta.global.u64 f, format; cvta.local.u64 a, args;
  {
    .param .b64 p0, p1; .param .b32 r;
    st.param.b64 [p0], f; st.param.b64 [p1], a;
    call.uni (r), vprintf, (p0, p1);
  }
  ret;
}`;

test("the output of kernels is printed", async () => {
  const printed: string[] = [];
  const kernel = await load(printing("T %03d, %.2f%%"), {}, (text) => printed.push(text));
  kernel.launch({ grid: 1, block: 3 });
  expect(printed).toEqual(["T 000, 0.00%", "T 001, 0.25%", "T 002, 0.50%"]);
});

/** The output of glibc's printf. */
test.each<[format: string, ...[value: number, printed: string][]]>([
  [
    "%f",
    [Infinity, "inf"],
    [-Infinity, "-inf"],
    [NaN, "nan"],
    [-0, "-0.000000"],
    [1e22, "10000000000000000000000.000000"],
  ],
  ["%.0f", [0.5, "0"], [1.5, "2"], [2.5, "2"], [-0.4, "-0"]],
  ["%.1f", [0.25, "0.2"], [0.35, "0.3"], [0.75, "0.8"], [99.95, "100.0"]],
  ["%08.2f", [-1.005, "-0001.00"], [Infinity, "     inf"], [-Infinity, "    -inf"]],
  ["%-6.1f|", [2.25, "2.2   |"], [NaN, "nan   |"]],
  ["%e", [0, "0.000000e+00"], [5e-324, "4.940656e-324"], [9.9999996e9, "1.000000e+10"], [Infinity, "inf"]],
  ["%.0e", [2.5, "2e+00"], [3.5, "4e+00"], [-1e100, "-1e+100"]],
  ["%.3e", [1.0005, "1.000e+00"], [1e23, "1.000e+23"]],
])("doubles are printed as C does: %s", async (format, ...cases) => {
  const printed: string[] = [];
  const text = printing(format)
    .replace("k()", "k(.param .f64 value)")
    .replace("st.local.u32 [args], t;", "ld.param.f64 d, [value];")
    .replace(/cvt\.rn.*/, "")
    .replace("[args+8]", "[args]");
  const kernel = await load(text, {}, (line) => printed.push(line));
  for (const [value] of cases) kernel.launch({ grid: 1, block: 1, args: [value] });
  expect(printed).toEqual(cases.map(([, line]) => line));
});

test("conversions that the loader does not print like C are refused", async () => {
  for (const conversion of ["%.3d", "%+d", "%g", "%*d", "%hd", "%#x", "%.*f"]) {
    const kernel = await load(printing(conversion), {}, () => {});
    expect(() => kernel.launch({ grid: 1, block: 1 })).toThrow(`this loader does not print ${conversion}`);
  }
});

test("blocks may wait for later blocks", async () => {
  const kernel = await load(`${head}
.global .u32 flag;
.visible .entry k(.param .u64 out)
{
  .reg .b32 b, x; .reg .b64 o; .reg .pred p;
  ld.param.u64 o, [out];
  mov.u32 b, %ctaid.x;
  setp.eq.u32 p, b, 3;
  @p st.volatile.global.u32 [flag], 41;
wait:
  ld.volatile.global.u32 x, [flag];
  setp.eq.u32 p, x, 0;
  @p bra wait;
  mad.wide.u32 o, b, 4, o;
  add.u32 x, x, b;
  st.global.u32 [o], x;
  ret;
}`);
  const out = kernel.buffer(16);
  kernel.launch({ grid: 4, block: 1, args: [out] });
  expect([...out.read(Uint32Array)]).toEqual([41, 42, 43, 44]);
});

const body = (text: string): string => `${head}.extern .func (.param .b64 r) malloc (.param .b64 size);
.visible .entry k() { ${text} ret; }
.visible .entry other() { ret; }`;

test("kernels that cannot stand alone, and invalid launches, are refused", async () => {
  const build = (text: string, options: BuildOptions = { kernel: "k" }) => buildKernel(body(text), options);
  expect(() => build("", {})).toThrow("which kernel? There are 2:\n  k\n  other");
  expect(() => build("", { kernel: "K" })).toThrow(/did you mean "k"/);
  expect(() => build("", { kernel: "k", block: 2000 })).toThrow(/2000/);
  const malloc =
    "{ .param .b64 s, p; .reg .b64 x; mov.u64 x, 8; st.param.b64 [s], x; call.uni (p), malloc, (s); ld.param.b64 x, [p]; }";
  expect(() => build(malloc)).toThrow('kernel "k" cannot stand alone: it calls malloc');
  expect(() => buildKernel(body("").replace("size 64", "size 32"), { kernel: "k" })).toThrow(/32 bits/);
  const kernel = await load(body(""), { kernel: "k", block: [32, 2] });
  expect(() => kernel.launch({ grid: 1, block: 32 })).toThrow("built for blocks of (32,2,1) threads, not (32,1,1)");
  expect(() => kernel.launch({ grid: 1, block: [32, 2], args: [1] })).toThrow("k has 0 parameters, not 1");
});

test("barriers for only some of the threads are refused, in PTX's terms", () => {
  expect(() => buildKernel(`${head}.visible .entry k() { barrier.sync 1, 64; ret; }`)).toThrow(
    'kernel "k" cannot stand alone: it has barriers with a number, a count or a reduction',
  );
});

test.each([
  ["f32", "sin.approx.f32 %x, %x;", "f32.sin"],
  ["f64", "add.rz.f64 %x, %x, 0d3ff0000000000000;", "f64.add_rz"],
])("what is computed by Lanewise for some operands is refused: %s, %s", (type, instruction, prim) => {
  const text = `.shared .${type} s; .reg .${type} %x; ld.shared.${type} %x, [s]; ${instruction} st.shared.${type} [s], %x;`;
  expect(() => buildKernel(`${head}.visible .entry k() { ${text} ret; }`)).toThrow(
    `kernel "k" cannot stand alone: it computes ${prim}, for some operands of which Lanewise itself is asked`,
  );
});

test("a kernel is built for the block size that it requires, and launched with no other", async () => {
  const bounded = (bounds: string) => `${head}.visible .entry k() ${bounds} { ret; }`;
  const fixed = await load(bounded(".reqntid 32, 2"));
  expect(fixed.description.block).toEqual([32, 2, 1]);
  expect(() => fixed.launch({ grid: 1, block: 64 })).toThrow("built for blocks of (32,2,1) threads, not (64,1,1)");
  expect(() => buildKernel(bounded(".reqntid 32, 2"), { block: 64 })).toThrow(/\.reqntid wants \(32, 2, 1\)/);
  const limited = await load(bounded(".maxntid 16, 4"));
  limited.launch({ grid: 1, block: 64 });
  expect(() => limited.launch({ grid: 1, block: 65 })).toThrow("a block of 65 threads: the kernel can have 64");
  expect(() => buildKernel(bounded(".maxntid 16, 4"), { block: 65 })).toThrow(/\.maxntid allows 64/);
});

test("a launch of an invalid size is rejected with a message", async () => {
  const kernel = await load(body(""), { kernel: "k" });
  const launch = (options: object) => () => kernel.launch(options as never);
  expect(launch({})).toThrow("a grid of (,1,1) is not from (1,1,1) to (2147483647,65535,65535)");
  expect(launch({ grid: 1 })).toThrow("a block of (,1,1) is not from (1,1,1) to (1024,1024,64)");
  expect(launch({ grid: 2 ** 31, block: 1 })).toThrow(/grid of \(2147483648,1,1\)/);
  expect(launch({ grid: [65536, 65535, 2], block: 1 })).toThrow("a grid of 8589803520 blocks is too large");
  expect(launch({ grid: 1, block: [1, 1, 65] })).toThrow(/block of \(1,1,65\)/);
  expect(launch({ grid: 1, block: [64, 32] })).toThrow("a block of 2048 threads: the kernel can have 1024");
  expect(launch({ grid: 1, block: 1, shared: -4 })).toThrow("-4 is not a number of bytes of shared memory");
});

test("a fault says what is wrong, and what is nearby", async () => {
  const faultOf = async (declarations: string, text: string): Promise<string> => {
    const kernel = await load(`${head}${declarations}
.visible .entry k(.param .u64 out) { .reg .b64 a; .reg .b32 x, i; .reg .pred p; ${text} ret; }`);
    const out = kernel.buffer(16);
    try {
      kernel.launch({ grid: 1, block: 1, args: [out] });
    } catch (fault) {
      return (fault as Error).message;
    }
    return "nothing";
  };
  const loading = (offset: number) => `ld.param.u64 a, [out]; ld.global.u32 x, [a+${offset}];`;
  expect(await faultOf("", loading(20))).toMatch(
    /4 bytes at 0x\w+: that is 4 bytes after the end of a buffer of 16 bytes/,
  );
  expect(await faultOf("", loading(-8))).toMatch(/: that is 8 bytes before the beginning of a buffer of 16 bytes/);
  expect(await faultOf("", "mov.u64 a, 0; ld.global.u32 x, [a];")).toMatch(/at 0x0: no buffer or variable is there/);
  expect(
    await faultOf(".shared .u32 s[4];", "mov.u32 x, 16; mov.u32 i, s; add.u32 x, x, i; st.shared.u32 [x], 1;"),
  ).toMatch(/: that is 0 bytes after the end of s/);
  expect(await faultOf("", "trap;")).toMatch(/: the kernel executed trap \(kernel k/);
  expect(await faultOf("", "mov.u32 i, 2; L: .branchtargets A, B; brx.idx i, L; A: B:")).toMatch(
    /: the index is not below the 2 labels of the list/,
  );
  const called = "mov.u64 a, 64; P: .callprototype _ (); call a, P;";
  expect(await faultOf("", called)).toMatch(/: the address is not that of a function which may be called here/);
});

const saxpy = (): Promise<Kernel> => load(readFileSync(new URL("../../examples/saxpy.ptx", import.meta.url), "utf8"));

test("an argument that does not fit its parameter is rejected", async () => {
  const [kernel, other] = [await saxpy(), await saxpy()];
  const [x, y, foreign] = [kernel.buffer(16), kernel.buffer(16), other.buffer(16)];
  const launch = (...args: readonly unknown[]): void => kernel.launch({ grid: 1, block: 32, args: args as never });
  expect(() => launch("4", 1, x, y)).toThrow("n (u32) is given string");
  expect(() => launch(undefined, 1, x, y)).toThrow("n (u32) is given undefined");
  expect(() => launch(4, null, x, y)).toThrow("a (f32) is given null");
  expect(() => launch(1.5, 1, x, y)).toThrow("n (u32) cannot be 1.5");
  expect(() => launch(2 ** 32, 1, x, y)).toThrow("n (u32) cannot be 4294967296");
  expect(() => launch(Number.NaN, 1, x, y)).toThrow("n (u32) cannot be NaN");
  expect(() => launch(x, 1, x, y)).toThrow("n (u32) holds no address");
  expect(() => launch(4, x, x, y)).toThrow("a (f32) holds no address");
  expect(() => launch(4, 1, foreign, y)).toThrow("x (u64): a buffer of 16 bytes is of another kernel's memory");
  for (const size of [-1, 1.5, Number.NaN])
    expect(() => kernel.buffer(size)).toThrow(`${size} is not a number of bytes`);
  launch(4n, 1, x.address, y);
});

test("kernels of one program may share buffers and variables", async () => {
  const text = `${head}
.global .u32 total;
.visible .entry fill(.param .u64 out)
{
  .reg .b32 t, x; .reg .b64 o, p;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x;
  mul.wide.u32 p, t, 4; add.u64 o, o, p;
  mul.lo.u32 x, t, t; st.global.u32 [o], x;
  ret;
}
.visible .entry sum(.param .u64 out)
{
  .reg .b32 t, x; .reg .b64 o, p;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x;
  mul.wide.u32 p, t, 4; add.u64 o, o, p;
  ld.global.u32 x, [o]; red.global.add.u32 [total], x;
  ret;
}`;
  const built = ["fill", "sum"].map((kernel) => buildKernel(text, { kernel }));
  const [first, second] = built.map(({ description }) => description);
  const fill = await loadKernel(first!, built[0]!.wasm);
  const sum = await loadKernel(second!, built[1]!.wasm, { memoryOf: fill });
  const early = fill.buffer(40);
  fill.launch({ grid: 1, block: 10, args: [early] });
  const late = sum.buffer(2 ** 20);
  fill.launch({ grid: 1, block: 10, args: [late] });
  for (const buffer of [early, late]) sum.launch({ grid: 1, block: 10, args: [buffer] });
  // Twice 0 + 1 + 4 + ... + 81.
  expect([...fill.variable("total")!.read(Uint32Array)]).toEqual([570]);
  await expect(loadKernel(second!, built[1]!.wasm, { memoryOf: await saxpy() })).rejects.toThrow(
    "sum and saxpy are not of one program",
  );
});

test("an invalid description is not loaded", async () => {
  const { wasm, description } = buildKernel(body(""), { kernel: "k" });
  await expect(loadKernel(description, wasm.subarray(1))).rejects.toThrow(
    "the module is not the one that is described",
  );
  await expect(loadKernel({ ...description, format: "x" }, wasm)).rejects.toThrow('format "lanewise kernel 1"');
});

test("only bytes that fit can be written to a buffer", async () => {
  const buffer = (await saxpy()).buffer(new Uint16Array([1, 2]), "b");
  buffer.write(new Uint16Array([3]).buffer);
  expect([...buffer.read(Uint16Array)]).toEqual([3, 2]);
  expect(() => buffer.write(new Float64Array(1))).toThrow("b has no room for 8 bytes");
  expect(() => buffer.write([1, 2] as never)).toThrow("b is written from a typed array");
});

test("running out of memory leaves the kernel unchanged", async () => {
  const kernel = await saxpy();
  expect(() => kernel.buffer(2 ** 33)).toThrow("there is no room for 8589934592 bytes: the memory has ");
  const [x, y] = [kernel.buffer(new Float32Array([1, 2, 3, 4])), kernel.buffer(16)];
  kernel.launch({ grid: 1, block: 32, args: [4, 2.5, x, y] });
  expect([...y.read(Float32Array)]).toEqual([2.5, 5, 7.5, 10]);
});

test("above the first two gigabytes, kernels run and faults are reported as below", async () => {
  const kernel = await saxpy();
  // Nothing is written there, so the host need not have the memory.
  kernel.buffer(2 ** 31);
  const [x, y] = [kernel.buffer(new Float32Array([1, 2, 3, 4])), kernel.buffer(16)];
  kernel.launch({ grid: 1, block: 32, args: [4, 2.5, x, y] });
  expect([...y.read(Float32Array)]).toEqual([2.5, 5, 7.5, 10]);
  expect(() => kernel.launch({ grid: 1, block: 32, args: [5, 2.5, x, y] })).toThrow(/thread \(4,0,0\)/);
});

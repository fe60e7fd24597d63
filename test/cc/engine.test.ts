import { expect, test } from "vitest";
import { translated } from "../../src/cc/index.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import type { EngineName, KernelResult } from "../../src/runtime/launch/launch-options.ts";
import { compilerForTests, whyNoMachineCode, widths } from "./native.ts";

/** A kernel `k(out)` of registers %t (the thread's number in the grid), %p (its word of `out`), and others. */
const kernel = (body: string, before = ""): string => `.version 8.6
.target sm_90
.address_size 64
.extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[10] = {37, 100, 32, 37, 103, 10, 0};
${before}
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<20>, %t; .reg .b64 %d<20>, %p; .reg .f32 %f<10>; .reg .pred %q<10>;
  .local .align 8 .b8 values[16];
  .shared .align 4 .b8 tile[256];
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %t, %r0, %r1, %t;
  ld.param.u64 %p, [out]; mul.wide.u32 %d0, %t, 4; add.u64 %p, %p, %d0;
  ${body}
}
`;

/** A loop that lanes leave one by one, with a selection in it. */
const divergent = kernel(`
  mov.u32 %r2, 0; mov.u32 %r3, %t;
AGAIN:
  setp.le.u32 %q0, %r3, 1; @%q0 bra DONE;
  and.b32 %r4, %r3, 1; setp.eq.u32 %q1, %r4, 0;
  shr.u32 %r5, %r3, 1; mad.lo.u32 %r6, %r3, 3, 1; selp.b32 %r3, %r5, %r6, %q1;
  add.u32 %r2, %r2, 1; bra AGAIN;
DONE:
  cvt.rn.f32.u32 %f0, %r2; sqrt.rn.f32 %f1, %f0; neg.f32 %f2, %f1; max.f32 %f3, %f2, 0fC0800000;
  st.global.f32 [%p], %f3; ret;`);

/** Words that go through shared memory, backwards, over a barrier. */
const shared = kernel(`
  mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; mov.u32 %r4, tile; add.u32 %r5, %r4, %r3;
  mul.lo.u32 %r6, %t, %t; st.shared.u32 [%r5], %r6; bar.sync 0;
  sub.u32 %r7, 63, %r2; shl.b32 %r7, %r7, 2; add.u32 %r7, %r4, %r7; ld.shared.u32 %r8, [%r7];
  st.global.u32 [%p], %r8; ret;`);

/** Output of some threads, which the host makes. */
const printing = kernel(`
  setp.gt.u32 %q0, %t, 2; @%q0 bra DONE;
  mov.u64 %d1, values; cvta.local.u64 %d2, %d1; st.local.u32 [values], %t;
  cvt.rn.f64.u32 %d3, %t; st.local.f64 [values+8], %d3;
  mov.u64 %d4, format; cvta.global.u64 %d5, %d4;
  { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d5; st.param.b64 [b], %d2; call.uni (r), vprintf, (a, b); }
DONE:
  st.global.u32 [%p], %t; ret;`);

/** An access beyond the end, by one thread of the second block. */
const faulty = kernel(`
  setp.eq.u32 %q0, %t, 77; selp.u32 %r2, 4096, 0, %q0; cvt.u64.u32 %d1, %r2; add.u64 %d2, %p, %d1;
  st.global.u32 [%d2], %t; ret;`);

const table = `.global .align 4 .b32 table[64] = {${Array.from({ length: 64 }, (_, i) => i * i * 77 + 1).join()}};`;

/** Words whose addresses follow each other in all lanes, in some quads, or in none, as numbers at launch decide. */
const rotated = kernel(
  `
  mov.u64 %d1, table; mov.u32 %r2, 0; mov.u32 %r3, 0;
AGAIN:
  mad.lo.u32 %r4, %t, %r3, 5; and.b32 %r4, %r4, 63; mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
  ld.global.u32 %r5, [%d3]; mad.lo.u32 %r2, %r2, 7, %r5;
  add.u32 %r3, %r3, 1; setp.lt.u32 %q0, %r3, 4; @%q0 bra AGAIN;
  ld.param.u64 %d4, [out]; add.u32 %r6, %t, 37; and.b32 %r6, %r6, 255; mul.wide.u32 %d5, %r6, 4;
  add.u64 %d4, %d4, %d5; st.global.u32 [%d4], %r2; ret;`,
  table,
);

/** Words of which only some are stored, beside others that are kept. */
const masked = kernel(`
  st.global.u32 [%p], 7; mul.lo.u32 %r2, %t, %t; and.b32 %r3, %r2, 5; setp.eq.u32 %q0, %r3, 4;
  @%q0 st.global.u32 [%p], %r2; ret;`);

/** Sums of sixteen lanes each, and their bytes in another order. */
const exchanged = kernel(`
  mul.lo.u32 %r2, %t, %t;
  shfl.sync.down.b32 %r3, %r2, 8, 0x100f, 0xffffffff; add.u32 %r2, %r2, %r3;
  shfl.sync.down.b32 %r3, %r2, 4, 0x100f, 0xffffffff; add.u32 %r2, %r2, %r3;
  shfl.sync.bfly.b32 %r3, %r2, 1, 0x1f, 0xffffffff; sub.u32 %r2, %r2, %r3;
  shfl.sync.up.b32 %r3, %r2, 6, 0, 0xffffffff; prmt.b32 %r2, %r2, %r3, 0x1604; st.global.u32 [%p], %r2; ret;`);

/** NaNs in some lanes of some warps, and infinities whose sum would be one. */
const notNumbers = kernel(`
  cvt.rn.f32.u32 %f0, %t; mov.f32 %f1, 0f7F800000; and.b32 %r2, %t, 1; setp.eq.u32 %q0, %r2, 0;
  neg.f32 %f2, %f1; selp.f32 %f3, %f1, %f2, %q0; mul.f32 %f4, %f3, %f0; add.f32 %f5, %f4, %f3;
  setp.lt.u32 %q1, %t, 100; selp.f32 %f6, %f0, %f5, %q1; add.f32 %f7, %f6, %f4; st.global.f32 [%p], %f7; ret;`);

/** Floats that are computed as doubles, whole numbers of 64 bits, and all of them in other forms; selected by doubles. */
const converted = kernel(
  `
  .reg .f64 %e<10>; .reg .b64 %l<10>;
  mul.lo.u32 %r2, %t, 0x9e3779b1; cvt.rn.f32.s32 %f0, %r2; cvt.f64.f32 %e0, %f0; cvt.rn.f64.u32 %e1, %r2;
  fma.rn.f64 %e2, %e0, 0d3FF8000000000000, %e1; setp.lt.f64 %q0, %e2, 0d41E0000000000000;
  selp.f64 %e3, %e2, %e0, %q0; cvt.rn.f32.f64 %f1, %e3; cvt.rzi.s32.f64 %r3, %e3; cvt.rzi.u32.f64 %r4, %e2;
  mul.wide.s32 %l0, %r2, %r3; mul.wide.u32 %l1, %r2, %r4; add.s64 %l2, %l0, %l1; shr.s64 %l2, %l2, 20; cvt.u32.u64 %r5, %l2;
  mul.hi.u32 %r6, %r2, %r4; cvt.s64.s32 %l3, %r5; shr.s64 %l4, %l3, 3; cvt.u32.u64 %r7, %l4;
  mov.b32 %r8, %f1; xor.b32 %r9, %r8, %r3; xor.b32 %r9, %r9, %r4; xor.b32 %r9, %r9, %r6; xor.b32 %r9, %r9, %r7;
  selp.b32 %r10, %r9, %r5, %q0; st.global.u32 [%p], %r10; ret;`,
);

/** Calls by address, and calls of a function by itself, as deep as the thread's number. */
const calling = kernel(
  `
  and.b32 %r2, %t, 1; setp.eq.u32 %q0, %r2, 0; mov.u64 %d1, sum; mov.u64 %d2, product; selp.b64 %d3, %d1, %d2, %q0;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %t; P: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r), %d3, (a), P; ld.param.b32 %r3, [r]; }
  st.global.u32 [%p], %r3; ret;`,
  `
.func (.param .b32 r) product(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; mul.lo.u32 %x, %x, 7; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) sum(.param .b32 a) {
  .reg .b32 %x, %y; .reg .pred %q;
  ld.param.b32 %x, [a]; setp.eq.u32 %q, %x, 0; @%q bra END; sub.u32 %y, %x, 1;
  { .param .b32 b; .param .b32 s; st.param.b32 [b], %y; call (s), sum, (b); ld.param.b32 %y, [s]; }
  add.u32 %x, %x, %y;
END:
  st.param.b32 [r], %x; ret;
}`,
);

interface Run {
  readonly result: KernelResult;
  readonly out: readonly number[];
}

function device(engine: EngineName, hostThreads = 1, width = ""): PtxDevice {
  return new PtxDevice({ engine, hostThreads, nativeCompiler: engine === "native" ? compilerForTests(width) : null });
}

function run(text: string, on: PtxDevice): Run {
  const out = on.buffer("u32", 256, "out");
  const result = on
    .load({ path: "k.ptx", text })
    .kernel("k")
    .launch({ grid: [4], block: [64], args: [out] });
  return { result, out: [...out.read()] };
}

/** What a launch has reported, without what differs between launches. */
const reported = ({ reports }: KernelResult): object[] =>
  reports.map(({ code, message, help, notes }) => ({ code, message, help, notes }));

const why = whyNoMachineCode();

test.skipIf(why !== null).each([
  ["a loop that lanes leave one by one", divergent],
  ["shared memory and a barrier", shared],
  ["words that follow each other or do not", rotated],
  ["NaNs", notNumbers],
  ["numbers of other widths", converted],
  ["values of other lanes", exchanged],
  ["stores of some lanes", masked],
  ["printf", printing],
  ["a fault", faulty],
  ["calls by address and recursion", calling],
])("machine code does what the interpreter does: %s", (_, text) => {
  const want = run(text, device("interpreter"));
  const wasm = run(text, device("jit"));
  for (const width of widths) check(run(text, device("native", 1, width)), want, wasm);
});

function check(got: Run, want: Run, wasm: Run): void {
  expect(got.result.notNative).toBeUndefined();
  expect(got.result).toMatchObject({ engine: "native", interpreted: null, ok: want.result.ok });
  expect(got.result.stdout).toBe(want.result.stdout);
  expect(reported(got.result)).toEqual(reported(want.result));
  // Which of its lanes' stores a faulty warp has made is up to the engine.
  expect(got.out).toEqual(want.result.ok ? want.out : wasm.out);
}

/** The C of a kernel, for machines with masks or without. */
function translationOf(text: string, quads: 2 | 4 = 4): string {
  let made = "";
  const compile = (module: Uint8Array): string => (made = translated(module, { quads }));
  const instance = (): never => {
    throw new Error("there is nothing to run");
  };
  run(text, new PtxDevice({ engine: "native", nativeCompiler: { compile, instance } }));
  return made.slice(made.indexOf("code_"));
}

test("bounds of all lanes are tested at once, and so is whether the words of all follow each other", () => {
  const text = translationOf(rotated);
  expect(text).toMatch(/= any_above_4\(/);
  expect(text).toMatch(/== 0xffff;/);
  expect(text).toMatch(/store_4\(/);
});

test("values of other lanes are taken from all quads at once", () => {
  expect(translationOf(exchanged).match(/shuffle_words_4\(/g)?.length).toBeGreaterThan(4);
});

test("what some lanes of all quads store is one store", () => {
  expect(translationOf(masked)).toMatch(
    /store_4\([^;]*v128_bitselect_by_4|(w\d+) = v128_bitselect_by_4\([^;]*;\nstore_4\([^;]*\1\)/,
  );
});

test("NaNs are replaced without a test whether there are some", () => {
  const text = translationOf(notNumbers);
  expect(text).toMatch(/v128_bitselect_by_4\(/);
  expect(text).not.toMatch(/movemask_ps/);
});

test("without masks, whether vectors have NaNs is asked of several at once", () => {
  const text = translationOf(notNumbers, 2);
  expect(text).toMatch(/= nan_f32_2\(/);
  expect(text).not.toMatch(/movemask_ps/);
});

test.each([2, 4] as const)("operations that change the width of elements are for %i quads at once", (quads) => {
  const text = translationOf(converted, quads);
  expect(text).not.toMatch(/(promote_low|demote_f64x2_zero|convert_low|trunc_sat_f64x2_[su]_zero)\w*_1\(/);
  for (const op of ["f64x2_promote_f32x4", "f64x2_convert_i32x4_u", "i64x2_extmul_i32x4_s", "i64x2_extend_i32x4_s"]) {
    expect(text).toContain(`= ${op}_${quads}(`);
  }
  for (const op of ["f32x4_demote_f64x2", "i32x4_trunc_sat_f64x2_s", "i32x4_trunc_sat_f64x2_u"]) {
    expect(text).toContain(`= ${op}_both_${quads}(`);
  }
});

test.skipIf(why !== null)("threads of the host run machine code, too", async () => {
  const on = device("native", 3);
  const out = on.buffer("u32", 64 * 2000, "out");
  const result = await on
    .load({ path: "k.ptx", text: shared })
    .kernel("k")
    .launchAsync({ grid: [2000], block: [64], args: [out] });
  expect(result).toMatchObject({ engine: "native", ok: true });
  const values = out.read();
  expect([0, 63, 64, 127_999].map((i) => values[i])).toEqual([63 ** 2, 0, 127 ** 2, Math.imul(127_936, 127_936) >>> 0]);
});

test("without what makes machine code, WebAssembly runs a kernel, and the result says why", () => {
  const on = new PtxDevice({ engine: "native" });
  const { result } = run(shared, on);
  expect(result).toMatchObject({
    engine: "jit",
    ok: true,
    notNative: "the device has no compiler to machine code (`nativeCompiler`)",
  });
});

test("machine code is made once for a launch whose threads run in other blocks than it asked for", () => {
  let made = 0;
  const compile = (): string => `for reason ${++made}`;
  const instance = (): never => {
    throw new Error("there is nothing to run");
  };
  const on = new PtxDevice({ engine: "native", nativeCompiler: { compile, instance } });
  const out = on.buffer("u32", 256, "out");
  const k = on.load({ path: "k.ptx", text: kernel("st.global.u32 [%p], %t; ret;") }).kernel("k");
  for (let round = 0; round < 2; round++) {
    const result = k.launch({ grid: [64], block: [4], args: [out] });
    expect(result).toMatchObject({ engine: "jit", ok: true, notNative: "for reason 1" });
  }
  expect(made).toBe(1);
  expect([...out.read()]).toEqual(Array.from({ length: 256 }, (_, i) => i));
});

test("a kernel for which there is no machine code runs as WebAssembly", () => {
  const reason = "for a reason";
  const on = new PtxDevice({
    engine: "native",
    nativeCompiler: {
      compile: () => reason,
      instance: () => {
        throw new Error("there is nothing to run");
      },
    },
  });
  expect(run(shared, on).result).toMatchObject({ engine: "jit", ok: true, notNative: reason });
});

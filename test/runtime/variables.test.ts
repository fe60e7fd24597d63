import { describe, expect, test } from "vitest";
import { Device, type EngineName, UsageError } from "../../src/index.ts";

/*
 * Variables are laid out as 5.1.2, 5.1.3 and 5.4 of the manual say: a vector is adjacent elements, an array row by row.
 * nvcc 13.0 declares `__constant__ float c[4]` as `.const .align 4 .b8 c[16]`, and `__constant__ float f` as `.f32`.
 */
const main = {
  path: "main.ptx",
  text: `
.version 8.0
.target sm_75
.address_size 64
.visible .const .f32 scale = 0f40000000;
.visible .const .align 4 .b8 coeff[16];
.extern .const .u32 offset;
.visible .global .u64 sum;
.visible .global .align 16 .v4 .s16 rows[2][3];
.global .f16 half;
.visible .shared .u32 scratch[4];
// out[i] = x[i] * scale * coeff[i % 4] + offset; sum += out[i]
.visible .entry apply(.param .u64 out, .param .u64 x)
{
    .reg .b32 %t, %i, %o;
    .reg .f32 %v, %s, %c;
    .reg .b64 %a, %x, %k, %w;
    .global .u32 calls;
    mov.u32 %t, %tid.x;
    ld.param.u64 %x, [x];
    mad.wide.u32 %x, %t, 4, %x;
    ld.global.f32 %v, [%x];
    ld.const.f32 %s, [scale];
    mul.f32 %v, %v, %s;
    and.b32 %i, %t, 3;
    mov.u64 %k, coeff;
    mad.wide.u32 %k, %i, 4, %k;
    ld.const.f32 %c, [%k];
    mul.f32 %v, %v, %c;
    ld.const.u32 %o, [offset];
    cvt.rn.f32.u32 %c, %o;
    add.f32 %v, %v, %c;
    ld.param.u64 %a, [out];
    mad.wide.u32 %a, %t, 4, %a;
    st.global.f32 [%a], %v;
    cvt.rzi.u64.f32 %w, %v;
    red.global.add.u64 [sum], %w;
    red.global.add.u32 [calls], 1;
    ret;
}
`,
};
const other = {
  path: "other.ptx",
  text: `
.version 8.0
.target sm_75
.address_size 64
.visible .const .u32 offset = 5;
.visible .func unused() { ret; }
`,
};

const load = (engine: EngineName, hostThreads = 1) => {
  const device = new Device({ engine, hostThreads });
  const x = device.buffer(new Float32Array([1, 2, 3, 4]));
  const out = device.buffer("f32", 4);
  const module = device.load([main, other]);
  const launch = () => {
    const result = module.kernel("apply").launch({ grid: 1, block: 4, args: [out, x] });
    expect(result).toMatchObject({ ok: true, engine });
    return [...out.read()];
  };
  return { device, module, launch, x, out };
};

describe.each(["jit", "interpreter"] as const)("variables of a module (%s)", (engine) => {
  test("kernels see what the host has written, and the host what kernels have", () => {
    const { module, launch } = load(engine);
    expect(launch()).toEqual([5, 5, 5, 5]);
    module.variable("coeff").write([1, 10, 100, 1000], { type: "f32" });
    expect(launch()).toEqual([7, 45, 605, 8005]);
    expect(module.variable("sum").read()).toEqual(new BigUint64Array([20n + 8662n]));
    module.variable("scale").write(0.5);
    module.variable("offset").write([1]);
    module.variable("sum").write(0n);
    module.variable("coeff").write([4], { type: "f32", at: 3 });
    expect(launch()).toEqual([1.5, 11, 151, 9]);
    expect([...module.variable("sum").read()]).toEqual([172n]);
    expect([...module.variable("apply.calls").read()]).toEqual([12]);
    expect([...module.variable("coeff").read("f32")]).toEqual([1, 10, 100, 4]);
  });

  test("in launches that do not block, and by several threads", async () => {
    const { device, module, out, x } = load(engine, 2);
    module.variable("coeff").write([1, 2, 3, 4], { type: "f32" });
    const pending = module.kernel("apply").launchAsync({ grid: 1, block: 4, args: [out, x] });
    expect(() => module.variable("scale").write(7)).toThrow("launches are in flight");
    expect(() => module.variable("scale").read()).toThrow("launches are in flight");
    await pending;
    expect([...out.read()]).toEqual([7, 13, 23, 37]);
    module.variable("scale").write(1);
    await module.kernel("apply").launchAsync({ grid: 1, block: 4, args: [out, x] });
    await device.idle();
    expect([...out.read()]).toEqual([6, 9, 14, 21]);
  });
});

test("variables say what was declared", () => {
  const { module } = load("jit");
  expect(module.variables).toEqual(["scale", "coeff", "sum", "rows", "half", "apply.calls", "offset"]);
  const facts = module.variables.map((name) => {
    const v = module.variable(name);
    return [name, v.space, v.declaredType, v.dimensions, v.type, v.length, v.byteLength, v.align, v.isTyped];
  });
  expect(facts).toEqual([
    ["scale", "const", "f32", [], "f32", 1, 4, 4, true],
    ["coeff", "const", "b8", [16], "u8", 16, 16, 4, false],
    ["sum", "global", "u64", [], "u64", 1, 8, 8, true],
    ["rows", "global", "s16", [2, 3, 4], "s16", 24, 48, 16, true],
    ["half", "global", "f16", [], "f16", 1, 2, 2, true],
    ["apply.calls", "global", "u32", [], "u32", 1, 4, 4, true],
    ["offset", "const", "u32", [], "u32", 1, 4, 4, true],
  ]);
  module.variable("half").write(1);
  expect([...module.variable("half").read()]).toEqual([1]);
  expect([...module.variable("half").readBytes()]).toEqual([0x00, 0x3c]);
  expect(module.variable("sum").address % 8n).toBe(0n);
});

test("what does not fit is refused, and changes nothing", () => {
  const { module } = load("jit");
  const coeff = module.variable("coeff");
  const refused: readonly (readonly [() => unknown, string])[] = [
    [
      () => coeff.write([1, 2, 3, 4, 5], { type: "f32" }),
      '"coeff": 5 values of f32 at element 0 do not fit its 16 bytes',
    ],
    [() => coeff.write([1], { type: "f32", at: 4 }), '"coeff": 1 value of f32 at element 4 do'],
    [() => coeff.write([1], { at: -1 }), "at element -1"],
    [() => coeff.write([1], { at: 0.5 }), "at element 0.5"],
    [() => coeff.writeBytes(new Uint8Array(2), 15), '"coeff": 2 bytes at byte 15 do not fit its 16 bytes'],
    [() => coeff.write([1], { type: "f31" as "f32" }), 'there is no element type "f31"'],
    [() => coeff.write([1], { type: "toString" as "f32" }), 'there is no element type "toString"'],
    [() => module.variable("half").read("f32"), "its 2 bytes are no whole number of f32"],
    [() => module.variable("scale").write([1, 2]), "2 values of f32"],
    [() => module.variable("coef"), 'there is no variable "coef"; did you mean "coeff"?'],
    [() => module.variable("zzzzzzzz"), 'there is "scale", "coeff", "sum"'],
    [() => module.variable("scratch"), 'variable "scratch" is in shared memory'],
    [() => new Device().load(other.text.replace(/.visible .const.*/, "")).variable("x"), "the program has none"],
  ];
  for (const [attempt, message] of refused) {
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(message);
  }
  expect([...coeff.readBytes()]).toEqual(new Array(16).fill(0));
});

// Special registers: %reserved_smem_offset_* (PTX ISA 10). Cooperative groups keep the barriers of groups of several
// warps at offset 1, and "can expect at least 288 bytes" there. %total_smem_size counts none of it.
test.each(["jit", "interpreter"] as const)("memory that is reserved for the system is apart (%s)", (engine) => {
  const device = new Device({ engine });
  const out = device.buffer("u32", 8);
  const text = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .shared .align 4 .b8 own[1024];
    .reg .b32 %a, %b, %v;
    .reg .b64 %o, %p;
    ld.param.u64 %o, [out];
    mov.u32 %a, own;
    st.shared.u32 [%a], 1;
    st.shared.u32 [%a+1020], 2;
    mov.u32 %b, %reserved_smem_offset_1;
    cvt.u64.u32 %p, %b;
    cvta.shared.u64 %p, %p;
    st.u32 [%p], 3;
    st.u32 [%p+284], 4;
    ld.shared.u32 %v, [%a];
    st.global.u32 [%o], %v;
    ld.shared.u32 %v, [%a+1020];
    st.global.u32 [%o+4], %v;
    ld.shared.u32 %v, [%b];
    st.global.u32 [%o+8], %v;
    ld.shared.u32 %v, [%b+284];
    st.global.u32 [%o+12], %v;
    mov.u32 %v, %total_smem_size;
    st.global.u32 [%o+16], %v;
    mov.u32 %a, %reserved_smem_offset_begin;
    mov.u32 %b, %reserved_smem_offset_end;
    sub.u32 %v, %b, %a;
    st.global.u32 [%o+20], %v;
    mov.u32 %v, %reserved_smem_offset_cap;
    st.global.u32 [%o+24], %v;
    ret;
}
`;
  const result = device
    .load([{ path: "reserved.ptx", text }])
    .kernel("k")
    .launch({ grid: 1, block: 1, args: [out], sanitize: ["memory", "race"] });
  expect(result).toMatchObject({ ok: true, reports: [] });
  expect([...out.read()].slice(0, 7)).toEqual([1, 2, 3, 4, 1024, 1024, 1024]);
});

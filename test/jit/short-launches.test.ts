import { describe, expect, test } from "vitest";
import { Device, type KernelResult, scalar } from "../../src/runtime/index.ts";

/** Each thread notes what it is given: its number, the parameter, sizes of the grid and block, the launch's number. */
const text = `
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 hello[] = {104, 105, 0};
.extern .shared .align 4 .b8 pool[];
.visible .entry note(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r<12>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mov.u32 %r6, %nctaid.x;
  mov.u32 %r7, %dynamic_smem_size;
  mad.lo.s32 %r8, %r6, 1000, %r1;
  mad.lo.s32 %r8, %r3, 100000, %r8;
  add.s32 %r8, %r8, %r7;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r8;
  ret;
}
.visible .entry counts(.param .u64 to)
{
  .reg .b32 %r<8>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %nctaid.z;
  st.global.v2.u32 [%rd1], {%r1, %r2}; st.global.u32 [%rd1+8], %r3;
  mov.u32 %r4, %nclusterid.x; mov.u32 %r5, %nclusterid.y; mov.u32 %r6, %nclusterid.z;
  st.global.v2.u32 [%rd1+16], {%r4, %r5}; st.global.u32 [%rd1+24], %r6;
  ret;
}
.visible .entry number(.param .u64 to)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  mov.u64 %rd2, %gridid;
  st.global.u64 [%rd1], %rd2;
  ret;
}
.visible .entry greet(.param .u64 to)
{
  .reg .b32 %r<3>; .reg .b64 %rd<5>;
  .param .b64 f; .param .b64 a; .param .b32 r;
  mov.u64 %rd1, hello;
  cvta.global.u64 %rd2, %rd1;
  mov.u64 %rd3, 0;
  st.param.b64 [f], %rd2;
  st.param.b64 [a], %rd3;
  call (r), vprintf, (f, a);
  ld.param.u64 %rd4, [to];
  red.global.add.u32 [%rd4], 1;
  ret;
}`;

const launcher = (engine: "jit" | "interpreter") => {
  const device = new Device({ engine });
  return { device, module: device.load(text) };
};

describe.each(["jit", "interpreter"] as const)("launches one after the other (%s)", (engine) => {
  test("each has its own sizes and arguments", () => {
    const { device, module } = launcher(engine);
    const note = module.kernel("note");
    const [a, b] = [device.buffer("u32", 256), device.buffer("u32", 256)];
    const sizes = [
      { grid: 2, block: 32, shared: 0 },
      { grid: 2, block: 32, shared: 0 },
      { grid: 4, block: 32, shared: 0 },
      { grid: 4, block: 64, shared: 0 },
      { grid: 4, block: 64, shared: 16 },
      { grid: 4, block: 64, shared: 4096 },
      { grid: 1, block: 16, shared: 8 },
      { grid: 2, block: 32, shared: 0 },
    ];
    for (let i = 0; i < 24; i++) {
      const size = sizes[i % sizes.length]!;
      const [to, other] = i % 3 === 0 ? [b, a] : [a, b];
      to.write(new Uint32Array(256));
      const untouched = [...other.read()];
      const result = note.launch({ ...size, args: [to, i] });
      expect(result).toMatchObject({ ok: true, engine, threads: size.grid * size.block, stdout: "" });
      const value = size.block * 100_000 + size.grid * 1000 + i + size.shared;
      const want = Array.from({ length: 256 }, (_, t) => (t < size.grid * size.block ? value : 0));
      expect([...to.read()]).toEqual(want);
      expect([...other.read()]).toEqual(untouched);
    }
  });

  test("arguments that come again are those that were given", () => {
    const device = new Device({ engine });
    const kernel = device.load(text).kernel("note");
    const [a, b] = [device.buffer("u32", 1), device.buffer("u32", 1)];
    const values: number[] = [];
    for (const [to, value] of [
      ...([
        [a, 1],
        [b, 1],
        [a, 1],
        [b, 2],
        [a, 2],
        [b, 2],
        [a, 1],
        [a, 1],
        [b, 3],
      ] as const),
    ]) {
      expect(kernel.launch({ grid: 1, block: 1, args: [to, value] }).ok).toBe(true);
      values.push(a.read()[0]! % 1000, b.read()[0]! % 1000);
    }
    expect(values).toEqual([1, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 2, 1, 2, 1, 3]);
  });

  test("grids of all sizes, each block a cluster, between launches of another kernel", () => {
    const { device, module } = launcher(engine);
    const [to, other] = [device.buffer("u32", 8), device.buffer("u32", 256)];
    const grids = [[3, 2, 2], [3, 2, 2], [1, 5, 1], [4], [3, 2, 2], [1, 1, 7]] as const;
    for (const grid of [...grids, ...grids]) {
      const [x, y = 1, z = 1] = grid as readonly [number, number?, number?];
      expect(module.kernel("counts").launch({ grid, block: 64, args: [to] })).toMatchObject({ ok: true, engine });
      expect([...to.read()]).toEqual([x, y, z, 0, x, y, z, 0]);
      expect(module.kernel("note").launch({ grid: x, block: 32, args: [other, y] })).toMatchObject({
        ok: true,
        engine,
      });
      expect(other.read()[31]).toBe(3_200_000 + 1000 * x + y);
    }
  });

  test("settings that change nothing of what runs", () => {
    const { device, module } = launcher(engine);
    const note = module.kernel("note");
    const to = device.buffer("u32", 32);
    const printed: string[] = [];
    const onOutput = (text: string): void => void printed.push(text);
    const all = [{ sanitize: [] }, { hostThreads: 2, matrix: "exact" }, { onOutput }, { hostClock: true }] as const;
    all.forEach((settings, i) => {
      expect(note.launch({ grid: 1, block: 32, args: [to, i], ...settings })).toMatchObject({ ok: true, engine });
      expect(to.read()[0]).toBe(3_201_000 + i);
      const greeted = module.kernel("greet").launch({ grid: 1, block: 1, args: [to], ...settings });
      expect(greeted).toMatchObject({ ok: true, stdout: "hi" });
    });
    expect(printed).toEqual(["hi"]);
    expect(() => note.launch({ grid: 1, block: 32, args: [to, 1], hostThreads: 0 })).toThrow("hostThreads is 0");
    expect(() => note.launch({ grid: 1, block: 32, args: [to, 1], matrix: "none" as "exact" })).toThrow("matrix");
    expect(() => note.launch({ grid: 1, block: 32, args: [to, 1], ...{ speed: 1 } })).toThrow('no option "speed"');
  });

  test("an allocation that has been freed, or made, since the last launch is known", () => {
    const { device, module } = launcher(engine);
    const note = module.kernel("note");
    const a = device.buffer("u32", 32);
    expect(note.launch({ grid: 1, block: 32, args: [a, 1] }).ok).toBe(true);
    expect(note.launch({ grid: 1, block: 32, args: [a, 2] }).ok).toBe(true);
    const address = a.address;
    a.free();
    expect(note.launch({ grid: 1, block: 32, args: [address, 3] }).reports[0]?.code).toBe("global-out-of-bounds");
    const c = device.buffer("u32", 32);
    expect(c.address).toBe(address);
    expect(note.launch({ grid: 1, block: 32, args: [c, 4] }).ok).toBe(true);
    expect([...c.read()]).toEqual(Array.from({ length: 32 }, () => 3_201_004));
    // Beyond the end: a fault, after which launches go on.
    expect(note.launch({ grid: 2, block: 32, args: [c, 5] }).reports).toMatchObject([
      { code: "global-out-of-bounds", kernel: "note" },
    ]);
    expect(note.launch({ grid: 1, block: 32, args: [c, 6] }).ok).toBe(true);
    expect([...c.read()]).toEqual(Array.from({ length: 32 }, () => 3_201_006));
  });

  test("each has a number of its own", () => {
    const { device, module } = launcher(engine);
    const to = device.buffer("u64", 1);
    const numbers = Array.from({ length: 5 }, () => {
      module.kernel("number").launch({ grid: 1, block: 1, args: [to] });
      return to.read()[0]!;
    });
    expect(numbers.map((n) => n - numbers[0]!)).toEqual([0n, 1n, 2n, 3n, 4n]);
  });

  test("what is printed is that launch's, and a listener may launch the kernel itself", () => {
    const { device, module } = launcher(engine);
    const to = device.buffer("u32", 1);
    const greet = module.kernel("greet");
    for (let i = 0; i < 3; i++) expect(greet.launch({ grid: 1, block: 2, args: [to] }).stdout).toBe("hihi");
    const inner: KernelResult[] = [];
    const onOutput = (): void => {
      if (inner.length === 0) inner.push(greet.launch({ grid: 1, block: 1, args: [to] }));
    };
    expect(greet.launch({ grid: 1, block: 2, args: [to], onOutput }).stdout).toBe("hihi");
    expect(inner.map(({ stdout }) => stdout)).toEqual(["hi"]);
    expect([...to.read()]).toEqual([9]);
  });
});

describe("work items of vISA", () => {
  // Each work item stores a number that is passed, plus its own: OUT[ID] = ID + N.
  const visa = `.version 4.0
.kernel "k"
.decl ID v_type=G type=d num_elts=16 align=GRF
.decl A v_type=G type=uq num_elts=16 align=GRF
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl N v_type=G type=d num_elts=1 align=GRF
.input OUT offset=32 size=8
.input ID offset=64 size=64
.input N offset=128 size=4
.kernel_attr SimdSize=16
.function "k_main"
k_main:
    mul (M1, 16) A(0,0)<1> ID(0,0)<1;1,0> 4:d
    add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> OUT(0,0)<0;1,0>
    add (M1, 16) ID(0,0)<1> ID(0,0)<1;1,0> N(0,0)<0;1,0>
    svm_scatter.4.1 (M1, 16) A.0 ID.0
    ret (M1, 1)
`;
  const inputs = [
    { name: "OUT", kind: "arg", type: "u64" },
    { name: "ID", kind: "lane-id", type: "u32" },
    { name: "N", kind: "arg", type: "s32" },
  ] as const;

  test("launches that differ in arguments and sizes, with a fault among them", () => {
    const device = new Device();
    const kernel = device.load({ path: "k.visaasm", text: visa }, { target: "skl", inputs }).kernel("k");
    for (let i = 0; i < 40; i++) {
      const [global, local] = [64 * (1 + (i % 3)), i % 2 === 0 ? 32 : 64];
      const out = device.buffer("u32", i === 20 ? 16 : global);
      const result = kernel.launch({ global, local, args: [out, 1000 * i] });
      expect(result.engine).toBe("jit");
      if (i === 20) expect(result.reports.map(({ code }) => code)).toEqual(["global-out-of-bounds"]);
      else expect([...out.read()]).toEqual(Array.from({ length: global }, (_, item) => item + 1000 * i));
      out.free();
    }
  });
});

describe("launches that the caller does not wait for", () => {
  /** Each thread notes how often it has gone round a loop. */
  const loop = `.version 8.0
.target sm_90
.address_size 64
.visible .entry rounds(.param .u64 to, .param .u32 count)
{
  .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %p;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, %r1;
  @%p bra again;
  st.global.u32 [%rd1], %r2;
  ret;
}`;

  /** Whether the host had a turn before the launch ended, as it has if a worker runs it for some milliseconds. */
  const hadTurn = async (launched: Promise<KernelResult>): Promise<boolean> => {
    let had = false;
    setImmediate(() => (had = true));
    expect((await launched).ok).toBe(true);
    return had;
  };

  test("a short one without loops runs in the calling thread, one with a loop in a worker", async () => {
    const device = new Device();
    const out = device.buffer("u32", 32);
    const note = device.load(text).kernel("note");
    for (let i = 0; i < 20; i++) {
      expect(await hadTurn(note.launchAsync({ grid: 1, block: 32, args: [out, i] }))).toBe(false);
      expect(out.read()[31]).toBe(3_200_000 + 1000 + i);
    }
    expect(
      await hadTurn(note.launchAsync({ grid: 1000, block: 1024, args: [device.buffer("u32", 1_024_000), 1] })),
    ).toBe(true);
    const rounds = device.load(loop).kernel("rounds");
    expect(await hadTurn(rounds.launchAsync({ grid: 1, block: 32, args: [out, 20_000_000] }))).toBe(true);
    expect(out.read()[0]).toBe(20_000_000);
  });

  test("one that reports a fault", async () => {
    const device = new Device();
    const out = device.buffer("u32", 32);
    const note = device.load(text).kernel("note");
    const { ok, reports } = await note.launchAsync({ grid: 2, block: 32, args: [out, 1] });
    expect(ok).toBe(false);
    expect(reports.map(({ code }) => code)).toEqual(["global-out-of-bounds"]);
    expect((await note.launchAsync({ grid: 1, block: 32, args: [out, 7] })).ok).toBe(true);
    expect(out.read()[0]).toBe(3_200_000 + 1000 + 7);
  });
});

test("an address of 32 bits leaves nothing above it of the number that a parameter held before", () => {
  const device = new Device();
  const kernel = device
    .load(
      `.version 8.0
.target sm_90
.address_size 32
.visible .entry keep(.param .u32 to, .param .u64 value)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u32 %r1, [to];
  ld.param.u64 %rd1, [value];
  st.global.u64 [%r1], %rd1;
  ret;
}`,
    )
    .kernel("keep");
  const kept = device.buffer("u64", 1);
  const keep = (value: Parameters<typeof kernel.launch>[0]["args"]): bigint => {
    expect(kernel.launch({ grid: 1, block: 1, args: [kept, ...value!] }).ok).toBe(true);
    return kept.read()[0]!;
  };
  expect(keep([scalar("u64", 2n ** 64n - 1n)])).toBe(2n ** 64n - 1n);
  expect(keep([kept]) >> 32n).toBe(0n);
});

import { availableParallelism } from "node:os";
import { describe, expect, test } from "vitest";
import { type AsyncLaunchOptions, Device, type Kernel, type KernelResult, UsageError } from "../../src/index.ts";

const head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/** Each thread hashes its number for some rounds: much to do, and nothing to do with the others. */
const hash = `${head}
.visible .entry hash(.param .u64 out, .param .u32 rounds) {
  .reg .pred p; .reg .u32 %a<8>; .reg .u64 %d<4>;
  ld.param.u64 %d1, [out]; ld.param.u32 %a1, [rounds];
  mov.u32 %a2, %ctaid.x; mov.u32 %a3, %ntid.x; mov.u32 %a4, %tid.x; mad.lo.u32 %a5, %a2, %a3, %a4;
  mov.u32 %a6, %a5;
LOOP: mad.lo.u32 %a6, %a6, 1664525, 1013904223; shr.u32 %a7, %a6, 15; xor.b32 %a6, %a6, %a7;
  sub.u32 %a1, %a1, 1; setp.ne.u32 p, %a1, 0; @p bra LOOP;
  mul.wide.u32 %d2, %a5, 4; add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %a6; ret;
}`;

/** The value of thread `n` after so many rounds, from the text above. */
function hashed(n: number, rounds: number): number {
  let value = n;
  for (let i = 0; i < rounds; i++) {
    value = (Math.imul(value, 1664525) + 1013904223) >>> 0;
    value = (value ^ (value >>> 15)) >>> 0;
  }
  return value;
}

/** All threads of a grid add to one counter, and to one of 64 others. */
const atomics = `${head}
.visible .entry count(.param .u64 out) {
  .reg .u32 %a<6>; .reg .u64 %d<4>;
  ld.param.u64 %d1, [out]; atom.global.add.u32 %a1, [%d1], 1;
  mov.u32 %a2, %ctaid.x; mov.u32 %a3, %tid.x; xor.b32 %a4, %a2, %a3; and.b32 %a4, %a4, 63; add.u32 %a4, %a4, 1;
  mul.wide.u32 %d2, %a4, 4; add.u64 %d3, %d1, %d2; red.global.add.u32 [%d3], %a3; ret;
}`;

/** Each block writes to an address out of a list. */
const listed = `${head}
.visible .entry listed(.param .u64 list, .param .u32 rounds) {
  .reg .pred p; .reg .u32 %a<6>; .reg .u64 %d<6>;
  ld.param.u64 %d1, [list]; ld.param.u32 %a1, [rounds]; mov.u32 %a2, %ctaid.x; mul.wide.u32 %d2, %a2, 8;
  add.u64 %d3, %d1, %d2; ld.global.u64 %d4, [%d3];
LOOP: sub.u32 %a1, %a1, 1; setp.ne.u32 p, %a1, 0; @p bra LOOP;
  st.global.u32 [%d4], %a2; ret;
}`;

const launched = async (kernel: Kernel, options: AsyncLaunchOptions, apart: boolean): Promise<KernelResult> => {
  const result = apart ? await kernel.launchAsync(options) : kernel.launch(options);
  expect(result.engine).toBe("jit");
  return result;
};

describe.each([
  ["with the calling thread", false],
  ["apart from it", true],
])("blocks run %s", (_, apart) => {
  test.each([1, 2, 4])("the same bits with %i threads", async (hostThreads) => {
    const device = new Device({ engine: "jit", hostThreads });
    const kernel = device.load(hash).kernel("hash");
    const n = 128 * 300;
    const want = Uint32Array.from({ length: n }, (_, i) => hashed(i, 500));
    for (let i = 0; i < 3; i++) {
      const out = device.buffer("u32", n);
      const result = await launched(kernel, { grid: 300, block: 128, args: [out, 500] }, apart);
      expect(result.ok).toBe(true);
      expect(result.hostThreads).toBeLessThanOrEqual(hostThreads);
      expect(out.read()).toEqual(want);
    }
  });

  test("atomics of all threads count", async () => {
    const device = new Device({ engine: "jit", hostThreads: 4 });
    const kernel = device.load(atomics).kernel("count");
    const out = device.buffer("u32", 65);
    for (let round = 1; round <= 3; round++) {
      await launched(kernel, { grid: 1000, block: 256, args: [out] }, apart);
      const sums = Array.from<number>({ length: 64 }).fill(0);
      for (let b = 0; b < 1000; b++) for (let t = 0; t < 256; t++) sums[(b ^ t) & 63]! += t * round;
      expect([...out.read()]).toEqual([1000 * 256 * round, ...sums]);
    }
  });

  test("of several faults the one of the first block is reported, as the interpreter does", async () => {
    const reports = async (engine: "jit" | "interpreter") => {
      const device = new Device({ engine, hostThreads: 3 });
      const out = device.buffer("u32", 1, "out");
      const list = device.buffer(
        "u64",
        Array.from({ length: 400 }, (_, b) => out.address + (b % 100 === 77 ? BigInt(0x10_0000 + b) * 4n : 0n)),
      );
      const kernel = device.load(listed).kernel("listed");
      const options = { grid: 400, block: 1, args: [list, engine === "jit" ? 50_000 : 1] };
      const result = apart ? await kernel.launchAsync(options) : kernel.launch(options);
      expect(result.engine).toBe(engine);
      return result.reports.map(({ code, message, threads }) => ({ code, message, threads }));
    };
    const want = await reports("interpreter");
    expect(want.map((r) => r.threads)).toEqual([[{ block: [77, 0, 0], thread: [0, 0, 0] }]]);
    for (let round = 0; round < 5; round++) expect(await reports("jit")).toEqual(want);
  });

  test("a launch after a fault is none the worse for it", async () => {
    const device = new Device({ engine: "jit", hostThreads: 2 });
    const out = device.buffer("u32", 128 * 64);
    const kernel = device.load(hash).kernel("hash");
    const failed = await launched(kernel, { grid: 200, block: 128, args: [out, 100] }, apart);
    expect(failed.reports.map((r) => r.code)).toEqual(["global-out-of-bounds"]);
    const good = await launched(kernel, { grid: 64, block: 128, args: [out, 100] }, apart);
    expect(good.ok).toBe(true);
    expect(out.read()).toEqual(Uint32Array.from({ length: out.length }, (_, i) => hashed(i, 100)));
  });
});

test("many small launches, which stay in the calling thread", () => {
  const device = new Device({ engine: "jit", hostThreads: 4 });
  const kernel = device.load(hash).kernel("hash");
  const out = device.buffer("u32", 32);
  for (let i = 1; i <= 300; i++) {
    expect(kernel.launch({ grid: 1, block: 32, args: [out, i] })).toMatchObject({ ok: true, hostThreads: 1 });
    expect(out.read()[7]).toBe(hashed(7, i));
  }
});

test("launches of several devices and streams at the same time", async () => {
  const devices = Array.from({ length: 3 }, () => new Device({ engine: "jit", hostThreads: 2 }));
  const ends = devices.flatMap((device, d) => {
    const kernel = device.load(hash).kernel("hash");
    return [device.stream(), device.stream()].map(async (stream, s) => {
      const out = device.buffer("u32", 64 * 128);
      const rounds = 50 + 10 * d + s;
      const result = await kernel.launchAsync({ grid: 64, block: 128, args: [out, rounds], stream });
      return { result, out, rounds };
    });
  });
  for (const { result, out, rounds } of await Promise.all(ends)) {
    expect(result).toMatchObject({ ok: true, engine: "jit" });
    const device = devices.find((d) => d.memory === out.memory)!;
    await device.idle();
    expect(out.read()).toEqual(Uint32Array.from({ length: out.length }, (_, i) => hashed(i, rounds)));
  }
});

test("launches of one stream run in order, and nobody touches what they work on", async () => {
  const device = new Device({ engine: "jit", hostThreads: 2 });
  const kernel = device.load(doubling).kernel("double");
  const data = device.buffer("u32", 256).write(Array.from({ length: 256 }, (_, i) => i));
  const options = { grid: 2, block: 128, args: [data] };
  const ends = Array.from({ length: 10 }, () => kernel.launchAsync(options));
  for (const touch of [() => data.read(), () => data.write([1]), () => data.free(), () => kernel.launch(options)]) {
    expect(touch).toThrow(UsageError);
  }
  // What has been made later, no launch can know of.
  const later = device.buffer("u32", [5]);
  expect(later.write([6]).read()).toEqual(Uint32Array.of(6));
  const results = await Promise.all(ends);
  expect(results.every((r) => r.ok && r.engine === "jit")).toBe(true);
  expect([...data.read()]).toEqual(Array.from({ length: 256 }, (_, i) => i * 1024));
});

/** Each thread doubles its word. */
const doubling = `${head}
.visible .entry double(.param .u64 data) {
  .reg .u32 %a<6>; .reg .u64 %d<4>;
  ld.param.u64 %d1, [data]; mov.u32 %a1, %ctaid.x; mov.u32 %a2, %ntid.x; mov.u32 %a3, %tid.x;
  mad.lo.u32 %a4, %a1, %a2, %a3; mul.wide.u32 %d2, %a4, 4; add.u64 %d3, %d1, %d2;
  ld.global.u32 %a5, [%d3]; add.u32 %a5, %a5, %a5; st.global.u32 [%d3], %a5; ret;
}`;

test("a launch that makes no sense rejects, and the next one runs", async () => {
  const device = new Device({ engine: "jit" });
  const kernel = device.load(doubling).kernel("double");
  const data = device.buffer("u32", [1, 2]);
  await expect(kernel.launchAsync({ grid: 1, block: 2, args: [] })).rejects.toThrow(UsageError);
  await expect(kernel.launchAsync({ grid: 1, block: 2000, args: [data] })).rejects.toThrow("a block of (2000, 1, 1)");
  expect(await kernel.launchAsync({ grid: 1, block: 2, args: [data] })).toMatchObject({ ok: true, engine: "jit" });
  expect([...data.read()]).toEqual([2, 4]);
});

test("what needs the interpreter waits its turn, too", async () => {
  const device = new Device({ engine: "jit" });
  const kernel = device.load(doubling).kernel("double");
  const data = device.buffer("u32", [1, 2]);
  const options = { grid: 1, block: 2, args: [data] };
  const results = await Promise.all([
    kernel.launchAsync(options),
    kernel.launchAsync({ ...options, seed: 1 }),
    kernel.launchAsync(options),
  ]);
  expect(results.map((r) => r.engine)).toEqual(["jit", "interpreter", "jit"]);
  expect([...data.read()]).toEqual([8, 16]);
});

test("a device becomes one for several threads when a launch asks for it", async () => {
  const device = new Device({ engine: "jit" });
  const module = device.load(hash);
  const out = device.buffer("u32", 128 * 100);
  const want = Uint32Array.from({ length: out.length }, (_, i) => hashed(i, 200));
  for (const hostThreads of [1, 3, 1]) {
    const result = module.kernel("hash").launch({ grid: 100, block: 128, args: [out, 200], hostThreads });
    expect(result).toMatchObject({ ok: true, engine: "jit" });
    expect(out.read()).toEqual(want);
    out.write(new Uint32Array(out.length));
  }
});

test("as many threads as nobody has are not started", async () => {
  const device = new Device();
  const kernel = device.load(hash).kernel("hash");
  const out = device.buffer("u32", 2000);
  const options = { grid: 2000, block: 1, args: [out, 20_000], hostThreads: 1e9 };
  const { hostThreads } = await kernel.launchAsync(options);
  expect(hostThreads).toBeGreaterThan(1);
  expect(hostThreads).toBeLessThanOrEqual(Math.max(16, 4 * availableParallelism()));
  expect(out.read()[1999]).toBe(hashed(1999, 20_000));
});

test.each([0, -1, 1.5, Number.NaN, Infinity, "2"])("%s is no number of threads", async (hostThreads) => {
  const device = new Device({ hostThreads: hostThreads as number });
  const kernel = device.load(hash).kernel("hash");
  const options = { grid: 1, block: 1, args: [device.buffer("u32", 1), 1] };
  const problem = `hostThreads is ${hostThreads}: expected an integer of at least 1`;
  expect(() => kernel.launch(options)).toThrow(new UsageError(problem));
  await expect(kernel.launchAsync(options)).rejects.toThrow(problem);
});

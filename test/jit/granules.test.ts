import { expect, test } from "vitest";
import { Device, type KernelResult } from "../../src/index.ts";

// Pointers out of memory, each lane's to another allocation: a map says which granules of memory are allocated.

/** Lane t accesses `count` elements of a type at the address that the list has for it. */
const module = (access: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 list, .param .u32 rounds) {
  .reg .pred %p, %q; .reg .b16 %h; .reg .b32 %t, %i, %n, %v, %w, %x, %y; .reg .b64 %d, %o, %a, %b;
  mov.u32 %t, %tid.x;
  ld.param.u64 %d, [list]; mad.wide.u32 %d, %t, 8, %d;
  ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
  ld.param.u32 %n, [rounds];
  and.b32 %v, %t, 3; setp.ne.u32 %q, %v, 2;
  mov.u32 %w, 0; mov.u32 %x, 0; mov.u32 %y, 0; mov.u32 %i, 0;
again:
  ld.global.u64 %a, [%d];
  ${access}
  add.u32 %w, %w, %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra again;
  st.global.u32 [%o], %w;
  ret;
}`;

const accesses: Readonly<Record<string, { readonly text: string; readonly bytes: number }>> = {
  byte: { text: "ld.global.u8 %v, [%a];", bytes: 1 },
  half: { text: "ld.global.s16 %v, [%a];", bytes: 2 },
  word: { text: "ld.global.u32 %v, [%a];", bytes: 4 },
  "word under a guard": { text: "mov.u32 %v, 7; @%q ld.global.u32 %v, [%a];", bytes: 4 },
  double: { text: "ld.global.u64 %b, [%a]; cvt.u32.u64 %v, %b;", bytes: 8 },
  vector: { text: "ld.global.v4.u32 {%v, %x, %y, %x}, [%a]; add.u32 %v, %v, %y;", bytes: 16 },
  "two words": { text: "ld.global.u32 %v, [%a]; ld.global.u32 %x, [%a+4]; xor.b32 %v, %v, %x;", bytes: 8 },
  store: { text: "mad.lo.u32 %v, %t, 3, %i; st.global.u32 [%a], %v;", bytes: 4 },
  "byte store": { text: "mad.lo.u32 %v, %t, 3, %i; st.global.u8 [%a], %v;", bytes: 1 },
  atomic: { text: "atom.global.add.u32 %v, [%a], %t;", bytes: 4 },
  "generic word": { text: "ld.u32 %v, [%a];", bytes: 4 },
  "generic word under a guard": { text: "mov.u32 %v, 7; @%q ld.u32 %v, [%a];", bytes: 4 },
  "generic vector": { text: "ld.v4.u32 {%v, %x, %y, %x}, [%a]; add.u32 %v, %v, %y;", bytes: 16 },
  "generic store": { text: "mad.lo.u32 %v, %t, 3, %i; st.u32 [%a], %v;", bytes: 4 },
  "generic atomic": { text: "atom.add.u32 %v, [%a], %t;", bytes: 4 },
};

const sizes = [16, 17, 255, 256, 257, 260, 400, 512, 1000, 4096];

interface Ran {
  readonly result: KernelResult;
  readonly bytes: readonly Uint8Array[];
}

/** Runs a kernel whose lanes access `at(lane)` of one of many buffers. */
function run(access: string, engine: "jit" | "interpreter", at: (lane: number, size: number) => number): Ran {
  const device = new Device({ engine });
  const buffers = sizes.map((size, n) =>
    device.buffer(Uint8Array.from({ length: size }, (_, i) => (i * 7 + n * 31) & 255)),
  );
  const lanes = 96;
  const list = device.buffer("u64", lanes);
  const out = device.buffer("u32", lanes);
  const kernel = device.load(module(access)).kernel("k");
  const place = (lane: number): bigint => {
    const n = (lane * 5) % sizes.length;
    return buffers[n]!.address + BigInt(at(lane, sizes[n]!));
  };
  list.write(BigUint64Array.from({ length: lanes }, (_, lane) => place(lane)));
  const result = kernel.launch({ grid: 1, block: lanes, args: [out, list, 3] });
  expect(result.engine).toBe(engine);
  return { result, bytes: [...buffers, out].map((b) => b.readBytes()) };
}

const shown = ({ result: { ok, reports } }: Ran) => ({
  ok,
  reports: reports.map(({ code, message, threads, count }) => ({ code, message, threads, count })),
});

test.each(Object.entries(accesses))("%s: anywhere in its object, up to the last byte", (_, { text, bytes }) => {
  for (const from of [0, 1, 3]) {
    // Each lane keeps to its own place, where the buffer has as many.
    const at = (lane: number, size: number): number => {
      const places = Math.floor(size / bytes);
      return bytes * (from === 0 ? places - 1 - (lane % Math.min(places, 10)) : (lane * from) % places);
    };
    if (/^(st|mad)/.test(text) && from !== 0) continue;
    const [got, want] = [run(text, "jit", at), run(text, "interpreter", at)];
    expect(shown(want)).toEqual({ ok: true, reports: [] });
    expect(shown(got)).toEqual(shown(want));
    expect(got.bytes).toEqual(want.bytes);
  }
});

test.each(Object.entries(accesses))("%s: a byte too far, too early or askew", (_, { text, bytes }) => {
  for (const wrong of [1, 32, 63, 95]) {
    for (const where of ["end", "gap", "before", "askew"]) {
      if (where === "askew" && bytes === 1) continue;
      const at = (lane: number, size: number): number => {
        if (lane !== wrong) return 0;
        const whole = bytes * Math.floor(size / bytes);
        return { end: whole, gap: 256 * Math.ceil(size / 256), before: -bytes, askew: 1 }[where]!;
      };
      const want = shown(run(text, "interpreter", at));
      expect(want.ok).toBe(text.includes("@%q") && wrong % 4 === 2);
      expect(shown(run(text, "jit", at))).toEqual(want);
    }
  }
});

test("what has been freed is no longer on the map, and what has been made is", () => {
  const device = new Device();
  const kernel = device.load(module("ld.global.u32 %v, [%a];")).kernel("k");
  const [list, out] = [device.buffer("u64", 32), device.buffer("u32", 32)];
  const buffers = Array.from({ length: 32 }, (_, n) => device.buffer(new Uint32Array([n, n, n])));
  const launch = (): KernelResult => {
    list.write(BigUint64Array.from(buffers, ({ address }) => address + 8n));
    return kernel.launch({ grid: 1, block: 32, args: [out, list, 4] });
  };
  expect(launch()).toMatchObject({ ok: true, engine: "jit" });
  expect([...out.read()]).toEqual(Array.from({ length: 32 }, (_, n) => 4 * n));
  const { address } = buffers[20]!;
  buffers[20]!.free();
  list.write(BigUint64Array.from(buffers, (b) => (b === buffers[20] ? address : b.address)));
  expect(kernel.launch({ grid: 1, block: 32, args: [out, list, 4] }).reports[0]?.code).toBe("global-out-of-bounds");
  buffers[20] = device.buffer(new Uint32Array(100_000).fill(5));
  expect(launch().ok).toBe(true);
  expect(out.read()[20]).toBe(20);
});

test("generic pointers: of all lanes to one kind of memory, then to another, then to several", () => {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 kinds) {
  .local .align 8 .b8 frame[128];
  .shared .align 8 .b8 table[256];
  .reg .pred %p, %q; .reg .b32 %t, %i, %n, %v, %w, %x; .reg .b64 %d, %o, %a, %b, %k, %f, %s, %g;
  mov.u32 %t, %tid.x;
  ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
  ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %k, [kinds]; mad.wide.u32 %k, %t, 4, %k;
  mov.u64 %s, table; cvta.shared.u64 %s, %s; mad.wide.u32 %s, %t, 8, %s;
  mov.u64 %f, frame; cvta.local.u64 %f, %f; and.b32 %v, %t, 7; mad.wide.u32 %f, %v, 8, %f;
  mul.lo.u32 %v, %t, 1000; st.u32 [%s], %v; st.u32 [%s+4], %t; add.u32 %v, %v, 7; st.u32 [%f], %v; st.u32 [%f+4], %t;
  mad.wide.u32 %a, %t, 16, %a; mad.wide.u32 %b, %t, 24, %b;
  mov.u32 %w, 0; mov.u32 %i, 0;
again:
  ld.global.u32 %n, [%k];
  mov.u64 %g, %a; setp.eq.u32 %q, %n, 1; @%q mov.u64 %g, %b; setp.eq.u32 %q, %n, 2; @%q mov.u64 %g, %s;
  setp.eq.u32 %q, %n, 3; @%q mov.u64 %g, %f;
  mov.u64 %d, frame; mad.wide.u32 %d, %n, 8, %d; st.local.u64 [%d+64], %g; ld.local.u64 %d, [%d+64];
  ld.u32 %v, [%d]; ld.u32 %x, [%d+4]; mad.lo.u32 %w, %w, 31, %v; mad.lo.u32 %w, %w, 31, %x;
  add.u32 %v, %v, 3; st.u32 [%d], %v;
  add.u64 %k, %k, 128; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 9; @%p bra again;
  st.global.u32 [%o], %w;
  ret;
}`;
  // By round and lane: buffer a, buffer b, shared memory, the lane's own stack.
  const rounds = [() => 2, () => 0, (t: number) => t & 1, () => 3, () => 0, (t: number) => t & 3, () => 1, () => 2];
  const kinds = Uint32Array.from({ length: 32 * 9 }, (_, i) => (rounds[i >> 5] ?? ((t: number) => t % 3))(i & 31));
  const read = (engine: "jit" | "interpreter"): unknown => {
    const device = new Device({ engine });
    const [a, b] = [1, 2].map((n) => device.buffer(Uint32Array.from({ length: 200 }, (_, i) => i * 7919 * n)));
    const out = device.buffer("u32", 32);
    const result = device
      .load(text)
      .kernel("k")
      .launch({ grid: 1, block: 32, args: [out, a!, b!, device.buffer(kinds)] });
    expect(result).toMatchObject({ ok: true, engine });
    return [out, a!, b!].map((buffer) => [...buffer.read()]);
  };
  expect(read("jit")).toEqual(read("interpreter"));
});

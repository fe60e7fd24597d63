import { afterEach, expect, test, vi } from "vitest";
import { Device } from "../../src/index.ts";
import { Host } from "../../src/jit/run/host.ts";

// What compiled code knows of addresses, it does not ask the launcher: a worker would have to wait for the answer.

afterEach(() => void vi.restoreAllMocks());

const accesses: Readonly<Record<string, readonly string[]>> = {
  "at a thread's number": [
    "mov.u32 %a, %tid.x;",
    "shl.b32 %a, %a, 2;",
    "mov.u32 %v, tile;",
    "add.u32 %a, %a, %v;",
    "ld.shared.u32 %v, [%a];",
  ],
  "from a counter on": ["mov.u32 %a, tile;", "add.u32 %a, %a, %i;", "ld.shared.u32 %v, [%a];"],
  "from a counter on, and less than where that begins": [
    "mov.u32 %a, tile;",
    "add.u32 %a, %a, %i;",
    "ld.shared.u32 %v, [%a+-64];",
  ],
};

/** Adds up what it loads from the second of two variables, four times. Its counter goes from 64 up by 16. */
const kernel = (lines: readonly string[]): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p; .reg .b32 %a, %i, %v, %sum; .reg .b64 %d;
  .shared .align 16 .b8 other[512];
  .shared .align 16 .b8 tile[512];
  mov.u32 %i, %tid.x;
  shl.b32 %i, %i, 2;
  mov.u32 %a, tile;
  add.u32 %a, %a, %i;
  st.shared.u32 [%a], %i;
  bar.sync 0;
  mov.u32 %sum, 0;
  mov.u32 %i, 64;
loop:
  ${lines.join("\n  ")}
  add.u32 %sum, %sum, %v;
  add.u32 %i, %i, 16;
  setp.ne.u32 %p, %i, 128;
  @%p bra loop;
  ld.param.u64 %d, [out];
  cvta.to.global.u64 %d, %d;
  mov.u32 %a, %tid.x;
  mad.wide.u32 %d, %a, 4, %d;
  st.global.u32 [%d], %sum;
  ret;
}`;

/** Byte offset of the first word that thread t loads: 4t, or 64, or 0; words hold their byte offsets. */
const sums: Readonly<Record<string, (thread: number) => number>> = {
  "at a thread's number": (thread) => 4 * (4 * thread),
  "from a counter on": () => 64 + 80 + 96 + 112,
  "from a counter on, and less than where that begins": () => 0 + 16 + 32 + 48,
};

test.each(Object.entries(accesses))("shared memory %s", (name, lines) => {
  const asked = vi.spyOn(Host.prototype, "translate");
  const device = new Device();
  const out = device.buffer("u32", 128);
  const result = device
    .load(kernel(lines))
    .kernel("k")
    .launch({ grid: 1, block: 128, args: [out] });
  expect({ ok: result.ok, engine: result.engine }).toEqual({ ok: true, engine: "jit" });
  expect([...out.read()]).toEqual(Array.from({ length: 128 }, (_, thread) => sums[name]!(thread)));
  expect(asked).not.toHaveBeenCalled();
});

/** Kernels that add, to the word at their thread's number in `out`, one that lies in an object chosen as they run. */
const choices: Readonly<Record<string, string>> = {
  "two variables at one index": `st.shared.u32 [%s], %t; st.shared.u32 [%q], %t; bar.sync 0;
sub.u32 %v, 127, %t; shl.b32 %v, %v, 2; mov.u32 %a, first; add.u32 %a, %v, %a; ld.shared.u32 %s, [%a];
mov.u32 %a, second; add.u32 %a, %v, %a; ld.shared.u32 %v, [%a]; add.u32 %v, %s, %v;`,
  "one of two variables": `st.shared.u32 [%s], %t; st.shared.u32 [%q], %i; bar.sync 0;
and.b32 %v, %t, 1; setp.eq.u32 %p, %v, 0; mov.u32 %a, %q; @%p mov.u32 %a, %s; ld.shared.u32 %v, [%a];`,
  "one of two parameters": `ld.param.u64 %d, [x]; ld.param.u64 %e, [y];
and.b32 %v, %t, 1; setp.eq.u32 %p, %v, 0; selp.b64 %d, %d, %e, %p;
mad.wide.u32 %d, %t, 4, %d; ld.global.u32 %v, [%d];`,
  "one of many allocations": `ld.param.u64 %d, [list]; and.b32 %v, %t, 31; mad.wide.u32 %d, %v, 8, %d;
ld.global.u64 %d, [%d]; mad.wide.u32 %d, %t, 4, %d; ld.global.u32 %v, [%d];`,
  "one of many allocations, by generic addresses": `ld.param.u64 %d, [list]; and.b32 %v, %t, 31;
mad.wide.u32 %d, %v, 8, %d; ld.u64 %d, [%d]; mad.wide.u32 %d, %t, 4, %d; ld.u32 %v, [%d];`,
  "a shared variable or an allocation, by generic addresses": `st.shared.u32 [%s], %i; bar.sync 0;
cvt.u64.u32 %d, %s; cvta.shared.u64 %d, %d; ld.param.u64 %e, [x]; mad.wide.u32 %e, %t, 4, %e;
and.b32 %v, %t, 1; setp.eq.u32 %p, %v, 0; selp.b64 %d, %d, %e, %p; ld.u32 %v, [%d];`,
  "a constant by its address": `and.b32 %v, %t, 1; setp.eq.u32 %p, %v, 0; mov.u32 %a, odd; @%p mov.u32 %a, even;
shl.b32 %v, %i, 2; add.u32 %a, %a, %v; ld.const.u32 %v, [%a];`,
};

const choosing = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.const .align 4 .u32 even[4] = {2, 4, 6, 8};
.const .align 4 .u32 odd[4] = {1, 3, 5, 7};
.visible .entry k(.param .u64 out, .param .u64 x, .param .u64 y, .param .u64 list) {
  .reg .pred %p; .reg .b32 %t, %i, %a, %v, %s, %q; .reg .b64 %d, %e;
  .shared .align 16 .b8 first[512];
  .shared .align 16 .b8 between[512];
  .shared .align 16 .b8 second[512];
  mov.u32 %t, %tid.x; and.b32 %i, %t, 3; shl.b32 %v, %t, 2;
  mov.u32 %a, first; add.u32 %s, %v, %a; mov.u32 %a, second; add.u32 %q, %v, %a;
  ${body}
  ld.param.u64 %d, [out]; mad.wide.u32 %d, %t, 4, %d; st.global.u32 [%d], %v; ret;
}`;

test.each(Object.entries(choices))("%s", (_, body) => {
  const asked = vi.spyOn(Host.prototype, "translate");
  const [jit, interpreter] = (["jit", "interpreter"] as const).map((engine) => {
    const device = new Device({ engine });
    const words = (times: number) => device.buffer(Uint32Array.from({ length: 128 }, (_, i) => times * i));
    const list = Array.from({ length: 32 }, (_, i) => words(1000 + i).address);
    const args = [device.buffer("u32", 128), words(3), words(5), device.buffer(BigUint64Array.from(list))];
    const result = device.load(choosing(body)).kernel("k").launch({ grid: 1, block: 128, args });
    expect({ ok: result.ok, engine: result.engine }).toEqual({ ok: true, engine });
    return [...args[0]!.read()];
  });
  expect(jit).toEqual(interpreter);
  expect(asked).not.toHaveBeenCalled();
});

test("a word between two variables of which an access may find either is in neither", () => {
  const body = `st.shared.u32 [%s], %t; st.shared.u32 [%q], %t; bar.sync 0; add.u32 %v, %s, 512;
ld.shared.u32 %a, [%s]; ld.shared.u32 %v, [%v];`;
  const reports = (["jit", "interpreter"] as const).map((engine) => {
    const device = new Device({ engine });
    const args = [0, 1, 2, 3].map(() => device.buffer("u32", 128));
    const { reports } = device.load(choosing(body)).kernel("k").launch({ grid: 1, block: 128, args });
    return reports.map(({ code, message }) => ({ code, message }));
  });
  expect(reports[0]).toEqual(reports[1]);
  expect(reports[0]).toHaveLength(1);
});

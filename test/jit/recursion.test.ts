import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/**
 * Adds up the numbers from `n` down (in the last block from another one), and counts the calls of each thread in
 * memory; `wide`: registers that live across a call.
 */
const program = (wide: number): string => {
  const kept = Array.from({ length: wide }, (_, i) => `%x${i}`);
  return `.version 9.0
.target sm_90
.address_size 64
.func (.reg .b32 r) sum (.reg .b64 at, .reg .b32 n)
{
    .reg .pred p;
    .reg .b32 m${kept.map((x) => `, ${x}`).join("")};
    .local .b32 own[2];
    ld.global.b32 m, [at];
    add.u32 m, m, 1;
    st.global.b32 [at], m;
    mov.u32 r, 0;
    setp.eq.u32 p, n, 0;
    @p ret;
    st.local.b32 [own+4], n;
${kept.map((x, i) => `    mad.lo.u32 ${x}, n, ${i}, n;`).join("\n")}
    sub.u32 m, n, 1;
    call (r), sum, (at, m);
${kept.map((x) => `    add.u32 r, r, ${x};`).join("\n")}
    ld.local.b32 m, [own+4];
    add.u32 r, r, m;
    ret;
}
.visible .entry k(.param .u64 out, .param .u32 depth, .param .u32 deepest)
{
    .reg .b64 %o;
    .reg .b32 %t, %n, %r, %b;
    .reg .pred %p;
    ld.param.u64 %o, [out];
    ld.param.u32 %n, [depth];
    mov.u32 %t, %tid.x;
    mov.u32 %r, %ctaid.x;
    mad.lo.u32 %r, %r, 64, %t;
    mad.wide.u32 %o, %r, 8, %o;
    mov.u32 %r, %ctaid.x;
    mov.u32 %b, %nctaid.x;
    sub.u32 %b, %b, 1;
    setp.eq.u32 %p, %r, %b;
    @%p ld.param.u32 %n, [deepest];
    and.b32 %t, %t, 5;
    sub.u32 %n, %n, %t;
    call (%r), sum, (%o, %n);
    st.global.b32 [%o+4], %r;
    ret;
}`;
};

function run(wide: number, depth: number, engine: "interpreter" | "jit") {
  const device = new Device();
  const kernel = device.load(program(wide)).kernel("k");
  const out = device.buffer("u32", 128);
  const results = [0, 1].map(() => kernel.launch({ grid: 1, block: 64, args: [out, depth, depth], engine }));
  const reports = results.flatMap((r) => r.reports.map(({ code, message, stack }) => [code, message, stack.length]));
  return { engines: results.map((r) => r.engine), outcome: { out: [...out.read()], reports } };
}

// Threads count their calls twice: what has been done before a launch is given up must not stay.
test.each([
  [0, 10, "jit"],
  [0, 600, "jit"],
  [0, 4000, "interpreter"],
  [40, 200, "jit"],
  [40, 1500, "interpreter"],
  [40, 100_000, "interpreter"],
] as const)("with %i registers to keep, calls nested %i deep are run by the %s", (wide, depth, engine) => {
  const { engines, outcome } = run(wide, depth, "jit");
  expect(engines).toEqual([engine, engine]);
  expect(outcome).toEqual(run(wide, depth, "interpreter").outcome);
});

/** Blocks of which one nests deeper than the others. */
function share(grid: number, deep: number) {
  const device = new Device({ engine: "jit", hostThreads: 3 });
  const kernel = device.load(program(0)).kernel("k");
  const out = device.buffer("u32", 128 * grid);
  const { ok, engine, hostThreads } = kernel.launch({ grid, block: 64, args: [out, 500, deep] });
  const results = out.read();
  const expected = Array.from({ length: 64 * grid }, (_, thread) => {
    const n = (thread < 64 * (grid - 1) ? 500 : deep) - ((thread % 64) & 5);
    return [n + 1, (n * (n + 1)) / 2];
  });
  expect([...results]).toEqual(expected.flat());
  return { ok, engine, hostThreads };
}

test("threads of the host share blocks that nest, and one of them gives all up", () => {
  // Workers may come too late where others keep the machine busy.
  const shared = Array.from({ length: 10 }, () => share(1000, 500));
  for (const launch of shared) expect(launch).toMatchObject({ ok: true, engine: "jit" });
  expect(Math.max(...shared.map((launch) => launch.hostThreads))).toBeGreaterThan(1);
  expect(share(50, 4000)).toMatchObject({ ok: true, engine: "interpreter", hostThreads: 1 });
});

import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/**
 * `nest`: each thread adds one to its word, and the sum of the numbers up to `depth`, an activation and a barrier for
 * each of them.
 */
const nesting = `.version 8.0
.target sm_80
.address_size 64
.func (.reg .b32 %s) sum(.reg .b32 %n)
{
.reg .pred %p; .reg .b32 %m;
mov.u32 %s, 0; setp.eq.u32 %p, %n, 0; @%p ret;
bar.sync 0; sub.u32 %m, %n, 1; call (%s), sum, (%m); add.u32 %s, %s, %n;
ret;
}
.visible .entry nest(.param .u64 data, .param .u32 depth)
{
.reg .b32 %r<9>; .reg .b64 %d<4>;
ld.param.u64 %d1, [data]; ld.param.u32 %r5, [depth];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
mul.wide.u32 %d2, %r4, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %r6, [%d1]; add.u32 %r6, %r6, 1; st.global.u32 [%d1], %r6;
call (%r7), sum, (%r5); add.u32 %r6, %r6, %r7; st.global.u32 [%d1], %r6;
ret;
}
.visible .entry double(.param .u64 data)
{
.reg .b32 %r<9>; .reg .b64 %d<4>;
ld.param.u64 %d1, [data]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
mul.wide.u32 %d2, %r4, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %r6, [%d1]; shl.b32 %r6, %r6, 1; st.global.u32 [%d1], %r6;
ret;
}`;

const [grid, block] = [8, 64];
const threads = grid * block;

test("launches that may be undone run in workers, one after the other", async () => {
  const device = new Device({ engine: "jit" });
  const module = device.load(nesting);
  const data = device.buffer("u32", new Uint32Array(threads).fill(7));
  const streams = [device.stream(), device.stream()];
  const ends = streams.map((stream) =>
    module.kernel("nest").launchAsync({ grid, block, args: [data, 10], stream, hostThreads: 2 }),
  );
  for (const result of await Promise.all(ends)) expect(result).toMatchObject({ ok: true, engine: "jit" });
  // Each adds one, and the sum of the numbers up to ten.
  expect([...new Set(data.read())]).toEqual([7 + 2 * (1 + 55)]);
});

test("one that is given up leaves nothing: neither of itself, nor of others", async () => {
  const device = new Device({ engine: "jit" });
  const module = device.load(nesting);
  const [deep, other] = [7, 3].map((value) => device.buffer("u32", new Uint32Array(threads).fill(value)));
  const ends = [
    module.kernel("double").launchAsync({ grid, block, args: [other!], stream: device.stream() }),
    module.kernel("nest").launchAsync({ grid, block, args: [deep!, 3000], stream: device.stream() }),
    module.kernel("double").launchAsync({ grid, block, args: [other!], stream: device.stream() }),
  ];
  await Promise.resolve();
  const later = device.buffer("u32", [5, 6]);
  const results = await Promise.all(ends);
  expect(results.map(({ ok, engine }) => [ok, engine])).toEqual([
    [true, "jit"],
    [true, "interpreter"],
    [true, "jit"],
  ]);
  expect([...new Set(deep!.read())]).toEqual([7 + 1 + (3000 * 3001) / 2]);
  expect([...new Set(other!.read())]).toEqual([12]);
  expect([...later.read()]).toEqual([5, 6]);
});

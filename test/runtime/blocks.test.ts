import { expect, test } from "vitest";
import { Device, type EngineName, UsageError } from "../../src/index.ts";
import { blockRanges, type BlockSelection } from "../../src/runtime/launch/block-selection.ts";

/* Each thread writes the size of the grid, so that what has not run stays 0. */
const source = `.version 8.0
.target sm_70
.address_size 64
.visible .entry mark(.param .u64 out)
{
    .reg .b32 %b, %c, %n, %m;
    .reg .b64 %o, %a;
    mov.u32 %b, %ctaid.y;
    mov.u32 %n, %nctaid.x;
    mov.u32 %c, %ctaid.x;
    mad.lo.u32 %b, %b, %n, %c;
    mov.u32 %m, %nctaid.y;
    mul.lo.u32 %n, %n, %m;
    ld.param.u64 %o, [out];
    mul.wide.u32 %a, %b, 4;
    add.u64 %o, %o, %a;
    red.global.add.u32 [%o], %n;
    ret;
}
// With a step, blocks 0 to 5 wait until block 6 has been here.
.visible .entry chain(.param .u64 flags, .param .u32 step)
{
    .reg .b32 %b, %v, %s;
    .reg .b64 %f, %a;
    .reg .pred %p;
    mov.u32 %b, %ctaid.x;
    ld.param.u32 %s, [step];
    ld.param.u64 %f, [flags];
    mul.wide.u32 %a, %b, 4;
    add.u64 %a, %f, %a;
    setp.eq.u32 %p, %s, 0;
    @%p bra set;
    setp.ge.u32 %p, %b, 6;
    @%p bra set;
wait:
    ld.volatile.global.u32 %v, [%f+24];
    setp.eq.u32 %p, %v, 0;
    @%p bra wait;
set:
    st.volatile.global.u32 [%a], 1;
    ret;
}
.visible .entry fails(.param .u64 out)
{
    .reg .b32 %b;
    .reg .b64 %o, %a;
    mov.u32 %b, %ctaid.x;
    ld.param.u64 %o, [out];
    mul.wide.u32 %a, %b, 4;
    add.u64 %o, %o, %a;
    st.global.u32 [%o], 1;
    ret;
}
`;

const engines = ["jit", "interpreter"] as const;
const parts: readonly (readonly [BlockSelection, readonly number[]])[] = [
  [[0], [0]],
  [[[0, 5]], [0, 1, 2, 3, 4, 5]],
  [[[2, 3]], [2, 3]],
  [
    [5, [0, 1], 1],
    [0, 1, 5],
  ],
  [
    [0, 2, 4],
    [0, 2, 4],
  ],
];

const load = (engine: EngineName, hostThreads = 1, blocks = 6) => {
  const device = new Device({ engine, hostThreads });
  return { device, module: device.load(source), out: device.buffer("u32", blocks) };
};

test.each(engines.flatMap((engine) => [1, 3].flatMap((threads) => parts.map((p) => [engine, threads, ...p] as const))))(
  "%s, %i host threads: %j",
  (engine, threads, blocks, indices) => {
    const { module, out } = load(engine, threads);
    const seen: number[] = [];
    const result = module.kernel("mark").launch({
      ...{ grid: [3, 2], block: 32, blocks, args: [out] },
      onProgress: ({ blocksDone, blocks: all }) => seen.push(blocksDone, all),
    });
    expect(result).toMatchObject({ ok: true, engine, threads: 32 * indices.length });
    expect([...out.read()]).toEqual([0, 1, 2, 3, 4, 5].map((i) => (indices.includes(i) ? 32 * 6 : 0)));
    expect(seen.every((n) => n <= indices.length)).toBe(true);
  },
);

test("many blocks in threads, and in launches that do not block", async () => {
  const { module, out } = load("jit", 3, 20_000);
  const blocks: BlockSelection = [[100, 9_999], 10_001, [15_000, 19_999]];
  const options = { grid: 20_000, block: 32, blocks, args: [out] };
  expect(module.kernel("mark").launch(options)).toMatchObject({ ok: true, engine: "jit" });
  expect(await module.kernel("mark").launchAsync(options)).toMatchObject({ ok: true, engine: "jit" });
  const has = (i: number) => (i >= 100 && i <= 9_999) || i === 10_001 || i >= 15_000;
  const wrong = [...out.read()].findIndex((n, i) => n !== (has(i) ? 2 * ((32 * 20_000) | 0) : 0));
  expect(wrong).toBe(-1);
});

test.each(engines)("%s: blocks of other parts may be waited for", (engine) => {
  const { module, out } = load(engine, 1, 8);
  const options = { grid: 8, block: 1, blocks: [0, [3, 4], 6], args: [out, 1] } as const;
  expect(module.kernel("chain").launch(options).ok).toBe(true);
  expect([...out.read()]).toEqual([1, 0, 0, 1, 1, 0, 1, 0]);
});

test.each(engines)("%s: a fault names its block, and ends the launch", (engine) => {
  const { module, out } = load(engine, 1, 4);
  const options = { grid: 9, block: 1, args: [out] };
  expect(module.kernel("fails").launch({ ...options, blocks: [0, [2, 3]] }).ok).toBe(true);
  const { ok, reports } = module.kernel("fails").launch({ ...options, blocks: [1, [5, 6], 8] });
  expect(ok).toBe(false);
  expect(reports[0]!.threads[0]!.block).toEqual([5, 0, 0]);
  expect([...out.read()]).toEqual([1, 1, 1, 1]);
});

test("selections", () => {
  expect(blockRanges([7, [3, 5], 4, 6, 9], 10)).toEqual([
    [3, 8],
    [9, 10],
  ]);
  for (const [selection, message] of [
    [[], "none is given"],
    [[6], "there is no block 6: the grid has 6, which count from 0"],
    [[-1], "there is no block -1"],
    [[0.5], "there is no block 0.5"],
    [[[0, 6]], "there is no block 6"],
    [[[3, 2]], "3 to 2 is no range"],
  ] as const) {
    expect(() => blockRanges(selection, 6)).toThrow(UsageError);
    expect(() => blockRanges(selection, 6)).toThrow(message);
  }
});

import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const head = ".version 8.0\n.target sm_80\n.address_size 64\n";

/** Counts down from a number, and then stores one more than a word that somebody else may write meanwhile. */
const counting = `${head}
.visible .entry counting(.param .u64 word, .param .u32 rounds) {
  .reg .pred p; .reg .u32 %a<3>; .reg .u64 %d;
  ld.param.u64 %d, [word]; ld.param.u32 %a1, [rounds];
AGAIN: sub.u32 %a1, %a1, 1; setp.ne.u32 p, %a1, 0; @p bra AGAIN;
  ld.volatile.global.u32 %a2, [%d]; add.u32 %a2, %a2, 1; st.global.u32 [%d+4], %a2;
  ret;
}`;

test("the host has its turn while the interpreter runs a launch that is awaited", async () => {
  const device = new Device({ engine: "interpreter" });
  const words = device.buffer(new Uint32Array([0, 0]));
  const kernel = device.load(counting).kernel("counting");
  const { pending } = device.memory;
  let turns = 0;
  let hasEnded = false;
  const launch = kernel.launchAsync({ grid: 1, block: 32, args: [words, 3_000_000] }).finally(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    await new Promise((resolve) => void setImmediate(resolve));
    // The server of `lanewise exec` must not go to sleep then.
    if (pending.areInSlices) turns++;
  }
  expect(await launch).toMatchObject({ engine: "interpreter", reports: [] });
  expect(turns).toBeGreaterThan(1);
  expect(pending.areInSlices).toBe(false);
  expect([...words.read()]).toEqual([0, 1]);
});

test("launches that are awaited together run one at a time, in their order", async () => {
  const device = new Device({ engine: "interpreter" });
  const kernel = device.load(counting).kernel("counting");
  const ended: number[] = [];
  const launches = [200_000, 10].map(async (rounds, i) => {
    const words = device.buffer(new Uint32Array([i, 0]));
    await kernel.launchAsync({ grid: 1, block: 32, args: [words, rounds], stream: device.stream() });
    ended.push(i);
    return words;
  });
  expect((await Promise.all(launches)).map((words) => [...words.read()])).toEqual([
    [0, 1],
    [1, 2],
  ]);
  expect(ended).toEqual([0, 1]);
});

import { describe, expect, test } from "vitest";
import { type AsyncLaunchOptions, Device, type Kernel, type KernelResult } from "../../src/index.ts";

const head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/**
 * All blocks meet `rounds` times; each time, thread 0 of a block looks at what the block after it has written before.
 */
const meeting = `${head}
.visible .entry meeting(.param .u64 counter, .param .u64 slots, .param .u32 rounds, .param .u64 out) {
  .reg .pred p, first; .reg .u32 %a<16>; .reg .u64 %d<10>;
  ld.param.u64 %d1, [counter]; ld.param.u64 %d2, [slots]; ld.param.u32 %a1, [rounds]; ld.param.u64 %d3, [out];
  mov.u32 %a2, %ctaid.x; mov.u32 %a3, %nctaid.x; mov.u32 %a4, %tid.x; setp.eq.u32 first, %a4, 0;
  mul.wide.u32 %d4, %a2, 4; add.u64 %d5, %d2, %d4; add.u64 %d8, %d3, %d4;
  add.u32 %a5, %a2, 1; rem.u32 %a5, %a5, %a3; mul.wide.u32 %d6, %a5, 4; add.u64 %d7, %d2, %d6;
  mov.u32 %a6, 0; mov.u32 %a7, 0; mov.u32 %a12, 0;
ROUND:
  @!first bra MEET;
  mad.lo.u32 %a8, %a7, 100, %a2; st.volatile.global.u32 [%d5], %a8;
  membar.gl;
  add.u32 %a6, %a6, %a3;
  atom.global.add.u32 %a9, [%d1], 1;
WAIT: ld.volatile.global.u32 %a10, [%d1]; setp.lt.u32 p, %a10, %a6; @p bra WAIT;
  ld.volatile.global.u32 %a11, [%d7]; add.u32 %a12, %a12, %a11;
  // Nobody writes again before all have read.
  add.u32 %a6, %a6, %a3;
  atom.global.add.u32 %a9, [%d1], 1;
AGAIN: ld.volatile.global.u32 %a10, [%d1]; setp.lt.u32 p, %a10, %a6; @p bra AGAIN;
MEET: bar.sync 0;
  add.u32 %a7, %a7, 1; setp.lt.u32 p, %a7, %a1; @p bra ROUND;
  @first st.global.u32 [%d8], %a12;
  ret;
}`;

/** All blocks meet once; thread 0 of each counts how often it looks whether all have come. */
const counted = `${head}
.visible .entry counted(.param .u64 counter, .param .u64 looks) {
  .reg .pred p; .reg .u32 %a<8>; .reg .u64 %d<6>;
  ld.param.u64 %d1, [counter]; ld.param.u64 %d2, [looks];
  mov.u32 %a1, %ctaid.x; mov.u32 %a2, %nctaid.x; mov.u32 %a3, %tid.x; mov.u32 %a4, 0;
  setp.ne.u32 p, %a3, 0; @p bra MEET;
  atom.global.add.u32 %a5, [%d1], 1;
WAIT: add.u32 %a4, %a4, 1; ld.volatile.global.u32 %a5, [%d1]; setp.lt.u32 p, %a5, %a2; @p bra WAIT;
  mul.wide.u32 %d3, %a1, 4; add.u64 %d2, %d2, %d3; st.global.u32 [%d2], %a4;
MEET: bar.sync 0;
  ret;
}`;

/** Each block waits for the flag of the one after it, and the last for nothing. */
const chain = `${head}
.visible .entry chain(.param .u64 flags) {
  .reg .pred p; .reg .u32 %a<8>; .reg .u64 %d<6>;
  ld.param.u64 %d1, [flags]; mov.u32 %a1, %ctaid.x; mov.u32 %a2, %nctaid.x; mov.u32 %a3, %tid.x;
  mul.wide.u32 %d2, %a1, 4; add.u64 %d3, %d1, %d2;
  mov.u32 %a5, 0; add.u32 %a4, %a1, 1; setp.eq.u32 p, %a4, %a2; @p bra DONE;
WAIT: ld.volatile.global.u32 %a5, [%d3+4]; setp.eq.u32 p, %a5, 0; @p bra WAIT;
DONE: bar.sync 0;
  setp.ne.u32 p, %a3, 0; @p bra END;
  add.u32 %a5, %a5, 1; st.volatile.global.u32 [%d3], %a5;
END: ret;
}`;

/**
 * Each thread takes over, plus 1, what one of the block after it has written, and all of a block meet in each round of
 * the loop in which they wait for that.
 */
const inStep = `${head}
.visible .entry inStep(.param .u64 words) {
  .reg .pred p, mine; .reg .u32 %a<8>; .reg .u64 %d<6>;
  ld.param.u64 %d1, [words]; mov.u32 %a1, %ctaid.x; mov.u32 %a2, %ntid.x; mov.u32 %a3, %tid.x;
  mad.lo.u32 %a4, %a1, %a2, %a3; mul.wide.u32 %d2, %a4, 4; add.u64 %d3, %d1, %d2;
  mul.wide.u32 %d4, %a2, 4; add.u64 %d4, %d3, %d4;
  mov.u32 %a6, 0;
WAIT:
  setp.ne.u32 mine, %a6, 0; @mine bra MEET;
  ld.volatile.global.u32 %a5, [%d4]; setp.eq.u32 p, %a5, 0; @p bra MEET;
  add.u32 %a6, %a5, 1; st.volatile.global.u32 [%d3], %a6;
MEET: bar.sync 0;
  setp.eq.u32 p, %a6, 0; @p bra WAIT;
  ret;
}`;

/**
 * Each thread adds to its number modulo 7 what one of the block before has published, as soon as it is there; those
 * that still look vote in each round. Only then do all meet, and read what their neighbours in warp and block have.
 */
const lookingBack = `${head}
.visible .entry lookingBack(.param .u64 words, .param .u64 out) {
  .reg .pred p, there; .reg .u32 %a<16>; .reg .u64 %d<8>; .shared .u32 sums[96];
  ld.param.u64 %d1, [words]; ld.param.u64 %d2, [out]; mov.u32 %a1, %ctaid.x; mov.u32 %a2, %tid.x;
  mad.lo.u32 %a3, %a1, 96, %a2; mul.wide.u32 %d3, %a3, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  rem.u32 %a4, %a2, 7; mov.u32 %a5, -1; setp.eq.u32 p, %a1, 0; @p bra PUBLISH;
  // Lanes look in different numbers of rounds, whatever is there.
  mov.u32 %a11, %a4;
LOOK: ld.volatile.global.u32 %a6, [%d1+-384];
  setp.ne.u32 there, %a6, 0; setp.eq.and.u32 there, %a11, 0, there;
  vote.sync.ballot.b32 %a7, there, %a5; not.b32 %a8, %a7; and.b32 %a5, %a5, %a8;
  setp.ne.u32 p, %a11, 0; @p sub.u32 %a11, %a11, 1;
  @!there bra LOOK;
  add.u32 %a4, %a4, %a6;
PUBLISH: add.u32 %a4, %a4, 1; st.volatile.global.u32 [%d1], %a4;
  mov.u32 %a9, sums; mad.lo.u32 %a10, %a2, 4, %a9; st.shared.u32 [%a10], %a4;
  bar.sync 0;
  shfl.sync.bfly.b32 %a12, %a4, 5, 31, -1;
  sub.u32 %a13, 95, %a2; mad.lo.u32 %a13, %a13, 4, %a9; ld.shared.u32 %a14, [%a13];
  mad.lo.u32 %a12, %a12, 1000, %a14; st.global.u32 [%d2], %a12;
  ret;
}`;

/** Thread 0 of each block adds 3 to a word that a lock guards, a hundred times. */
const lock = `${head}
.visible .entry locked(.param .u64 lock, .param .u64 word) {
  .reg .pred p; .reg .u32 %a<8>; .reg .u64 %d<6>;
  ld.param.u64 %d1, [lock]; ld.param.u64 %d2, [word]; mov.u32 %a1, 0;
NEXT:
TAKE: atom.global.acquire.gpu.cas.b32 %a2, [%d1], 0, 1; setp.ne.u32 p, %a2, 0; @p bra TAKE;
  ld.volatile.global.u32 %a3, [%d2]; add.u32 %a3, %a3, 3; st.volatile.global.u32 [%d2], %a3;
  atom.global.release.gpu.exch.b32 %a2, [%d1], 0;
  add.u32 %a1, %a1, 1; setp.lt.u32 p, %a1, 100; @p bra NEXT;
  ret;
}`;

const launched = async (kernel: Kernel, options: AsyncLaunchOptions, apart: boolean): Promise<KernelResult> => {
  const result = apart ? await kernel.launchAsync(options) : kernel.launch(options);
  expect(result).toMatchObject({ engine: "jit", reports: [] });
  return result;
};

/** Words of 12 blocks of 64 threads, and the row for which the last of them waits. */
const stairs = (device: Device) => device.buffer(new Uint32Array(13 * 64).fill(1, 12 * 64));
const climbed = Array.from({ length: 13 * 64 }, (_, i) => 13 - Math.floor(i / 64));

test("the interpreter, too, lets blocks wait for later ones in a loop with a barrier", () => {
  const device = new Device();
  const words = stairs(device);
  const args = { grid: 12, block: 64, args: [words], engine: "interpreter" } as const;
  expect(device.load(inStep).kernel("inStep").launch(args)).toMatchObject({ engine: "interpreter", reports: [] });
  expect([...words.read()]).toEqual(climbed);
});

test("where one block waits for others, those that begin after it do not wait for long before it is their turn", () => {
  const device = new Device({ engine: "jit", hostThreads: 1 });
  const kernel = device.load(counted).kernel("counted");
  const blocks = 24;
  const looksOf = (): number[] => {
    const [counter, looks] = [device.buffer("u32", 1), device.buffer("u32", blocks)];
    const args = { grid: blocks, block: 256, args: [counter, looks] };
    expect(kernel.launch(args)).toMatchObject({ engine: "jit", reports: [] });
    return [...looks.read()];
  };
  // The last block finds all others. Nothing is known before the first one has waited.
  const first = looksOf();
  expect(first[blocks - 1]).toBe(1);
  expect(Math.max(...first.slice(2))).toBeLessThan(10_000);
  expect(Math.max(...looksOf())).toBeLessThan(10_000);
});

// An A100 has room for 3,456 blocks of one warp.
test.each(["jit", "interpreter"] as const)("as many blocks meet as a GPU has room for (%s)", (engine) => {
  const blocks = 864;
  const device = new Device({ hostThreads: 1 });
  const [counter, slots, out] = [1, blocks, blocks].map((words) => device.buffer("u32", words));
  const args = { grid: blocks, block: 32, args: [counter!, slots!, 1, out!], engine };
  expect(device.load(meeting).kernel("meeting").launch(args)).toMatchObject({ engine, reports: [] });
  expect([...out!.read()]).toEqual(Array.from({ length: blocks }, (_, block) => (block + 1) % blocks));
});

describe.each([
  [1, "with the calling thread", false],
  [3, "with the calling thread", false],
  [1, "apart from it", true],
  [3, "apart from it", true],
])("blocks that wait for each other, with %i threads %s", (hostThreads, _, apart) => {
  const device = new Device({ engine: "jit", hostThreads });

  test("lanes that have looked for different times meet at a barrier", async () => {
    const [blocks, threads] = [9, 96];
    const [words, out] = [device.buffer("u32", blocks * threads), device.buffer("u32", blocks * threads)];
    const kernel = device.load(lookingBack).kernel("lookingBack");
    await launched(kernel, { grid: blocks, block: threads, args: [words, out] }, apart);
    const sum = (block: number, thread: number): number => (block + 1) * ((thread % 7) + 1);
    const expected = Array.from({ length: blocks * threads }, (_, i) => {
      const [block, thread] = [Math.floor(i / threads), i % threads];
      return 1000 * sum(block, thread ^ 5) + sum(block, threads - 1 - thread);
    });
    expect([...out.read()]).toEqual(expected);
  });

  test("all blocks meet", async () => {
    const [blocks, rounds] = [24, 5];
    const kernel = device.load(meeting).kernel("meeting");
    const [counter, slots] = [device.buffer("u32", 1), device.buffer("u32", blocks)];
    const out = device.buffer("u32", blocks);
    await launched(kernel, { grid: blocks, block: 64, args: [counter, slots, rounds, out] }, apart);
    const sum = (block: number) => [0, 1, 2, 3, 4].reduce((s, round) => s + round * 100 + ((block + 1) % blocks), 0);
    expect([...out.read()]).toEqual(Array.from({ length: blocks }, (_, block) => sum(block)));
    expect([...counter.read()]).toEqual([2 * blocks * rounds]);
  });

  test("blocks wait for later ones", async () => {
    const flags = device.buffer("u32", 60);
    await launched(device.load(chain).kernel("chain"), { grid: 60, block: 64, args: [flags] }, apart);
    expect([...flags.read()]).toEqual(Array.from({ length: 60 }, (_, block) => 60 - block));
  });

  test("blocks wait for later ones, and meet in the loop in which they wait", async () => {
    const words = stairs(device);
    await launched(device.load(inStep).kernel("inStep"), { grid: 12, block: 64, args: [words] }, apart);
    expect([...words.read()]).toEqual(climbed);
  });

  test("a lock lets one block in", async () => {
    const [word, taken] = [device.buffer("u32", 1), device.buffer("u32", 1)];
    await launched(device.load(lock).kernel("locked"), { grid: 200, block: 1, args: [taken, word] }, apart);
    expect([...word.read()]).toEqual([200 * 100 * 3]);
  });

  test("a fault ends the launch, whoever waits", async () => {
    const flags = device.buffer("u32", 10, "flags");
    const kernel = device.load(chain).kernel("chain");
    // The flags of block 10 and those after it are not there.
    const options = { grid: 20, block: 64, args: [flags] };
    const result = apart ? await kernel.launchAsync(options) : kernel.launch(options);
    expect(result.engine).toBe("jit");
    expect(result.reports.map((r) => r.code)).toEqual(["global-out-of-bounds"]);
  });
});

import { describe, expect, test } from "vitest";
import {
  type Explored,
  explore,
  type JobResult,
  parseJob,
  parseSchedule,
  runJob,
  type ScheduleChoice,
  ScriptedSteering,
  SourceText,
} from "../../src/index.ts";

interface Shape {
  readonly grid?: number;
  readonly block?: number;
  readonly words?: number;
  readonly checks?: readonly object[];
  readonly target?: string;
}

/** A kernel whose body has the address of a buffer of words in %d. */
function program(body: string, { grid = 2, block = 1, words = 1, checks = [], target = "sm_75" }: Shape = {}) {
  const ptx = `.version 8.0\n.target ${target}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{
    .reg .b32 %a, %b, %t; .reg .b64 %d, %e; .reg .pred %p;
    .shared .align 4 .b8 shared[256];
    ld.param.u64 %d, [out];
    ${body}
    ret;\n}\n`;
  const text = JSON.stringify({
    id: "program",
    variants: { only: ["k.ptx"] },
    buffers: { out: { type: "u32", n: words, init: { gen: "zero" } } },
    launches: [{ kernel: "k", grid: [grid], block: [block], args: [{ buf: "out" }] }],
    checks,
  });
  const { job } = parseJob(new SourceText("job.json", text));
  const read = (): Uint8Array => new TextEncoder().encode(ptx);
  const run = (how: ScheduleChoice): JobResult => runJob(job!, "only", { read }, { engine: "interpreter", ...how });
  return { run, explore: (budget: number): Promise<Explored> => explore(job!, run, { budget }) };
}

const word = ({ buffers }: JobResult): number => Number(buffers.get("out")!.after.get(0));

const add = "atom.global.add.u32 %a, [%d], 1;";
const increment = "ld.global.u32 %a, [%d]; add.u32 %a, %a, 1; st.global.u32 [%d], %a;";

describe("small programs are explored completely, each order of their accesses once", () => {
  // k accesses in each of n threads: (n k)! / (k!)^n orders.
  test.each([
    [2, 1, 2],
    [2, 2, 6],
    [2, 3, 20],
    [3, 1, 6],
    [3, 2, 90],
  ])("%i blocks with %i accesses each: %i schedules", async (grid, accesses, schedules) => {
    const explored = await program(add.repeat(accesses), { grid }).explore(1000);
    expect(explored).toMatchObject({ schedules, covered: null, found: null });
  });

  test("warps of a block, and lanes that have diverged", async () => {
    const { explore: warps } = program(add, { grid: 1, block: 96 });
    expect(await warps(1000)).toMatchObject({ schedules: 6, covered: null, found: null });
    const parted = `mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; @%p bra other; ${add} bra.uni end; other: ${add} end:`;
    const lanes = program(parted, { grid: 1, block: 32 });
    const explored = await lanes.explore(1000);
    expect(explored).toMatchObject({ covered: null, found: null });
    expect(explored.schedules).toBeGreaterThan(1);
    // Before sm_70 a warp has one program counter.
    const old = program(parted, { grid: 1, block: 32, target: "sm_60" });
    expect(await old.explore(1000)).toMatchObject({ schedules: 1, covered: null, found: null });
  });

  test("more than the budget: what was covered", async () => {
    const explored = await program(add.repeat(3), { grid: 2 }).explore(5);
    // Two without interruptions (which block begins); the rest is random, or has one interruption.
    expect(explored).toMatchObject({ schedules: 5, covered: 0, found: null });
  });
});

describe("a race is found with as few interruptions as it needs", () => {
  test.each<[string, string, Shape, number]>([
    ["a load and a store", increment, {}, 1],
    [
      "of lanes of a warp",
      `mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; @%p bra other; ${increment}
      bra.uni end; other: ${increment} end:`,
      { grid: 1, block: 2 },
      1,
    ],
    [
      "two flags that exclude each other, checked and then set",
      `mov.u32 %t, %ctaid.x; ld.global.u32 %a, [%d+4]; setp.ne.u32 %p, %a, 0;
      @%p bra end; st.global.u32 [%d+4], 1; ${increment} end:`,
      { words: 2 },
      1,
    ],
  ])("%s", async (_, body, shape, interruptions) => {
    const { explore: search, run } = program(body, shape);
    const { found, schedules } = await search(200);
    expect(found?.interruptions).toHaveLength(interruptions);
    expect(schedules).toBeLessThan(30);
    // The schedule repeats it.
    const again = run({ steering: new ScriptedSteering(parseSchedule(found!.schedule!)) });
    expect(word(again)).toBe(word(found!.result));
    expect(again.launches[0]!.steps).toBe(found!.result.launches[0]!.steps);
  });

  test("which of two writes comes last needs no interruption", async () => {
    const { found } = await program("mov.u32 %a, %ctaid.x; st.global.u32 [%d], %a;").explore(10);
    expect(found).toMatchObject({ schedule: "0:1", interruptions: [] });
    expect(found?.difference).toBe('1 of 1 elements of "out" differ, first at 0: 0, not 1');
  });

  test("a fault that only some orders reach", async () => {
    const body = `mov.u32 %t, %ctaid.x; setp.eq.u32 %p, %t, 0; @%p bra first;
      ld.global.u32 %a, [%d]; setp.eq.u32 %p, %a, 0; @%p trap; bra.uni end;
      first: st.global.u32 [%d], 1; end:`;
    const { found } = await program(body).explore(50);
    expect(found?.difference).toBe("it reports trap at k.ptx:10, not nothing");
  });

  test("an endless wait that only some orders reach", async () => {
    const body = `${add} mov.u32 %t, %ctaid.x; setp.eq.u32 %p, %t, 0; @!%p bra end; setp.eq.u32 %p, %a, 0; @%p bra end;
      again: ld.volatile.global.u32 %b, [%d+4]; setp.eq.u32 %p, %b, 0; @%p bra again; end:`;
    const { found } = await program(body, { words: 2 }).explore(50);
    expect(found?.difference).toBe("it reports no-progress at k.ptx:10, not nothing");
  });

  test("a missing barrier", async () => {
    const body = `mov.u32 %t, %tid.x; mov.u32 %b, shared; mad.lo.u32 %b, %t, 4, %b; st.shared.u32 [%b], %t; BARRIER
      xor.b32 %t, %t, 32; mov.u32 %b, shared; mad.lo.u32 %b, %t, 4, %b; ld.shared.u32 %a, [%b];
      mov.u32 %t, %tid.x; mul.wide.u32 %e, %t, 4; add.u64 %d, %d, %e; st.global.u32 [%d], %a;`;
    const shape = { grid: 1, block: 64, words: 64 };
    const wrong = await program(body.replace("BARRIER", ""), shape).explore(100);
    expect(wrong.found).not.toBeNull();
    const right = await program(body.replace("BARRIER", "bar.sync 0;"), shape).explore(1000);
    expect(right).toMatchObject({ covered: null, found: null });
  });
});

test("a job that compares a buffer as a multiset is explored with that comparison", async () => {
  const body = `${add} mul.wide.u32 %e, %a, 4; add.u64 %d, %d, %e; mov.u32 %t, %ctaid.x; st.global.u32 [%d+4], %t;`;
  const exact = await program(body, { grid: 3, words: 4 }).explore(200);
  expect(exact.found).not.toBeNull();
  const checks = [{ buf: "out", type: "u32", n: 4, cmp: "sorted", all: [3, 0, 1, 2] }];
  const sorted = await program(body, { grid: 3, words: 4, checks }).explore(200);
  expect(sorted.found).toBeNull();
});

test("a large program also gets random schedules, and a seed repeats what one finds", async () => {
  const { explore: search, run } = program(`${add.repeat(40)} ${increment}`, { grid: 4, block: 32 });
  const { found } = await search(100);
  expect(found).not.toBeNull();
  const how =
    found!.seed === null ? { steering: new ScriptedSteering(parseSchedule(found!.schedule!)) } : { seed: found!.seed };
  expect(word(run(how))).toBe(word(found!.result));
});

test.each(["", "1", "1:", "5:1,3:1", "1:1,1:2", "a:b"])('"%s" is not a schedule', (text) => {
  expect(() => parseSchedule(text)).toThrow(/--schedule/);
});

test("a schedule of another run", () => {
  const { run } = program(increment);
  expect(run({ steering: new ScriptedSteering(parseSchedule("0:7")) }).problem?.message).toMatch(/is of another run/);
  const steering = new ScriptedSteering(parseSchedule("0:1,900:1"));
  run({ steering });
  expect(steering.unreached).toBe(1);
});

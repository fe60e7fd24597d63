import { expect, test } from "vitest";
import { Team } from "../../../src/jit/threads/team.ts";
import { type Counting, countingWork } from "./counting-work.ts";

type Options = Parameters<typeof countingWork>[0];

function teamFor(options: Options): { readonly team: Team; readonly counting: Counting } {
  const counting: Counting = countingWork(options, () => team);
  const team = new Team(counting.work);
  return { team, counting };
}

const ones = (count: number): readonly number[] => Array.from({ length: count }, () => 1);

test.each([1, 2, 3, 5])("workers alone run each of the blocks once, %i of them", async (threads) => {
  const { team, counting } = teamFor({ blocks: 1000, threads });
  await team.finish();
  expect(counting.counts()).toEqual(ones(1000));
  expect(team.threads).toBeGreaterThanOrEqual(1);
  expect(team.threads).toBeLessThanOrEqual(threads);
});

test.each([1, 2, 4])("so do %i threads with the calling one", (threads) => {
  const { team, counting } = teamFor({ blocks: 2000, threads, spins: 10_000 });
  team.run();
  expect(counting.counts()).toEqual(ones(2000));
});

test("arguments and results of host functions pass as they are", async () => {
  const seen: unknown[] = [];
  const visit = (block: number, three: bigint): number => {
    seen.push([block, three]);
    return -block;
  };
  const { team, counting } = teamFor({ blocks: 50, threads: 1, visit });
  await team.finish();
  expect(seen).toEqual(Array.from({ length: 50 }, (_, block) => [block, 3n]));
  expect(counting.counts()).toEqual(Array.from({ length: 50 }, (_, block) => 0 - block));
});

test.each(["run", "finish"] as const)("what blocks print comes in their order: %s", async (how) => {
  const { team, counting } = teamFor({
    blocks: 300,
    threads: 3,
    spins: 20_000,
    visit: (block, _, print) => (print(`${block} `), print("and "), 1),
  });
  await team[how]();
  expect(counting.printed()).toBe(Array.from({ length: 300 }, (_, block) => `${block} and `).join(""));
});

test.each(["run", "finish"] as const)("of several failures that of the first block is given: %s", async (how) => {
  for (let round = 0; round < 10; round++) {
    const { team, counting } = teamFor({
      blocks: 500,
      threads: 3,
      spins: 20_000,
      visit: (block, _, print) => {
        print(`${block} `);
        if (block % 100 >= 90) throw new Error(`block ${block}`);
        return 1;
      },
    });
    await expect((async () => team[how]())()).rejects.toThrow("block 90");
    // What comes before has run, and nothing after it has been seen to.
    expect(counting.counts().slice(0, 91)).toEqual([...ones(90), 0]);
    expect(counting.printed()).toBe(Array.from({ length: 91 }, (_, block) => `${block} `).join(""));
  }
});

test("a worker that cannot run the module fails the launch", async () => {
  const { team, counting } = teamFor({ blocks: 10, threads: 1 });
  const broken = new Team({ ...counting.work, module: new WebAssembly.Module(trapping) });
  await expect(broken.finish()).rejects.toThrow("unreachable");
  await team.finish();
  expect(counting.counts()).toEqual(ones(10));
});

test("a worker whose stack is full says so", async () => {
  const { counting } = teamFor({ blocks: 10, threads: 1 });
  const deep = new Team({ ...counting.work, module: new WebAssembly.Module(endless) });
  await expect(deep.finish()).rejects.toMatchObject({ name: "RangeError" });
});

/** A module with the function `run`, of this code. */
const moduleOf = (...code: readonly number[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 8, 1, 0x60, 3, 0x7f, 0x7f, 0x7f, 1, 0x7f, 3, 2, 1, 0],
    ...[7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 0, 10, code.length + 4, 1, code.length + 2, 0, ...code, 0x0b],
  ]);
/** (unreachable) */
const trapping = moduleOf(0x00);
/** It calls itself. */
const endless = moduleOf(0x20, 0, 0x20, 1, 0x20, 2, 0x10, 0);

test("what the receiver of output throws ends the launch", async () => {
  const { counting } = teamFor({ blocks: 100, threads: 2 });
  const team = new Team({
    ...counting.work,
    onProgress: () => {
      throw new Error("enough");
    },
  });
  await expect(team.finish()).rejects.toThrow("enough");
  expect(() =>
    new Team({
      ...counting.work,
      onProgress: () => {
        throw new Error("enough");
      },
    }).run(),
  ).toThrow("enough");
});

test("launches in flight at the same time do not disturb each other", async () => {
  const all = Array.from({ length: 8 }, (_, i) => teamFor({ blocks: 200 + i, threads: 2, spins: 5000 }));
  const here = teamFor({ blocks: 500, threads: 2, spins: 20_000 });
  const ends = all.map(({ team }) => team.finish());
  here.team.run();
  await Promise.all(ends);
  for (const [i, { counting }] of all.entries()) expect(counting.counts()).toEqual(ones(200 + i));
  expect(here.counting.counts()).toEqual(ones(500));
});

test("where there is no room for further contexts, fewer threads run", () => {
  const { counting } = teamFor({ blocks: 300, threads: 4, spins: 20_000 });
  let rooms = 1;
  const openContext = (): number => {
    if (rooms-- === 0) throw new RangeError("no room");
    return counting.work.openContext();
  };
  new Team({ ...counting.work, openContext }).run();
  expect(counting.counts()).toEqual(ones(300));
});

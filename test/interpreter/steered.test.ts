import { describe, expect, test } from "vitest";
import type { Steering } from "../../src/machine/launch.ts";
import { kit } from "../../src/semantics/index.ts";
import { access, ModuleBuilder, special, symbol, u64 } from "./builder.ts";
import { run } from "./harness.ts";
import { lockedCounter } from "./spin-lock.ts";

interface Asked {
  readonly ways: number;
  readonly interrupts: boolean;
}

/** Answers in order, then 0; and what was asked. */
function script(...answers: readonly number[]): Steering & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  return {
    asked,
    choose: (ways, current) => (asked.push({ ways, interrupts: current !== null }), answers[asked.length - 1] ?? 0),
  };
}

/** Answers by a linear congruential generator. */
function dice(seed: number): Steering {
  let state = seed;
  return {
    choose: (ways) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return (state >>> 16) % ways;
    },
  };
}

/** Each thread adds 1 to a word by a load and a store. */
function increment(): ModuleBuilder {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const base = k.reg("b64");
  const n = k.reg("b32");
  k.load(base, access("kernel-param", 64), out);
  k.load(n, access("global"), base.i64);
  k.set(n, kit.add(n.i32, kit.i32(1)));
  k.store(access("global"), base.i64, n.i32);
  k.exit();
  return m;
}

describe("a schedule is asked before every access that others can see", () => {
  const twoBlocks = { grid: [2, 1, 1], block: [1, 1, 1], words: 1 } as const;

  test("who always goes on loses nothing", () => {
    const steering = script();
    expect(run(increment(), { ...twoBlocks, request: { steering } }).out[0]).toBe(2);
    // Which block begins, and whether it goes on to its store. The second one is alone when the first has ended.
    expect(steering.asked).toEqual([
      { ways: 2, interrupts: false },
      { ways: 2, interrupts: true },
    ]);
  });

  test.each([
    ["the first is interrupted between its load and its store", [0, 1], 1],
    ["the second runs first, whole", [1], 2],
    ["both load before either stores", [0, 1, 1], 1],
  ])("%s", (_, answers, count) => {
    expect(run(increment(), { ...twoBlocks, request: { steering: script(...answers) } }).out[0]).toBe(count);
  });

  test("warps of a block, in the same way", () => {
    const options = { block: [64, 1, 1], words: 1 } as const;
    // All lanes of a warp load before any stores, so a warp counts once.
    expect(run(increment(), { ...options, request: { steering: script() } }).out[0]).toBe(2);
    expect(run(increment(), { ...options, request: { steering: script(0, 1) } }).out[0]).toBe(1);
  });
});

/** Lanes 0 and 1 part; lane 0 writes 1 and lane 1 writes 2 to the same word. */
function parted(): ModuleBuilder {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const base = k.reg("b64");
  const second = k.reg("pred");
  const [other, end] = [k.label(), k.label()];
  k.load(base, access("kernel-param", 64), out);
  k.set(second, kit.ne(special("tid.x"), kit.i32(0)));
  k.branch(other, { when: second });
  k.store(access("global"), base.i64, kit.i32(1));
  k.branch(end);
  k.place(other);
  k.store(access("global"), base.i64, kit.i32(2));
  k.place(end);
  k.exit();
  return m;
}

test("groups of a warp, where lanes are scheduled each for itself", () => {
  const results = [[0], [1]].map((answers) => {
    const steering = script(...answers);
    return run(parted(), { block: [2, 1, 1], words: 1, request: { steering } }).out[0];
  });
  expect(results).toEqual([2, 1]);
});

test.each([
  ["lanes of a warp", [32, 1, 1], [1, 1, 1]],
  ["warps of a block", [128, 1, 1], [1, 1, 1]],
  ["blocks", [3, 1, 1], [9, 1, 1]],
] as const)("a spin lock between %s ends whatever the schedule", (_, block, grid) => {
  const m = lockedCounter();
  for (const steering of [script(), dice(1), dice(2), dice(3)]) {
    const { ok, out: words } = run(m, { block, grid, request: { steering, maxSteps: 50_000_000 } });
    expect(ok).toBe(true);
    expect(words[0]).toBe(block[0] * grid[0]);
  }
});

test("a block waits for one that has not begun", () => {
  const m = new ModuleBuilder();
  m.variable("flag", "global", 4);
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const at = k.element(out, special("ctaid.x"));
  const [last, wait] = [k.reg("pred"), k.reg("pred")];
  const seen = k.reg("b32");
  const spin = k.label();
  k.set(last, kit.eq(special("ctaid.x"), kit.i32(19)));
  k.store(access("global", 32, { volatile: true }), symbol("flag"), kit.i32(1), { when: last });
  k.place(spin);
  k.load(seen, access("global", 32, { volatile: true }), symbol("flag"));
  k.set(wait, kit.eq(seen.i32, kit.i32(0)));
  k.branch(spin, { when: wait });
  k.store(access("global"), at.i64, kit.i32(1));
  k.exit();
  for (const steering of [script(), dice(1)]) {
    const options = {
      grid: [20, 1, 1],
      block: [1, 1, 1],
      words: 20,
      request: { steering, maxSteps: 10_000_000 },
    } as const;
    const { ok, out: words } = run(m, options);
    expect(ok).toBe(true);
    expect([...words]).toEqual(new Array(20).fill(1));
  }
});

test("barriers, and a deadlock", () => {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const base = k.reg("b64");
  const [first, n] = [k.reg("pred"), k.reg("b32")];
  k.load(base, access("kernel-param", 64), out);
  k.set(first, kit.lt(special("tid.x"), kit.i32(32), false));
  const barrier = { kind: "barrier", mode: "sync", id: kit.i32(0), count: null, aligned: true, reduce: null } as const;
  k.store(access("global"), base.i64, kit.i32(7), { when: first });
  k.emit(barrier);
  k.load(n, access("global"), base.i64);
  k.store(access("global"), kit.add(base.i64, kit.i64(4n)), n.i32);
  k.exit();
  for (const seed of [1, 2, 3, 4]) {
    const { out: words } = run(m, { block: [96, 1, 1], words: 2, request: { steering: dice(seed) } });
    expect([...words]).toEqual([7, 7]);
  }
});

test("a seed comes between a load and a store", () => {
  const counts = [1, 2, 3, 4, 5, 6, 7, 8].map(
    (seed) => run(increment(), { grid: [8, 1, 1], block: [1, 1, 1], words: 1, request: { seed } }).out[0]!,
  );
  expect(Math.min(...counts)).toBeLessThan(8);
});

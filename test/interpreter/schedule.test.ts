import { describe, expect, test } from "vitest";
import { atAddress } from "../../src/ir/index.ts";
import { kit } from "../../src/semantics/index.ts";
import { access, ModuleBuilder, old, special, symbol, u64 } from "./builder.ts";
import { range, run } from "./harness.ts";
import { countAndFree, lockedCounter, takeLock } from "./spin-lock.ts";

const tid = special("tid.x");
describe("threads that wait for each other get on", () => {
  test.each([
    ["lanes of a warp", [32, 1, 1], [1, 1, 1]],
    ["warps of a block", [128, 1, 1], [1, 1, 1]],
    ["blocks", [40, 1, 1], [7, 1, 1]],
  ] as const)("a spin lock between %s", (_, block, grid) => {
    const m = lockedCounter();
    for (const seed of [undefined, 1, 2, 3]) {
      const { ok, out: words } = run(m, { block, grid, request: seed === undefined ? {} : { seed } });
      expect(ok).toBe(true);
      expect(words[0]).toBe(block[0] * grid[0]);
    }
  });

  test("a lock that is taken in a function and freed after its return", () => {
    const m = new ModuleBuilder();
    m.variable("lock", "global", 4);
    const k = m.kernel();
    const out = k.kernelParam(u64);
    const base = k.reg("b64");
    k.load(base, access("kernel-param", 64), out);
    k.emit({ kind: "call", target: { kind: "direct", function: "take" }, args: [], results: [], uniform: false });
    countAndFree(k, symbol("lock"), base.i64);
    k.exit();
    const g = m.func("take");
    takeLock(g, symbol("lock"));
    g.ret();
    expect(run(m, { request: { maxSteps: 10_000_000 } })).toMatchObject({ ok: true });
    expect(run(m, { request: { maxSteps: 10_000_000 } }).out[0]).toBe(32);
  });

  test("a block waits for the one before it, and for the one after it", () => {
    for (const [ticket, other] of [
      [0, 5],
      [5, 0],
    ] as const) {
      const m = new ModuleBuilder();
      m.variable("flag", "global", 4);
      const k = m.kernel();
      const out = k.kernelParam(u64);
      const at = k.element(out, special("ctaid.x"));
      const [mine, theirs, wait] = [k.reg("pred"), k.reg("pred"), k.reg("pred")];
      const seen = k.reg("b32");
      const [spin, go] = [k.label(), k.label()];
      k.set(theirs, kit.eq(special("ctaid.x"), kit.i32(other)));
      k.store(access("global", 32, { volatile: true }), symbol("flag"), kit.i32(1), { when: theirs });
      k.set(mine, kit.ne(special("ctaid.x"), kit.i32(ticket)));
      k.branch(go, { when: mine });
      k.place(spin);
      k.load(seen, access("global", 32, { volatile: true }), symbol("flag"));
      k.set(wait, kit.eq(seen.i32, kit.i32(0)));
      k.branch(spin, { when: wait });
      k.place(go);
      k.store(access("global"), at.i64, kit.i32(1));
      k.exit();
      const { ok, out: words } = run(m, { grid: [6, 1, 1], block: [1, 1, 1], words: 6 });
      expect(ok).toBe(true);
      expect([...words]).toEqual([1, 1, 1, 1, 1, 1]);
    }
  });
});

/** Threads take numbers in the order in which they come; each writes its own. */
function order(): ModuleBuilder {
  const m = new ModuleBuilder();
  m.variable("next", "global", 4);
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const thread = kit.add(kit.mul(special("ctaid.x"), special("ntid.x")), tid);
  const at = k.element(out, thread);
  const n = k.reg("b32");
  k.emit(
    {
      kind: "atomic",
      access: access("global"),
      place: atAddress(symbol("next")),
      combine: [kit.add(old(0), kit.i32(1))],
    },
    { dst: [n] },
  );
  k.store(access("global"), at.i64, n.i32);
  k.exit();
  return m;
}

test("the schedule is deterministic, and a seed permutes it", () => {
  const of = (seed?: number) => [
    ...run(order(), { grid: [6, 1, 1], block: [64, 1, 1], words: 384, request: seed === undefined ? {} : { seed } })
      .out,
  ];
  expect(of()).toEqual(range(384, (i) => i));
  expect(of(1)).toEqual(of(1));
  const different = new Set(range(8, (seed) => of(seed).join()));
  expect(different.size).toBeGreaterThan(4);
  expect(of(3).sort((a, b) => a - b)).toEqual(range(384, (i) => i));
});

test("limits end what does not end by itself, at the loop", () => {
  const m = new ModuleBuilder();
  const k = m.kernel();
  k.set(k.reg("b32"), kit.i32(0));
  const head = k.label();
  k.place(head);
  k.set(k.reg("b32"), kit.i32(0));
  const line = k.length;
  k.branch(head);
  for (const request of [{ maxSteps: 100_000 }, { timeoutMs: 20 }]) {
    const { ok, reports } = run(m, { request });
    expect(ok).toBe(false);
    expect(reports).toMatchObject([{ code: "no-progress", count: 32 }]);
    expect(reports[0]!.source.position(reports[0]!.span.start).line - 1).toBe(line);
  }
});

test("progress is told", () => {
  const seen: number[] = [];
  run(order(), {
    grid: [3, 1, 1],
    words: 96,
    request: { onProgress: ({ blocksDone, blocks }) => seen.push(blocksDone / blocks) },
  });
  expect(seen.length).toBeGreaterThan(0);
});

import { describe, expect, test } from "vitest";
import type { Op } from "../../src/ir/index.ts";
import { sanitizersFor } from "../../src/sanitizers/index.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";
import { access, type FunctionBuilder } from "./builder.ts";
import { engines, lineOf, range } from "./harness.ts";
import { callee, call, channels, flat, freeAt, idAt, kernel, put, read, runThreads, storeLanes } from "./threads.ts";

const all = channels(8);
const ids = read(flat(idAt));

function barrier(
  k: FunctionBuilder,
  mode: "sync" | "arrive" | "wait" = "sync",
  id = 0,
  count: number | null = null,
): void {
  const op: Op = {
    kind: "barrier",
    mode,
    id: kit.i32(id),
    count: count === null ? null : kit.i32(count),
    aligned: true,
    reduce: null,
  };
  k.emit(op);
}

/** Shared local memory begins at address 0 of its window. */
const local = (index: Expr): Expr => kit.add(kit.i32(0x0308_0000), kit.mul(index, kit.i32(4)));

describe.each(engines)("threads of a group, with $name", ({ generate }) => {
  const options = { generate, width: 8, words: 24, block: [24, 1, 1], sharedBytes: 96 } as const;
  const observers = sanitizersFor(["call", "memory", "sync"]);
  const shared = access("shared");

  test.each(["at once", "split", "named, for all three"])("exchange what they have after a barrier: %s", (how) => {
    const { m, k } = kernel(64);
    k.store(shared, local(kit.sub(kit.i32(23), ids)), kit.mul(ids, kit.i32(10)), { lanes: all });
    if (how === "at once") barrier(k);
    else {
      const count = how === "split" ? null : 3;
      barrier(k, "arrive", 5, count);
      put(k, flat(freeAt), kit.i32(0), all);
      barrier(k, "wait", 5, count);
    }
    k.load([{ kind: "region", bits: 32, region: flat(freeAt) }], shared, local(ids), { lanes: all });
    storeLanes(k, read(flat(freeAt)), all);
    k.exit();
    for (const seed of [undefined, 1, 2, 3]) {
      const { reports, out } = runThreads(m, { ...options, observers, request: seed === undefined ? {} : { seed } });
      expect(reports).toEqual([]);
      expect([...out]).toEqual(range(24, (i) => (23 - i) * 10));
    }
  });

  test("a thread that has ended does not count as one that has come", () => {
    const { m, k } = kernel(64);
    const [f, p, end] = [callee(m, "f"), k.reg("pred"), k.label()];
    barrier(f);
    f.ret({ lanes: all });
    k.set(p, kit.lt(ids, kit.i32(16), false), { lanes: all });
    k.branch(end, { lanes: all, unless: p });
    call(k, "f", { lanes: all });
    k.place(end);
    k.exit();
    const { reports } = runThreads(m, options);
    const [report] = reports;
    expect(reports).toHaveLength(1);
    expect(report).toMatchObject({ code: "deadlock", count: 8 });
    expect(report!.stack.map((s) => s.function)).toEqual(["f", "k"]);
    expect(report!.notes.at(-1)).toBe("thread 2, lanes 0x000000ff has ended");
  });

  test("while lanes wait at a barrier, no other lane of the thread runs", () => {
    const { m, k } = kernel(64);
    const [p, late, end] = [k.reg("pred"), k.label(), k.label()];
    k.set(p, kit.eq(kit.and(ids, kit.i32(1)), kit.i32(1)), { lanes: all });
    k.branch(late, { lanes: all, when: p });
    barrier(k);
    k.branch(end);
    k.place(late);
    k.store(shared, local(ids), ids, { lanes: all });
    k.place(end);
    storeLanes(k, ids, all);
    k.exit();
    const seen: string[] = [];
    const { reports } = runThreads(m, {
      ...options,
      block: [16, 1, 1],
      observers: [
        ...observers,
        {
          barrierRelease: () => seen.push("release"),
          access: (e) => seen.push(`${e.effect} ${e.warp.index}`),
        },
      ],
    });
    expect(seen[0]).toBe("release");
    expect(reports.map((r) => [r.code, lineOf(r), r.count])).toEqual([["barrier-divergence", 2, 8]]);
  });

  test("a barrier that the group does not have, and a count that it cannot reach", () => {
    const run = (id: number, count: number | null) => {
      const { m, k } = kernel(64);
      barrier(k, "sync", id, count);
      k.exit();
      return runThreads(m, options).reports.map((r) => r.message);
    };
    expect(run(32, null)).toEqual(["there is no barrier 32: a thread group has 0 to 31"]);
    expect(run(1, 7)).toEqual(["the barrier is for 7 arrivals, and the group has 3 threads"]);
  });
});

test("a loop that does not end is found, and the thread's lanes have not given way to each other", () => {
  const { m, k } = kernel(64);
  const [top, p, end] = [k.label(), k.reg("pred"), k.label()];
  k.set(p, kit.lt(ids, kit.i32(3), false), { lanes: all });
  k.branch(end, { lanes: all, unless: p });
  k.place(top);
  k.branch(top);
  k.place(end);
  k.store(access("global"), kit.i64(0n), ids, { lanes: all });
  k.exit();
  const { reports } = runThreads(m, { width: 8, request: { maxSteps: 1_000_000 } });
  expect(reports.map((r) => [r.code, lineOf(r), r.count])).toEqual([["no-progress", 2, 3]]);
});

import { describe, expect, test } from "vitest";
import { atAddress, type WarpOp } from "../../src/ir/index.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";
import { sanitizersFor } from "../../src/sanitizers/index.ts";
import { access, type FunctionBuilder, ModuleBuilder, old, type Reg, special, symbol, u64 } from "./builder.ts";
import { engines, lineOf, range, run } from "./harness.ts";

const tid = special("tid.x");
const full = kit.i32(-1);
const observers = sanitizersFor(["sync"]);

function storing(value: (k: FunctionBuilder) => Expr): ModuleBuilder {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const at = k.element(k.kernelParam(u64), tid);
  k.store(access("global"), at.i64, value(k));
  k.exit();
  return m;
}

const warpOp = (k: FunctionBuilder, warp: WarpOp, dst: readonly (Reg | null)[], mask: Expr | null = full, when?: Reg) =>
  k.emit({ kind: "warp", mask, warp, aligned: true }, { dst, ...(when ? { when } : {}) });

describe.each(engines)("shuffles, with $name", ({ generate }) => {
  /** The pseudo code of section 9.7.9.6, for all lanes active. */
  function expected(mode: string, lane: number, b: number, c: number): readonly [number, boolean] {
    const segment = (c >> 8) & 31;
    const most = (lane & segment) | (c & 31 & ~segment);
    const least = lane & segment;
    const j =
      mode === "up"
        ? lane - (b & 31)
        : mode === "down"
          ? lane + (b & 31)
          : mode === "bfly"
            ? lane ^ (b & 31)
            : least | (b & 31 & ~segment);
    const p = mode === "up" ? j >= most : j <= most;
    return [p ? j : lane, p];
  }

  test.each(["up", "down", "bfly", "idx"] as const)("%s, with clamps and segments", (mode) => {
    for (const [b, c] of [
      [1, mode === "up" ? 0 : 31],
      [5, 0x1800 | (mode === "up" ? 0 : 7)],
      [16, 0x1000 | 15],
      [37, 20],
    ] as const) {
      const m = storing((k) => {
        const [d, p] = [k.reg("b32"), k.reg("pred")];
        warpOp(k, { op: "shfl", mode, operands: [kit.mul(tid, kit.i32(10)), kit.i32(b), kit.i32(c)] }, [d, p]);
        return kit.add(d.i32, kit.select(p.pred, kit.i32(1), kit.i32(0)));
      });
      const want = range(32, (lane) => {
        const [from, p] = expected(mode, lane, b, c);
        return from * 10 + (p ? 1 : 0);
      });
      expect([...run(m, { generate }).out]).toEqual(want);
    }
  });

  test("votes, matches, reductions and elections among the lanes of a mask", () => {
    const odd = 0xaaaa_aaaa | 0;
    const m = storing((k) => {
      const [p, all, any, uni] = range(4, () => k.reg("pred"));
      const [ballot, match, sum, leader] = range(4, () => k.reg("b32"));
      const mine = k.reg("pred");
      const mask = k.reg("b32");
      k.set(mine, kit.eq(kit.and(tid, kit.i32(1)), kit.i32(1)));
      k.set(mask, kit.select(mine.pred, kit.i32(odd), kit.i32(~odd)));
      k.set(p!, kit.lt(tid, kit.i32(16), false));
      warpOp(k, { op: "vote", mode: "ballot", operands: [p!.pred] }, [ballot!], mask.i32);
      warpOp(k, { op: "vote", mode: "all", operands: [mine.pred] }, [all!], mask.i32);
      warpOp(k, { op: "vote", mode: "any", operands: [mine.pred] }, [any!], mask.i32);
      warpOp(k, { op: "vote", mode: "uni", operands: [mine.pred] }, [uni!], mask.i32);
      warpOp(k, { op: "match", mode: "any", operands: [kit.and(tid, kit.i32(3))] }, [match!], mask.i32);
      warpOp(k, { op: "redux", operands: [tid], combine: kit.add(old(0), old(1)) }, [sum!], mask.i32);
      warpOp(k, { op: "elect", operands: [] }, [leader!, null], mask.i32);
      const flags = [all!, any!, uni!].reduce(
        (word: Expr, r, i) => kit.add(word, kit.select(r.pred, kit.i32(1 << i), kit.i32(0))),
        kit.i32(0),
      );
      const mix = [ballot!, match!, sum!, leader!].reduce(
        (word: Expr, r) => kit.add(kit.mul(word, kit.i32(31)), r.i32),
        flags,
      );
      return mix;
    });
    const want = range(32, (lane) => {
      const mask = lane & 1 ? odd : ~odd;
      const flags = (lane & 1 ? 3 : 0) | 4;
      const match = range(32, (i) => ((i & 3) === (lane & 3) ? 1 << i : 0)).reduce((a, b) => a | b) & mask;
      const sum = range(32, (i) => ((mask >> i) & 1 ? i : 0)).reduce((a, b) => a + b);
      return [mask & 0xffff, match, sum, lane & 1].reduce((word, v) => (Math.imul(word, 31) + v) | 0, flags);
    });
    expect([...run(m, { generate, observers }).out]).toEqual(want);
  });
});

describe("lanes wait for each other", () => {
  /** Lanes below `border` go one way, the others another; both do `part` and store its value. */
  const parted = (part: (k: FunctionBuilder, side: number) => Expr): ModuleBuilder => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const at = k.element(k.kernelParam(u64), tid);
    const p = k.reg("pred");
    const [other, end] = [k.label(), k.label()];
    k.set(p, kit.lt(tid, kit.i32(12), false));
    k.branch(other, { unless: p });
    k.store(access("global"), at.i64, part(k, 0));
    k.branch(end);
    k.place(other);
    k.store(access("global"), at.i64, part(k, 1));
    k.place(end);
    k.exit();
    return m;
  };

  test("a shuffle at two places with one mask is one shuffle", () => {
    const m = parted((k, side) => {
      const d = k.reg("b32");
      const op: WarpOp = {
        op: "shfl",
        mode: "bfly",
        operands: [kit.add(tid, kit.i32(side * 1000)), kit.i32(16), kit.i32(31)],
      };
      warpOp(k, op, [d]);
      return d.i32;
    });
    const { ok, out, reports } = run(m, { observers });
    expect(reports).toEqual([]);
    expect(ok).toBe(true);
    expect([...out]).toEqual(range(32, (i) => (i ^ 16) + ((i ^ 16) < 12 ? 0 : 1000)));
  });

  test("each side of a branch acts alone with a mask of its own", () => {
    const m = parted((k, side) => {
      const d = k.reg("b32");
      warpOp(
        k,
        { op: "redux", operands: [kit.i32(1)], combine: kit.add(old(0), old(1)) },
        [d],
        kit.i32(side === 0 ? 0xfff : ~0xfff),
      );
      return d.i32;
    });
    expect([...run(m, { observers }).out]).toEqual(range(32, (i) => (i < 12 ? 12 : 20)));
  });

  test("old forms take the group as it is", () => {
    const m = parted((k) => {
      const [d, mask] = [k.reg("b32"), k.reg("b32")];
      warpOp(k, { op: "vote", mode: "ballot", operands: [kit.pred(true)] }, [d], null);
      k.emit({ kind: "activemask" }, { dst: [mask] });
      return kit.xor(d.i32, kit.mul(mask.i32, kit.i32(3)));
    });
    const of = (mask: number) => mask ^ Math.imul(mask, 3);
    expect([...run(m, { observers }).out]).toEqual(range(32, (i) => of(i < 12 ? 0xfff : ~0xfff)));
  });

  test("lanes that have exited are not waited for, but a shuffle from them is reported", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const at = k.element(k.kernelParam(u64), tid);
    const [p, d] = [k.reg("pred"), k.reg("b32")];
    k.set(p, kit.le(kit.i32(16), tid, false));
    k.exit({ when: p });
    const line = k.length;
    warpOp(k, { op: "shfl", mode: "idx", operands: [tid, kit.i32(20), kit.i32(31)] }, [d]);
    k.store(access("global"), at.i64, d.i32);
    k.exit();
    expect(run(m).reports).toEqual([]);
    const { reports, ok } = run(m, { observers });
    expect(ok).toBe(false);
    expect(reports).toMatchObject([{ code: "shfl-inactive-source", count: 16 }]);
    expect(lineOf(reports[0]!)).toBe(line);
  });

  test("a mask that leaves out an executing lane is reported", () => {
    const m = storing((k) => {
      warpOp(k, { op: "sync", operands: [] }, [], kit.i32(0x00ff_ffff));
      return kit.i32(1);
    });
    expect(run(m, { observers }).reports).toMatchObject([{ code: "sync-mask-excludes-self", count: 8 }]);
  });

  test("a wait that nobody can end is a report that shows who waits where", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const p = k.reg("pred");
    const [other, end] = [k.label(), k.label()];
    k.set(p, kit.lt(tid, kit.i32(4), false));
    k.branch(other, { when: p });
    const line = k.length;
    k.barrier();
    k.branch(end);
    k.place(other);
    warpOp(k, { op: "sync", operands: [] }, []);
    k.place(end);
    k.exit();
    const { reports } = run(m, { block: [64, 1, 1] });
    expect(reports).toMatchObject([{ code: "deadlock" }]);
    expect(reports[0]!.notes).toContain(
      `warp 0, lanes 0xfffffff0 wait in \`k\`, line ${line + 1} at barrier 0 for lanes 0x0000000f of their warp`,
    );
    expect(reports[0]!.notes).toContain(
      `warp 0, lanes 0x0000000f wait in \`k\`, line ${line + 3} for lanes 0xfffffff0`,
    );
  });
});

describe("barriers", () => {
  /** Each thread writes its slot, and after the barrier reads another's. */
  const exchanging = (barrier: (k: FunctionBuilder) => void): ModuleBuilder => {
    const m = new ModuleBuilder();
    m.variable("s", "shared", 4 * 256);
    const k = m.kernel();
    const at = k.element(k.kernelParam(u64), tid);
    const r = k.reg("b32");
    const slot = (i: Expr) => kit.add(symbol("s"), kit.mul(kit.widen(i, false), kit.i64(4n)));
    k.store(access("shared"), slot(tid), kit.mul(tid, kit.i32(7)));
    barrier(k);
    k.load(r, access("shared"), slot(kit.xor(tid, kit.i32(0x60))));
    k.store(access("global"), at.i64, r.i32);
    k.exit();
    return m;
  };
  const exchanged = range(128, (i) => (i ^ 0x60) * 7);

  test("all threads of the block, the last warp partial or not", () => {
    const m = exchanging((k) => k.barrier());
    const { out, reports } = run(m, { block: [128, 1, 1], words: 128, observers });
    expect(reports).toEqual([]);
    expect([...out]).toEqual(exchanged);
  });

  test("lanes that leave a loop at different times come together at the barrier", () => {
    const m = exchanging((k) => {
      const n = k.reg("b32");
      const p = k.reg("pred");
      const head = k.label();
      k.set(n, kit.mul(kit.and(tid, kit.i32(15)), kit.i32(300)));
      k.place(head);
      // An atomic in the loop makes the group give way early.
      k.emit(
        { kind: "atomic", access: access("shared"), place: atAddress(symbol("s")), combine: [old(0)] },
        { dst: [null] },
      );
      k.set(n, kit.sub(n.i32, kit.i32(1)));
      k.set(p, kit.lt(kit.i32(0), n.i32, true));
      k.branch(head, { when: p });
      k.barrier();
    });
    const { out, reports } = run(m, { block: [128, 1, 1], words: 128, observers });
    expect(reports).toEqual([]);
    expect([...out]).toEqual(exchanged);
  });

  test("exited warps are not waited for", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const at = k.element(k.kernelParam(u64), tid);
    const p = k.reg("pred");
    k.set(p, kit.le(kit.i32(40), tid, false));
    k.exit({ when: p });
    k.barrier();
    k.store(access("global"), at.i64, kit.i32(1));
    k.exit();
    const { ok, out } = run(m, { block: [128, 1, 1], words: 128, observers });
    expect(ok).toBe(true);
    expect([...out]).toEqual(range(128, (i) => (i < 40 ? 1 : 0)));
  });

  test("reductions over the block", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const at = k.element(k.kernelParam(u64), tid, 12);
    const [p, count] = [k.reg("pred"), k.reg("b32")];
    const [and, or] = [k.reg("pred"), k.reg("pred")];
    k.set(p, kit.eq(kit.and(tid, kit.i32(3)), kit.i32(0)));
    const red = (op: "popc" | "and" | "or", dst: Reg) =>
      k.emit(
        { kind: "barrier", mode: "red", id: kit.i32(3), count: null, aligned: true, reduce: { op, a: p.pred } },
        { dst: [dst] },
      );
    red("popc", count);
    red("and", and);
    red("or", or);
    const flag = (r: Reg) => kit.select(r.pred, kit.i32(1), kit.i32(0));
    [count.i32, flag(and), flag(or)].forEach((value, i) => {
      k.store(access("global"), kit.add(at.i64, kit.i64(BigInt(4 * i))), value);
    });
    k.exit();
    const { out } = run(m, { block: [80, 1, 1], words: 240, observers });
    expect([...out]).toEqual(range(80, () => [20, 0, 1]).flat());
  });

  test("producers arrive without waiting, consumers wait", () => {
    const m = new ModuleBuilder();
    m.variable("s", "shared", 4);
    const k = m.kernel();
    const at = k.element(k.kernelParam(u64), tid);
    const [consumer, r] = [k.reg("pred"), k.reg("b32")];
    const [consume, end] = [k.label(), k.label()];
    k.set(consumer, kit.lt(tid, kit.i32(32), false));
    k.branch(consume, { when: consumer });
    k.store(access("shared"), symbol("s"), kit.i32(42));
    k.emit({ kind: "barrier", mode: "arrive", id: kit.i32(1), count: kit.i32(64), aligned: true, reduce: null });
    k.branch(end);
    k.place(consume);
    k.barrier(1, 64);
    k.load(r, access("shared"), symbol("s"));
    k.store(access("global"), at.i64, r.i32);
    k.place(end);
    k.exit();
    const { ok, out } = run(m, { block: [64, 1, 1], observers });
    expect(ok).toBe(true);
    expect([...out]).toEqual(range(32, () => 42));
  });

  test("a count that is no multiple of the warp size is a fault", () => {
    const { reports } = run(exchanging((k) => k.barrier(1, 17)));
    expect(reports).toMatchObject([{ code: "barrier-bad-count", count: 32 }]);
  });

  test("an aligned barrier that lanes of a warp reach at two places is reported, and still ends", () => {
    const m = exchanging((k) => {
      const p = k.reg("pred");
      const [other, end] = [k.label(), k.label()];
      k.set(p, kit.lt(kit.and(tid, kit.i32(31)), kit.i32(4), false));
      k.branch(other, { when: p });
      k.barrier();
      k.branch(end);
      k.place(other);
      k.barrier();
      k.place(end);
    });
    const options = { block: [128, 1, 1], words: 128 } as const;
    const { ok, out } = run(m, options);
    expect(ok).toBe(true);
    expect([...out]).toEqual(exchanged);
    const { reports } = run(m, { ...options, observers });
    // Once for each warp, at the first of the two places: 28 lanes of four warps.
    expect(reports.map((r) => `${r.code} ${r.count}`)).toEqual(["barrier-divergence 112"]);
  });
});

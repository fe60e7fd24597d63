import { describe, expect, test } from "vitest";
import { type Expr, kit } from "../../src/semantics/index.ts";
import { sanitizersFor } from "../../src/sanitizers/index.ts";
import { type FunctionBuilder, ModuleBuilder, special, symbol } from "../interpreter/builder.ts";
import { lineOf, run } from "../interpreter/harness.ts";

const observers = sanitizersFor(["call"]);
const tid = special("tid.x");
const isLow = kit.lt(tid, kit.i32(7), false);
const always = kit.lt(tid, kit.i32(99), false);

/** What the sanitizer says of a kernel: codes with the line, counting from 0. */
function findings(build: (m: ModuleBuilder, k: FunctionBuilder) => void): string[] {
  const m = new ModuleBuilder();
  build(m, m.kernel());
  expect(run(m).reports).toEqual([]);
  return run(m, { observers }).reports.map((r) => `${r.code} at ${lineOf(r)}, ${r.count} threads`);
}

const guard = (k: FunctionBuilder, condition: Expr) => {
  const p = k.reg("pred");
  k.set(p, condition);
  return p;
};

describe("divergent-uni", () => {
  const branch = (condition: Expr) =>
    findings((_, k) => {
      const end = k.label();
      k.branch(end, { when: guard(k, condition), uniform: true });
      k.set(k.reg("b32"), tid);
      k.place(end);
    });
  test("bra.uni that some lanes take", () => expect(branch(isLow)).toEqual(["divergent-uni at 1, 7 threads"]));
  test("bra.uni that all lanes take", () => expect(branch(always)).toEqual([]));
  test("bra.uni that no lane takes", () => expect(branch(kit.xor(always, kit.pred(true)))).toEqual([]));

  test("bra.uni after the warp has parted: only lanes that execute it count", () => {
    const found = findings((_, k) => {
      const [other, end] = [k.label(), k.label()];
      const p = guard(k, isLow);
      k.branch(other, { when: p });
      k.branch(end, { unless: p, uniform: true });
      k.place(other);
      k.branch(end, { when: p, uniform: true });
      k.place(end);
    });
    expect(found).toEqual([]);
  });

  const indexed = (index: Expr) =>
    findings((_, k) => {
      const [a, b] = [k.label(), k.label()];
      k.emit(() => ({ kind: "branch-indexed", index, targets: [a.at!, b.at!], uniform: true }));
      k.place(a);
      k.set(k.reg("b32"), tid);
      k.place(b);
    });
  test("brx.idx.uni with two indices", () =>
    expect(indexed(kit.and(tid, kit.i32(1)))).toEqual(["divergent-uni at 0, 32 threads"]));
  test("brx.idx.uni with one index", () => expect(indexed(kit.i32(1))).toEqual([]));

  const call = (address: Expr, condition = always) =>
    findings((m, k) => {
      const p = guard(k, condition);
      k.emit(
        {
          kind: "call",
          target: { kind: "indirect", address, signature: { params: [], returns: [] }, targets: null, via: "proto" },
          args: [],
          results: [],
          uniform: true,
        },
        { when: p },
      );
      for (const name of ["f", "g"]) m.func(name).ret();
    });
  test("call.uni of two functions", () =>
    expect(call(kit.select(isLow, symbol("f"), symbol("g")))).toEqual(["divergent-uni at 1, 32 threads"]));
  test("call.uni of one function", () => expect(call(symbol("g"))).toEqual([]));
  test("call.uni by some lanes", () => expect(call(symbol("g"), isLow)).toEqual(["divergent-uni at 1, 7 threads"]));

  const returns = (condition: Expr) => findings((_, k) => k.ret({ when: guard(k, condition), uniform: true }));
  test("ret.uni by some lanes", () => expect(returns(isLow)).toEqual(["divergent-uni at 1, 7 threads"]));
  test("ret.uni by all lanes", () => expect(returns(always)).toEqual([]));
});

describe("noreturn-returned", () => {
  const calling = (end: (f: FunctionBuilder) => void) =>
    findings((m, k) => {
      k.emit({ kind: "call", target: { kind: "direct", function: "f" }, args: [], results: [], uniform: true });
      const f = m.func("f");
      f.noreturn = true;
      end(f);
    });
  test("by ret", () => expect(calling((f) => f.ret())).toEqual(["noreturn-returned at 2, 32 threads"]));
  test("by its end", () => expect(calling((f) => f.set(f.reg("b32"), tid))).toHaveLength(1));
  test("a function that exits does not return", () => expect(calling((f) => f.exit())).toEqual([]));
});

describe("operands for which a result is undefined", () => {
  const counting = (guarded: boolean) => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const p = guard(k, kit.ne(tid, kit.i32(0)));
    k.set(k.reg("b32"), tid, {
      undefinedCases: [{ code: "operand-out-of-range", when: kit.eq(tid, kit.i32(0)) }],
      ...(guarded ? { when: p } : {}),
    });
    return run(m, { observers });
  };
  test("are a warning for the lanes that have them", () => {
    const { ok, reports } = counting(false);
    expect(ok).toBe(true);
    expect(reports).toMatchObject([{ code: "operand-out-of-range", severity: "warning", count: 1 }]);
  });
  test("lanes whose guard is false do not compute", () => expect(counting(true).reports).toEqual([]));
});

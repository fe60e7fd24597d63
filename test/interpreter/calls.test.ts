import { describe, expect, test } from "vitest";
import type { ParamType, Signature } from "../../src/ir/index.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";
import {
  access,
  b32,
  bytes,
  f32,
  frame,
  type FunctionBuilder,
  ModuleBuilder,
  s32,
  special,
  symbol,
  u32,
  u64,
} from "./builder.ts";
import { engines, lineOf, range, run } from "./harness.ts";

const tid = special("tid.x");

/** `name(u32) -> u32` in registers: the argument through `f`. */
function unary(m: ModuleBuilder, name: string, f: (a: Expr) => Expr): FunctionBuilder {
  const g = m.func(name);
  const [a, r] = [g.reg("b32"), g.reg("b32")];
  g.formal("params", u32, a);
  g.formal("returns", u32, r);
  g.set(r, f(a.i32));
  g.ret();
  return g;
}

const signature: Signature = { params: [u32], returns: [u32] };

/** A kernel in which every thread calls what `address` says with its number, and stores what it gets. */
function caller(m: ModuleBuilder, address: Expr, targets: readonly string[] | null = null, of = signature): number {
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const at = k.element(out, tid);
  const [fp, r] = [k.reg("b64"), k.reg("b32")];
  k.set(fp, address);
  const line = k.length;
  k.emit({
    kind: "call",
    target: { kind: "indirect", address: fp.i64, signature: of, targets, via: "list" },
    args: [{ kind: "value", value: tid, bits: 32 }],
    results: [{ kind: "register", registers: [r.index] }],
    uniform: false,
  });
  k.store(access("global"), at.i64, r.i32);
  k.exit();
  return line;
}

const pick = (which: Expr, a: string, b: string): Expr => kit.select(which, symbol(a), symbol(b));

describe.each(engines)("with $name", ({ generate }) => {
  test("lanes call different functions through a pointer, and come back together", () => {
    const m = new ModuleBuilder();
    caller(m, pick(kit.lt(tid, kit.i32(7), false), "f", "g"), ["f", "g"]);
    unary(m, "f", (a) => kit.add(a, kit.i32(1000)));
    unary(m, "g", (a) => kit.mul(a, a));
    const { ok, out } = run(m, { generate });
    expect(ok).toBe(true);
    expect([...out]).toEqual(range(32, (i) => (i < 7 ? i + 1000 : i * i)));
  });

  test("recursion keeps the registers and the frame of every activation", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const out = k.kernelParam(u64);
    const at = k.element(out, tid);
    const r = k.reg("b32");
    const call = (value: Expr, result: number) =>
      ({
        kind: "call",
        target: { kind: "direct", function: "fact" },
        args: [{ kind: "value", value, bits: 32 }],
        results: [{ kind: "register", registers: [result] }],
        uniform: false,
      }) as const;
    k.emit(call(kit.and(tid, kit.i32(7)), r.index));
    k.store(access("global"), at.i64, r.i32);
    k.exit();
    const g = m.func("fact");
    const [n, value, saved] = [g.reg("b32"), g.reg("b32"), g.reg("b32")];
    const p = g.reg("pred");
    const kept = g.variable(4);
    g.formal("params", u32, n);
    g.formal("returns", u32, value);
    g.set(value, kit.i32(1));
    g.set(p, kit.eq(n.i32, kit.i32(0)));
    g.ret({ when: p });
    g.store(access("local"), frame(kept), n.i32);
    g.emit(call(kit.sub(n.i32, kit.i32(1)), value.index));
    g.load(saved, access("local"), frame(kept));
    g.set(value, kit.mul(value.i32, saved.i32));
    const factorial = (i: number): number => (i === 0 ? 1 : i * factorial(i - 1));
    expect([...run(m, { generate }).out]).toEqual(range(32, (i) => factorial(i & 7)));
  });

  test("structures are passed by value, and an unsized parameter has the size of its argument", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const out = k.kernelParam(u64);
    const at = k.element(out, tid);
    const [arg, result] = [k.variable(12, 4, "call-param"), k.variable(4, 4, "call-param")];
    const [r, mine] = [k.reg("b32"), k.reg("b32")];
    for (const i of [0, 1, 2]) k.store(access("call-param"), frame(arg, i * 4), kit.add(tid, kit.i32(i * 100)));
    k.emit({
      kind: "call",
      target: { kind: "direct", function: "sum" },
      args: [{ kind: "frame", variable: arg, size: 12 }],
      results: [{ kind: "frame", variable: result, size: 4 }],
      uniform: true,
    });
    k.load(r, access("call-param"), frame(result));
    k.load(mine, access("call-param"), frame(arg));
    k.store(access("global"), at.i64, kit.add(kit.mul(mine.i32, kit.i32(10_000)), r.i32));
    k.exit();
    const g = m.func("sum");
    const to = g.formalVariable("returns", u32);
    const from = g.formalVariable("params", bytes(0, 4, true));
    const words = range(3, () => g.reg("b32"));
    words.forEach((w, i) => {
      g.load(w, access("call-param"), frame(from, i * 4));
    });
    g.store(access("call-param"), frame(from), kit.i32(-1));
    g.store(access("call-param"), frame(to), kit.add(kit.add(words[0]!.i32, words[1]!.i32), words[2]!.i32));
    expect([...run(m, { generate }).out]).toEqual(range(32, (i) => i * 10_000 + 3 * i + 300));
  });
});

const fault = (m: ModuleBuilder, options = {}) => {
  const { ok, reports } = run(m, options);
  expect(ok).toBe(false);
  expect(reports).toHaveLength(1);
  return reports[0]!;
};

describe("faults of indirect calls", () => {
  const lane5 = kit.eq(tid, kit.i32(5));

  test("null", () => {
    const m = new ModuleBuilder();
    const line = caller(m, kit.select(lane5, kit.i64(0n), symbol("f")));
    unary(m, "f", (a) => a);
    const report = fault(m);
    expect(report).toMatchObject({ code: "indirect-call-null", kernel: "k", count: 1 });
    expect(report.threads).toEqual([{ block: [0, 0, 0], thread: [5, 0, 0] }]);
    expect(lineOf(report)).toBe(line);
  });

  test.each([
    ["inside a function", kit.add(symbol("f"), kit.i64(4n)), "0x50000014 is 4 bytes inside the function `f`"],
    ["data", symbol("data", true), /is an address of global memory, not of a function/],
    ["a kernel", symbol("k"), /is the kernel `k`/],
    ["nonsense", kit.i64(0x1234_5678_9abcn), "0x123456789abc is the address of no function"],
  ])("a bad address: %s", (_, address, message) => {
    const m = new ModuleBuilder();
    m.variable("data", "global", 4);
    caller(m, address);
    unary(m, "f", (a) => a);
    const report = fault(m);
    expect(report.code).toBe("indirect-call-bad-address");
    expect(report.message).toMatch(message);
    expect(report.count).toBe(32);
  });

  test("not in the list", () => {
    const m = new ModuleBuilder();
    caller(m, pick(kit.eq(kit.and(tid, kit.i32(1)), kit.i32(1)), "h", "f"), ["f", "g"]);
    for (const name of ["f", "g", "h"]) unary(m, name, (a) => a);
    const report = fault(m);
    expect(report).toMatchObject({ code: "indirect-call-not-in-calltargets", count: 16 });
    expect(report.message).toBe("`h` is not in `list`: `f`, `g`");
  });

  // facts of ptxas: kind and size count, `b` goes with everything, an unsized array with any size of the same alignment
  test.each<readonly [string, ParamType, ParamType, boolean]>([
    ["u32 for s32", u32, s32, true],
    ["f32 for b32", f32, b32, true],
    ["f32 for s32", f32, s32, false],
    ["u64 for u32", u64, u32, false],
    ["an array for a scalar", bytes(4), u32, false],
    ["arrays of two sizes", bytes(4), bytes(8), false],
    ["arrays of two alignments", bytes(8, 8), bytes(8, 4), false],
    ["an unsized array", bytes(8), bytes(0, 4, true), true],
  ])("prototypes: %s", (_, call, formal, good) => {
    const m = new ModuleBuilder();
    caller(m, symbol("f"), null, { params: [call], returns: [] });
    const f = m.func("f");
    f.formalVariable("params", formal);
    f.ret();
    const { reports } = run(m);
    expect(reports.map((r) => r.code)).toEqual(good ? [] : ["indirect-call-prototype-mismatch"]);
  });

  test("the message of a mismatch shows both signatures", () => {
    const m = new ModuleBuilder();
    caller(m, symbol("f"));
    const f = m.func("f");
    f.formalVariable("params", u64);
    f.formalVariable("params", bytes(12, 8));
    expect(fault(m).message).toBe("`f` is (.u64, .align 8 .b8[12]), and `list` says (.u32) (.u32)");
  });
});

test("endless recursion ends with a report that has the call stack", () => {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const call = {
    kind: "call",
    target: { kind: "direct", function: "f" },
    args: [],
    results: [],
    uniform: false,
  } as const;
  k.emit(call);
  m.func("f").emit(call);
  const report = fault(m);
  expect(report.code).toBe("stack-overflow");
  expect(report.stack[0]!.function).toBe("f");
  expect(report.count).toBe(32);
});

test("what is not modelled is refused before anything runs, also behind a pointer", () => {
  const m = new ModuleBuilder();
  m.variable("table", "global", 8, {
    relocations: [{ at: 0, size: 8, shift: 0, symbol: "f", addend: 0, generic: false }],
  });
  caller(m, symbol("g"));
  unary(m, "g", (a) => a);
  const f = m.func("f");
  f.emit({ kind: "unsupported", what: "wgmma.mma_async", reason: "matrices of a warp group are not modelled" });
  const { reports, out, steps } = run(m);
  expect(reports).toMatchObject([{ code: "not-executable" }]);
  expect(steps).toBe(0);
  expect(out.every((w) => w === 0)).toBe(true);
});

test("external functions get bit patterns and give one back", () => {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const at = k.element(out, tid);
  const r = k.reg("b32");
  k.emit({
    kind: "call",
    target: { kind: "direct", function: "host" },
    args: [
      { kind: "value", value: tid, bits: 32 },
      { kind: "value", value: kit.i64(-1n), bits: 64 },
    ],
    results: [{ kind: "register", registers: [r.index] }],
    uniform: false,
  });
  k.store(access("global"), at.i64, r.i32);
  k.exit();
  m.func("host").external = true;
  const externals = new Map([["host", ({ args }: { args: readonly bigint[] }) => args[0]! * 3n + (args[1]! >> 60n)]]);
  expect([...run(m, { externals }).out]).toEqual(range(32, (i) => i * 3 + 15));
  expect(run(m).reports).toMatchObject([{ code: "not-executable" }]);
});

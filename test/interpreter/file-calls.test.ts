import { describe, expect, test } from "vitest";
import { argAt, fileLayout } from "../../src/ir/index.ts";
import { sanitizersFor } from "../../src/sanitizers/index.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";
import { type FunctionBuilder, type ModuleBuilder, symbol } from "./builder.ts";
import { engines, lineOf, range } from "./harness.ts";
import {
  call,
  callee,
  channels,
  flat,
  freeAt,
  idAt,
  into,
  kernel,
  one,
  put,
  read,
  readAt,
  retval,
  runThreads,
  storeLanes,
  vars,
} from "./threads.ts";

const all = channels(16);
const everywhere = channels(16, 0, { noMask: true });
const scalar = channels(1, 0, { noMask: true, uniform: true });
const ids = read(flat(idAt));
const arg = read(flat(argAt));
const result = read(flat(retval));
const addressOf = (name: string): Expr => ({ ...symbol(name), ty: "i32" }) as Expr;

const below = (k: FunctionBuilder, limit: number, value = ids) => {
  const p = k.reg("pred");
  k.set(p, kit.lt(value, kit.i32(limit), false), { lanes: all });
  return p;
};

/** f: %retval = %arg + 100. */
function addsHundred(m: ModuleBuilder, name = "f", amount = 100): void {
  const f = callee(m, name);
  put(f, flat(retval), kit.add(arg, kit.i32(amount)), all);
  f.ret({ lanes: all });
}

describe.each(engines)("calls with a byte file, with $name", ({ generate }) => {
  const lanesOf = (m: ModuleBuilder, options: Parameters<typeof runThreads>[1] = {}) => {
    const { reports, out } = runThreads(m, { generate, words: 16, ...options });
    expect(reports).toEqual([]);
    return [...out];
  };

  test.each([
    ["by name", "f" as const],
    ["by address", addressOf("f")],
    ["by an address in the file", readAt(kit.i32(freeAt))],
  ])("arguments go in and results come back: %s", (_, target) => {
    const { m, k } = kernel(64);
    addsHundred(m);
    put(k, one(freeAt), addressOf("f"), scalar);
    put(k, flat(argAt), ids, all);
    call(k, target, { lanes: all });
    storeLanes(k, result, all);
    k.exit();
    expect(lanesOf(m)).toEqual(range(16, (i) => i + 100));
  });

  test("only lanes with the predicate call; the others keep their results; %arg is gone afterwards", () => {
    const { m, k } = kernel(64);
    addsHundred(m);
    put(k, flat(argAt), ids, all);
    put(k, flat(retval), kit.i32(7), all);
    call(k, "f", { lanes: all, when: below(k, 5) });
    storeLanes(k, kit.add(result, kit.mul(arg, kit.i32(1000))), all);
    k.exit();
    expect(lanesOf(m)).toEqual(range(16, (i) => (i < 5 ? i + 100 : 7)));
  });

  test("a lane that returns early keeps its result while the others call again", () => {
    const { m, k } = kernel(64);
    addsHundred(m, "g", 1000);
    const f = callee(m, "f");
    put(f, flat(vars), arg, all);
    put(f, flat(retval), kit.i32(3), all);
    f.ret({ lanes: all, when: below(f, 4, read(flat(vars))) });
    put(f, flat(argAt), kit.add(read(flat(vars)), kit.i32(20)), all);
    call(f, "g", { lanes: all });
    f.ret({ lanes: all });
    put(k, flat(argAt), ids, all);
    call(k, "f", { lanes: all });
    storeLanes(k, result, all);
    k.exit();
    expect(lanesOf(m)).toEqual(range(16, (i) => (i < 4 ? 3 : i + 1020)));
  });

  test("a scalar call has all lanes of the thread, even those that are elsewhere, and gives the group back as it was", () => {
    const { m, k } = kernel(64);
    const f = callee(m, "f");
    put(f, flat(retval), kit.i32(1), all);
    f.ret({ lanes: all });
    const [after, low] = [k.label(), below(k, 6)];
    k.branch(after, { lanes: all, when: low });
    call(k, "f", { lanes: scalar, unless: low });
    put(k, flat(freeAt), kit.i32(1), all);
    call(k, "f", { lanes: channels(1, 9, { noMask: true, uniform: true }), unless: low });
    put(k, flat(freeAt), kit.add(read(flat(freeAt)), kit.mul(result, kit.i32(10))), all);
    put(k, flat(freeAt), kit.add(read(flat(freeAt)), kit.mul(read(one(retval)), kit.i32(100))), all);
    k.place(after);
    storeLanes(k, read(flat(freeAt)), all);
    k.exit();
    // The first call's deciding channel is 0, where `low` holds: it is not executed.
    expect(lanesOf(m)).toEqual(range(16, (i) => (i < 6 ? 0 : 111)));
  });

  test("no lane, no call: the address is not looked at", () => {
    const { m, k } = kernel(64);
    addsHundred(m);
    call(k, kit.i32(0x1234), { lanes: all, when: below(k, 0) });
    storeLanes(k, kit.i32(5), all);
    k.exit();
    expect(lanesOf(m)).toEqual(range(16, () => 5));
  });

  test("a recursive function has a file for each activation, and %sp goes in and back", () => {
    const { m, k } = kernel(64);
    const sp = read(one(fileLayout.sp.at), 64);
    const push = (f: FunctionBuilder, bytes: bigint) =>
      f.emit(
        { kind: "pure", values: [kit.add(sp, kit.i64(bytes))] },
        { dst: [into(one(fileLayout.sp.at), 64)], lanes: scalar },
      );
    const f = callee(m, "sum");
    const done = f.label();
    put(f, flat(vars), arg, all);
    put(f, flat(retval), kit.i32(0), all);
    push(f, 32n);
    const zero = f.reg("pred");
    f.set(zero, kit.eq(read(flat(vars)), kit.i32(0)), { lanes: all });
    f.branch(done, { lanes: all, when: zero });
    put(f, flat(argAt), kit.sub(read(flat(vars)), kit.i32(1)), all);
    call(f, "sum", { lanes: all });
    put(f, flat(retval), kit.add(result, read(flat(vars))), all);
    f.place(done);
    push(f, -32n);
    f.ret({ lanes: all });
    push(k, 4096n);
    put(k, flat(argAt), ids, all);
    call(k, "sum", { lanes: all });
    storeLanes(k, kit.add(result, kit.mul(kit.wrap(sp), kit.i32(1000))), all);
    k.exit();
    const observers = sanitizersFor(["call", "sync"]);
    expect(lanesOf(m, { observers })).toEqual(range(16, (i) => (i * (i + 1)) / 2 + 4_096_000));
  });

  test("a subroutine has the registers of its function, and may be entered by some lanes or by all", () => {
    const { m, k } = kernel(64);
    const [sub, start] = [k.label(), k.label()];
    k.branch(start);
    k.place(sub);
    put(k, flat(freeAt), kit.add(read(flat(freeAt)), kit.i32(1)), all);
    k.ret({ lanes: all });
    k.place(start);
    const enter = (lanes: typeof all, allLanes: boolean, when = below(k, 4)) =>
      k.emit(() => ({ kind: "subroutine-call", target: sub.at!, allLanes }), { lanes, when });
    enter(all, false);
    enter(scalar, true);
    enter(channels(1, 9, { noMask: true, uniform: true }), true);
    storeLanes(k, read(flat(freeAt)), all);
    k.ret({ lanes: scalar });
    expect(lanesOf(m)).toEqual(range(16, (i) => (i < 4 ? 2 : 1)));
  });

  test("a return of one channel is one of all lanes of the group", () => {
    const { m, k } = kernel(64);
    const f = callee(m, "f");
    put(f, flat(retval), kit.i32(1), all);
    f.ret({ lanes: scalar, when: below(f, 9, arg) });
    put(f, flat(retval), kit.i32(2), all);
    f.ret({ lanes: scalar });
    put(k, flat(argAt), ids, all);
    call(k, "f", { lanes: all });
    storeLanes(k, result, all);
    k.ret({ lanes: scalar });
    expect(lanesOf(m)).toEqual(range(16, () => 1));
  });

  test("channels without a work item call nobody, and NoMask writes them all the same", () => {
    const { m, k } = kernel(64);
    const f = callee(m, "f");
    put(f, flat(retval), kit.i32(1), all);
    put(f, flat(retval + 32, 8), kit.i32(2), channels(8, 8, { noMask: true }));
    f.ret({ lanes: all });
    call(k, "f", { lanes: all });
    storeLanes(k, result, everywhere);
    k.exit();
    expect(lanesOf(m, { block: [10, 1, 1] })).toEqual(range(16, (i) => (i < 8 ? 1 : 2)));
  });
});

test("a function that keeps a part of the stack is reported where its last lane returns", () => {
  const { m, k } = kernel(64);
  const f = callee(m, "f");
  f.ret({ lanes: all, when: below(f, 3, arg) });
  const sp = read(one(fileLayout.sp.at), 64);
  f.emit(
    { kind: "pure", values: [kit.add(sp, kit.i64(64n))] },
    { dst: [into(one(fileLayout.sp.at), 64)], lanes: scalar },
  );
  f.ret({ lanes: all });
  put(k, flat(argAt), ids, all);
  call(k, "f", { lanes: all });
  k.exit();
  const { ok, reports } = runThreads(m, { observers: sanitizersFor(["call"]) });
  expect(ok).toBe(true);
  expect(reports.map((r) => [r.severity, r.code, r.message, r.count])).toEqual([
    ["warning", "stack-imbalance", "`f` returns with %sp = 0x40, 64 bytes above the 0x0 that it got", 13],
  ]);
});

describe("calls that go wrong", () => {
  function fails(target: string | Expr, options: Omit<Parameters<typeof call>[2], "lanes"> = {}) {
    const { m, k } = kernel(64);
    addsHundred(m);
    m.variable("data", "global", 16);
    const at = k.length;
    call(k, target, { lanes: all, ...options });
    k.exit();
    const { reports } = runThreads(m, { words: 16 });
    expect(reports).toHaveLength(1);
    expect(lineOf(reports[0]!)).toBe(at);
    expect(reports[0]!.count).toBe(16);
    return `${reports[0]!.code}: ${reports[0]!.message}`;
  }

  test.each<readonly [string, Expr, string]>([
    ["null", kit.i32(0), "indirect-call-null: the address of the function is null"],
    ["a number", kit.i32(0x1234), "indirect-call-bad-address: 0x1234 is the address of no function"],
    [
      "inside",
      kit.add(addressOf("f"), kit.i32(4)),
      "indirect-call-bad-address: 0x50000014 is 4 bytes inside the function `f`",
    ],
    ["a kernel", addressOf("k"), "indirect-call-bad-address: 0x50000000 is the kernel `k`, not a function"],
    [
      "lane by lane",
      kit.add(addressOf("f"), ids),
      "divergent-call-address: lane 0 calls 0x50000010, and lane 1 calls 0x50000011",
    ],
  ])("an address that is %s", (_, target, message) => {
    expect(fails(target)).toBe(message);
  });

  test("other sizes than the function declares", () => {
    expect(fails(addressOf("f"), { sizes: { argSize: 2, retvalSize: 4 } })).toBe(
      "call-size-mismatch: the call passes 2 registers and takes 4 back, and `f` declares ArgSize 2 and RetValSize 2",
    );
  });

  test("a recursion that does not end, in the lane that does not", () => {
    const { m, k } = kernel(64);
    const f = callee(m, "f");
    put(f, flat(vars), arg, all);
    const p = f.reg("pred");
    f.set(p, kit.eq(read(flat(vars)), kit.i32(9)), { lanes: all });
    f.ret({ lanes: all, unless: p });
    put(f, flat(argAt), read(flat(vars)), all);
    call(f, "f", { lanes: all });
    f.ret({ lanes: all });
    put(k, flat(argAt), ids, all);
    call(k, "f", { lanes: all });
    k.exit();
    const { reports } = runThreads(m, { words: 16 });
    expect(reports.map((r) => [r.code, r.threads.map((t) => t.thread[0])])).toEqual([["stack-overflow", [9]]]);
  });

  test("activations for which there is no memory", () => {
    const { m, k } = kernel(64);
    callee(m, "f", 2 ** 29).ret({ lanes: all });
    call(k, "f", { lanes: all });
    k.exit();
    const [report] = runThreads(m, { words: 16 }).reports;
    expect(report).toMatchObject({ code: "stack-overflow", message: expect.stringContaining("2 activations") });
  });
});

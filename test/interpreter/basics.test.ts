import { describe, expect, test } from "vitest";
import { atAddress } from "../../src/ir/index.ts";
import { kit } from "../../src/semantics/index.ts";
import { access, type FunctionBuilder, ModuleBuilder, special, u32, u64 } from "./builder.ts";
import { engines, range, run } from "./harness.ts";

const tid = special("tid.x");
const thread = kit.add(kit.mul(special("ctaid.x"), special("ntid.x")), tid);

/** A kernel that stores one word per thread. */
function storing(value: (k: FunctionBuilder) => ReturnType<typeof kit.i32>): ModuleBuilder {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const at = k.element(out, thread);
  k.store(access("global"), at.i64, value(k));
  k.exit();
  return m;
}

describe.each(engines)("with $name", ({ generate }) => {
  test("every thread stores its number", () => {
    const { ok, out } = run(
      storing(() => thread),
      { generate, words: 200, grid: [4, 1, 1], block: [50, 1, 1] },
    );
    expect(ok).toBe(true);
    expect([...out]).toEqual(range(200, (i) => i));
  });

  test("the threads of a block count x first, then y, then z", () => {
    const place = kit.add(
      kit.add(kit.mul(special("tid.z"), kit.i32(10_000)), kit.mul(special("tid.y"), kit.i32(100))),
      tid,
    );
    const m = new ModuleBuilder();
    const k = m.kernel();
    const out = k.kernelParam(u64);
    const linear = kit.add(kit.mul(special("warpid"), kit.i32(32)), special("laneid"));
    k.store(access("global"), k.element(out, linear).i64, place);
    const { out: words } = run(m, { generate, words: 3 * 5 * 4, block: [3, 5, 4] });
    const want = range(60, (i) => Math.floor(i / 15) * 10_000 + (Math.floor(i / 3) % 5) * 100 + (i % 3));
    expect([...words]).toEqual(want);
  });

  test("a guard leaves the other lanes alone, and may be negated", () => {
    const m = storing((k) => {
      const p = k.reg("pred");
      const r = k.reg("b32");
      k.set(p, kit.lt(tid, kit.i32(10), false));
      k.set(r, kit.i32(1), { when: p });
      k.set(r, kit.i32(2), { unless: p });
      k.set(r, kit.add(r.i32, kit.i32(100)), { when: p });
      return r.i32;
    });
    expect([...run(m, { generate }).out]).toEqual(range(32, (i) => (i < 10 ? 101 : 2)));
  });

  test("all values of an instruction are computed before any is written", () => {
    const m = storing((k) => {
      const [a, b] = [k.reg("b32"), k.reg("b32")];
      k.set(a, tid);
      k.set(b, kit.i32(1000));
      k.emit({ kind: "pure", values: [b.i32, a.i32] }, { dst: [a, b] });
      return kit.sub(a.i32, b.i32);
    });
    expect([...run(m, { generate }).out]).toEqual(range(32, (i) => 1000 - i));
  });

  test("a value is masked to a narrow register", () => {
    const m = storing((k) => {
      const h = k.reg("b32", 16);
      k.set(h, kit.sub(tid, kit.i32(3)));
      return h.i32;
    });
    expect([...run(m, { generate }).out].slice(0, 5)).toEqual([0xfffd, 0xfffe, 0xffff, 0, 1]);
  });

  test("a NaN that is computed is canonical, one that is moved keeps its bits", () => {
    const signalling = 0xff81_2345 | 0;
    const computed = storing((k) => {
      const r = k.reg("b32");
      k.set(r, kit.i32(signalling));
      k.set(r, kit.add(r.f32, kit.f32(1)));
      return r.i32;
    });
    const moved = storing((k) => {
      const [r, s] = [k.reg("b32"), k.reg("b32")];
      k.set(r, kit.i32(signalling));
      k.set(s, r.f32);
      return s.i32;
    });
    expect(run(computed, { generate }).out[0]).toBe(0x7fff_ffff);
    expect(run(moved, { generate }).out[0]).toBe(signalling);
  });

  test("64-bit arithmetic, halves and predicates", () => {
    const m = storing((k) => {
      const [a, b] = [k.reg("b64"), k.reg("b64")];
      const p = k.reg("pred");
      k.set(a, kit.widen(kit.sub(tid, kit.i32(5)), true));
      k.set(b, kit.mul(a.i64, kit.i64(0x1_0000_0001n)));
      k.set(p, kit.lt(b.i64, kit.i64(0n), true));
      const high = kit.wrap(kit.shr(b.i64, kit.i32(32), true));
      return kit.select(p.pred, kit.xor(high, kit.wrap(b.i64)), high);
    });
    const want = range(32, (i) => {
      const b = BigInt.asIntN(64, BigInt(i - 5) * 0x1_0000_0001n);
      const high = Number(BigInt.asIntN(32, b >> 32n));
      return b < 0n ? high ^ Number(BigInt.asIntN(32, b)) : high;
    });
    expect([...run(m, { generate }).out]).toEqual(want);
  });

  test("loops with a different number of rounds for each lane, and steps count lanes", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const out = k.kernelParam(u64);
    const at = k.element(out, tid);
    const [n, sum] = [k.reg("b32"), k.reg("b32")];
    const p = k.reg("pred");
    k.set(n, tid);
    const [head, done] = [k.label(), k.label()];
    k.place(head);
    k.set(p, kit.eq(n.i32, kit.i32(0)));
    k.branch(done, { when: p });
    k.set(sum, kit.add(sum.i32, n.i32));
    k.set(n, kit.sub(n.i32, kit.i32(1)));
    k.branch(head);
    k.place(done);
    k.store(access("global"), at.i64, sum.i32);
    k.exit();
    const { out: words, steps } = run(m, { generate });
    expect([...words]).toEqual(range(32, (i) => (i * (i + 1)) / 2));
    // 3 instructions before the loop, 5 a round, 2 to leave it, 2 after it.
    expect(steps).toBe(range(32, (i) => 3 + 5 * i + 2 + 2).reduce((a, b) => a + b));
  });

  test("vectors of every width are loaded and stored in order", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const out = k.kernelParam(u64);
    const at = k.element(out, tid, 16);
    const four = range(4, () => k.reg("b32"));
    const half = k.reg("b32", 16);
    const wide = k.reg("b64");
    k.load([four[0]!, null, four[2]!, four[3]!], access("global", 32, { count: 4 }), at.i64);
    k.load(half, access("global", 8, { signed: true }), kit.add(at.i64, kit.i64(1n)));
    k.load(wide, access("global", 32, { signed: true }), kit.add(at.i64, kit.i64(4n)));
    k.store(access("global", 64), at.i64, kit.xor(wide.i64, kit.i64(0x1_0000_0000n)));
    k.store(access("global", 32, { count: 2 }), kit.add(at.i64, kit.i64(8n)), [
      half.i32,
      kit.add(four[2]!.i32, four[3]!.i32),
    ]);
    const input = Int32Array.from({ length: 128 }, (_, i) => (i % 4 === 1 ? -i : i * 0x0101_0101));
    const want = range(32, (i) => {
      const [, b, c, d] = input.subarray(i * 4);
      const byte = (input[i * 4]! << 16) >> 24;
      return [b!, (b! >> 31) ^ 1, byte & 0xffff, (c! + d!) | 0];
    }).flat();
    expect([...run(m, { generate, input }).out]).toEqual(want);
  });

  test("atomics act in lane order and give the old value", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const out = k.kernelParam(u64);
    const [base, old] = [k.reg("b64"), k.reg("b32")];
    k.load(base, access("kernel-param", 64), out);
    k.emit(
      {
        kind: "atomic",
        access: access("generic"),
        place: atAddress(base.i64),
        combine: [kit.add({ kind: "old", ty: "i32", index: 0 }, kit.i32(2))],
      },
      { dst: [old] },
    );
    k.store(access("global"), kit.add(k.element(out, tid).i64, kit.i64(4n)), old.i32);
    const { out: words } = run(m, { generate, words: 33 });
    expect([...words]).toEqual([64, ...range(32, (i) => i * 2)]);
  });

  test("shared, constant and local variables, generically and in their spaces", () => {
    const m = new ModuleBuilder();
    m.variable("s", "shared", 128);
    m.variable("c", "const", 8, { init: [{ at: 0, bytes: Uint8Array.of(7, 0, 0, 0, 9, 0, 0, 0) }] });
    const k = m.kernel();
    const out = k.kernelParam(u64);
    const local = k.variable(16);
    const at = k.element(out, tid);
    const [a, b, c] = [k.reg("b32"), k.reg("b32"), k.reg("b32")];
    const offset = kit.mul(kit.widen(tid, false), kit.i64(4n));
    const mine = (generic: boolean) => kit.add({ kind: "symbol", ty: "i64", symbol: "s", offset: 0, generic }, offset);
    k.store(access("shared"), mine(false), kit.mul(tid, kit.i32(3)));
    k.store(access("generic"), { kind: "frame", ty: "i64", variable: local, offset: 4, generic: true }, tid);
    k.load(a, access("generic"), mine(true));
    k.load(b, access("local"), { kind: "frame", ty: "i64", variable: local, offset: 4, generic: false });
    k.load(c, access("const"), { kind: "symbol", ty: "i64", symbol: "c", offset: 4, generic: false });
    k.store(access("global"), at.i64, kit.add(kit.add(a.i32, b.i32), c.i32));
    expect([...run(m, { generate, grid: [3, 1, 1] }).out]).toEqual(range(32, (i) => 4 * i + 9));
  });

  test("32-bit parameters, and addresses in 32-bit modules", () => {
    const m = new ModuleBuilder(32);
    const k = m.kernel();
    const out = k.kernelParam(u32);
    const n = k.kernelParam(u32);
    const [base, value] = [k.reg("b32"), k.reg("b32")];
    k.load(base, access("kernel-param"), out);
    k.load(value, access("kernel-param"), n);
    const at = kit.add(base.i32, kit.shl(tid, kit.i32(2)));
    k.store(access("global"), at, kit.mul(value.i32, tid));
    expect([...run(m, { generate, params: [-5] }).out]).toEqual(range(32, (i) => -5 * i + 0));
  });

  test("an indexed branch, with repeated labels", () => {
    const m = storing((k) => {
      const r = k.reg("b32");
      const [a, b, end] = [k.label(), k.label(), k.label()];
      k.emit(() => ({
        kind: "branch-indexed",
        index: kit.and(tid, kit.i32(3)),
        targets: [a.at!, b.at!, a.at!, end.at!],
        uniform: false,
      }));
      k.place(a);
      k.set(r, kit.i32(10));
      k.branch(end);
      k.place(b);
      k.set(r, kit.i32(20));
      k.place(end);
      k.set(r, kit.add(r.i32, kit.i32(1)));
      return r.i32;
    });
    expect([...run(m, { generate }).out]).toEqual(range(32, (i) => [11, 21, 11, 1][i % 4]));
  });
});

test("a kernel's text is the same whether code may be made from text or not", () => {
  const m = storing(() => kit.mul(thread, kit.i32(77)));
  const [a, b] = engines.map(({ generate }) => run(m, { generate, words: 64, grid: [2, 1, 1] }));
  expect(a!.out).toEqual(b!.out);
  expect(a!.steps).toBe(b!.steps);
});

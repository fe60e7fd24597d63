import { describe, expect, test } from "vitest";
import type { Access, Op } from "../../../src/ir/index.ts";
import { instructionSet, type OperandAccess, stepsOf } from "../../../src/ptx/isa/index.ts";
import { type Expr, fold, kit, type Value } from "../../../src/semantics/index.ts";

/** The operation that an opcode's row returns for these sources. */
function effectOf(opcode: string, sources: Readonly<Record<string, readonly Expr[]>>): Op {
  const { candidates, problem } = instructionSet.resolve(opcode);
  const candidate = candidates.find((c) => c.operands.every((o) => o.destination || o.optional || o.name in sources));
  if (!candidate?.form.effect) throw new Error(`${opcode}: ${JSON.stringify(problem)}`);
  const first = Object.fromEntries(Object.entries(sources).map(([name, list]) => [name, list[0]!]));
  const operands: OperandAccess = {
    vector: (name) => sources[name] ?? [],
    present: (name) => sources[name] ?? [],
    previous: () => [],
    has: (name) => name in sources,
    constant: (name) => {
      const e = sources[name]?.[0];
      return e?.kind === "const" && typeof e.value !== "boolean" ? e.value : null;
    },
    width: () => 32,
    count: () => 1,
    selector: () => null,
    negated: () => false,
    carry: kit.pred(false),
    destinations: () => [],
    temporary: (index) => ({ register: index, value: kit.i32(0) }),
    sm: 90,
  };
  const [step, ...others] = stepsOf(candidate.form.effect(kit, first, candidate.mods, operands));
  if (step === undefined || others.length > 0) throw new Error(`${candidate.form.text} has several steps`);
  return step.op;
}

const address = [kit.i64(64n)];

describe("atomic operations against the manual's `operation` (9.7.13.5)", () => {
  type Model = (r: bigint, s: bigint, t: bigint) => bigint;
  const signed = (bits: number, f: (r: bigint, s: bigint) => boolean): Model => {
    return (r, s) => (f(BigInt.asIntN(bits, r), BigInt.asIntN(bits, s)) ? r : s);
  };
  const models: Readonly<Record<string, readonly [bits: number, Model]>> = {
    "atom.global.and.b32": [32, (r, s) => r & s],
    "atom.global.or.b64": [64, (r, s) => r | s],
    "atom.shared.xor.b32": [32, (r, s) => r ^ s],
    "atom.exch.b64": [64, (_, s) => s],
    "atom.add.u32": [32, (r, s) => r + s],
    "atom.add.s32": [32, (r, s) => r + s],
    "atom.add.u64": [64, (r, s) => r + s],
    "atom.inc.u32": [32, (r, s) => (r >= s ? 0n : r + 1n)],
    "atom.dec.u32": [32, (r, s) => (r === 0n || r > s ? s : r - 1n)],
    "atom.min.u32": [32, (r, s) => (r < s ? r : s)],
    "atom.max.u64": [64, (r, s) => (r > s ? r : s)],
    "atom.min.s32": [32, signed(32, (r, s) => r < s)],
    "atom.max.s64": [64, signed(64, (r, s) => r > s)],
    "atom.cas.b16": [16, (r, s, t) => (r === s ? t : r)],
    "atom.cas.b32": [32, (r, s, t) => (r === s ? t : r)],
    "atom.cas.b64": [64, (r, s, t) => (r === s ? t : r)],
  };
  const literal = (bits: number, value: bigint): Expr =>
    bits === 64 ? kit.i64(value) : kit.i32(Number(BigInt.asIntN(32, value)));
  const host = (bits: number, value: bigint): Value =>
    bits === 64 ? BigInt.asIntN(64, value) : Number(BigInt.asIntN(32, value));

  test.each(Object.entries(models))("%s", (opcode, [bits, model]) => {
    const edges = [0n, 1n, 2n, 7n, 2n ** BigInt(bits - 1) - 1n, 2n ** BigInt(bits - 1), 2n ** BigInt(bits) - 1n];
    for (const r of edges) {
      for (const s of edges) {
        const t = 5n;
        const op = effectOf(opcode, { a: address, b: [literal(bits, s)], c: [literal(bits, t)] });
        if (op.kind !== "atomic") throw new Error(op.kind);
        const got = fold(op.combine[0]!, () => host(bits, r)) as number | bigint;
        expect([r, s, BigInt.asUintN(bits, BigInt(got))]).toEqual([r, s, BigInt.asUintN(bits, model(r, s, t))]);
      }
    }
  });

  test("a 128-bit compare-and-swap compares both halves", () => {
    const pair = (low: bigint, high: bigint) => [kit.i64(low), kit.i64(high)];
    const op = effectOf("atom.cas.b128", { a: address, b: pair(1n, 2n), c: pair(8n, 9n) });
    if (op.kind !== "atomic") throw new Error(op.kind);
    expect(op.access).toMatchObject({ bits: 64, count: 2, align: 16 });
    const result = (...old: readonly bigint[]) =>
      op.combine.map((e) => fold(e, (leaf) => (leaf.kind === "old" ? old[leaf.index]! : 0n)));
    expect(result(1n, 2n)).toEqual([8n, 9n]);
    expect(result(1n, 3n)).toEqual([1n, 3n]);
    expect(result(4n, 2n)).toEqual([4n, 2n]);
  });

  test("f32 addition flushes subnormal numbers in global memory, and keeps them in shared memory", () => {
    const least = 2 ** -149;
    const sum = (opcode: string) => {
      const op = effectOf(opcode, { a: address, b: [kit.f32(least)] });
      return op.kind === "atomic" ? fold(op.combine[0]!, () => least) : null;
    };
    expect(sum("atom.global.add.f32")).toBe(0);
    expect(sum("red.global.add.f32")).toBe(0);
    expect(sum("atom.shared.add.f32")).toBe(2 * least);
    expect(sum("red.shared::cta.add.f32")).toBe(2 * least);
  });

  // In f16 0x3c00 is 1.0, 0x4000 is 2.0 and 0x0001 the smallest subnormal; in bf16 0x3f80 is 1.0 (IEEE 754, 9.7.4).
  test.each([
    ["atom.add.noftz.f16", [0x3c00], [0x4000], [0x4200]],
    ["atom.add.noftz.f16", [0x0001], [0x0001], [0x0002]],
    ["atom.add.noftz.f16x2", [0x3c00_0001], [0x4000_0001], [0x4200_0002]],
    ["atom.add.noftz.bf16x2", [0x3f80_0000], [0x3f80_3f80], [0x4000_3f80]],
    ["red.global.max.noftz.v2.f16", [0x3c00, 0x8000], [0x4000, 0x0000], [0x4000, 0x0000]],
    ["red.global.min.noftz.v2.f16", [0x3c00, 0x7fff], [0x4000, 0x3c00], [0x3c00, 0x3c00]],
  ] as const)("%s", (opcode, old, b, want) => {
    const op = effectOf(opcode, { a: address, b: b.map((v) => kit.i32(v)) });
    if (op.kind !== "atomic") throw new Error(op.kind);
    expect(op.combine.map((e) => fold(e, (leaf) => (leaf.kind === "old" ? old[leaf.index]! : 0)))).toEqual(want);
  });
});

test.each<readonly [string, Partial<Access>]>([
  ["ld.global.u8", { space: "global", bits: 8, signed: false, count: 1, align: 1, order: "weak", scope: null }],
  ["ld.s16", { space: "generic", bits: 16, signed: true, align: 2 }],
  ["ld.shared::cluster.v4.f32", { space: "shared-cluster", bits: 32, count: 4, align: 16 }],
  ["ld.global.b128", { bits: 64, count: 2, align: 16 }],
  ["ld.global.v8.b32", { bits: 32, count: 8, align: 32 }],
  ["ld.volatile.global.u32", { volatile: true, order: "relaxed", scope: "sys" }],
  ["ld.acquire.gpu.u32", { order: "acquire", scope: "gpu", volatile: false }],
  ["ld.global.relaxed.cta.u32", { space: "global", order: "relaxed", scope: "cta" }],
  ["ld.param::entry.u64", { space: "kernel-param" }],
  ["ld.param.u64", { space: "call-param" }],
  ["ld.global.nc.v2.f64", { space: "global", bits: 64, count: 2, align: 16 }],
  ["ldu.v2.u16", { space: "generic", bits: 16, count: 2, align: 4 }],
])("%s is an access of %o", (opcode, want) => {
  const op = effectOf(opcode, { a: address });
  expect(op.kind).toBe("load");
  if (op.kind === "load") expect(op.access).toMatchObject(want);
});

test("a store keeps the bits of a NaN", () => {
  const nan: Expr = { kind: "reg", ty: "f32", reg: 3 };
  expect(effectOf("st.global.f32", { a: address, b: [nan] })).toMatchObject({
    values: [{ kind: "reg", ty: "i32", reg: 3 }],
  });
});

test.each<readonly [string, Readonly<Record<string, readonly Expr[]>>, Partial<Op>]>([
  ["membar.gl", {}, { kind: "fence", order: "sc", scope: "gpu" }],
  ["fence.cta", {}, { kind: "fence", order: "acq_rel", scope: "cta" }],
  ["fence.sys.acquire", {}, { kind: "fence", order: "acquire", scope: "sys" }],
  ["fence.proxy.async", {}, { kind: "nothing" }],
  ["bar.sync", { a: [kit.i32(0)] }, { kind: "barrier", mode: "sync", aligned: true, count: null }],
  ["barrier.sync", { a: [kit.i32(0)], b: [kit.i32(64)] }, { kind: "barrier", aligned: false, count: kit.i32(64) }],
  ["barrier.arrive.aligned", { a: [kit.i32(0)], b: [kit.i32(64)] }, { kind: "barrier", mode: "arrive", aligned: true }],
  [
    "bar.warp.sync",
    { membermask: [kit.i32(-1)] },
    { kind: "warp", warp: { op: "sync", operands: [] }, mask: kit.i32(-1) },
  ],
  ["vote.ballot.b32", { a: [kit.pred(true)] }, { kind: "warp", mask: null }],
  ["alloca.u64", { size: [kit.i64(16n)] }, { kind: "alloca", align: 8 }],
  ["alloca.u64", { size: [kit.i64(16n)], align: [kit.i32(64)] }, { kind: "alloca", align: 64 }],
  ["nanosleep.u32", { t: [kit.i32(40)] }, { kind: "sleep" }],
])("%s", (opcode, sources, want) => {
  expect(effectOf(opcode, sources)).toMatchObject(want);
});

test("redux.sync folds pairs of values", () => {
  const pair = (opcode: string, a: Expr, x: Value, y: Value) => {
    const op = effectOf(opcode, { a: [a], membermask: [kit.i32(-1)] });
    if (op.kind !== "warp" || op.warp.op !== "redux") throw new Error(op.kind);
    return fold(op.warp.combine, (leaf) => (leaf.kind === "old" ? [x, y][leaf.index]! : 0));
  };
  const i = kit.i32(0);
  expect(pair("redux.sync.add.s32", i, 0x7fff_ffff, 1)).toBe(-0x8000_0000);
  expect(pair("redux.sync.min.u32", i, -1, 1)).toBe(1);
  expect(pair("redux.sync.min.s32", i, -1, 1)).toBe(-1);
  expect(pair("redux.sync.xor.b32", i, 6, 3)).toBe(5);
  expect(pair("redux.sync.min.f32", kit.f32(0), 0, -0)).toBe(-0);
  expect(pair("redux.sync.max.f32", kit.f32(0), Number.NaN, 2)).toBe(2);
  expect(pair("redux.sync.max.NaN.f32", kit.f32(0), Number.NaN, 2)).toBeNaN();
});

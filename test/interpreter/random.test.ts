import fc from "fast-check";
import { expect, test } from "vitest";
import { type Expr, kit, prims, type PrimName, primOf, type Ty } from "../../src/semantics/index.ts";
import { access, type FunctionBuilder, ModuleBuilder, type Reg, special, u32, u64 } from "./builder.ts";
import { range, run } from "./harness.ts";
import { byteFile } from "./threads.ts";

const tid = special("tid.x");
/** These two take integral numbers only: rows round before they use them. */
const partial: readonly string[] = ["i64.s64_from_f64", "i64.u64_from_f64"];
const names = (Object.keys(prims) as PrimName[]).filter((name) => !partial.includes(name));
const producing = (ty: Ty) => names.filter((name) => primOf(name).result === ty);
const byType: Readonly<Record<Ty, readonly PrimName[]>> = {
  pred: producing("pred"),
  i32: producing("i32"),
  i64: producing("i64"),
  f32: producing("f32"),
  f64: producing("f64"),
};

/** A random expression, from a list of numbers that makes its choices. Parts are shared now and then. */
function expression(ty: Ty, choices: Iterator<number>, leaves: (ty: Ty, n: number) => Expr, depth: number): Expr {
  const known: Expr[] = [];
  const grow = (want: Ty, left: number): Expr => {
    const n: number = choices.next().value ?? 0;
    const shared = known.filter((e) => e.ty === want);
    if (shared.length > 0 && n % 5 === 0) return shared[n % shared.length]!;
    if (left === 0 || n % 7 === 0) return leaves(want, n);
    const prim = byType[want][n % byType[want].length]!;
    const made = kit.op(prim, ...primOf(prim).params.map((p) => grow(p, left - 1)));
    known.push(made);
    return made;
  };
  return grow(ty, depth);
}

const word = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, -1, 1, 31, 32, 0x7f80_0000, 0x7fc0_0001, 0x8000_0000 | 0, 0x3f80_0000),
);

test("both realisations of expressions agree in every bit", () => {
  const program = fc.record({
    choices: fc.array(fc.nat(10_000), { minLength: 10, maxLength: 60 }),
    input: fc.array(word, { minLength: 128, maxLength: 128 }),
    guarded: fc.boolean(),
  });
  fc.assert(
    fc.property(program, ({ choices, input, guarded }) => {
      const build = () => {
        const m = new ModuleBuilder();
        const k = m.kernel();
        const at = k.element(k.kernelParam(u64), tid, 16);
        const [a, b] = [k.reg("b32"), k.reg("b32")];
        const [c, p] = [k.reg("b64"), k.reg("pred")];
        k.load([a, b], access("global", 32, { count: 2 }), at.i64);
        k.load(c, access("global", 64), kit.add(at.i64, kit.i64(8n)));
        k.set(p, kit.lt(a.i32, b.i32, true));
        const leaf = (ty: Ty, n: number): Expr => {
          const r = n % 2 === 0 ? a : b;
          if (n % 11 === 0 && ty === "i32") return n % 3 === 0 ? special("laneid") : kit.i32(n);
          return ty === "pred" ? p.pred : ty === "i32" ? r.i32 : ty === "f32" ? r.f32 : ty === "i64" ? c.i64 : c.f64;
        };
        const stream = choices[Symbol.iterator]();
        const when = guarded ? { when: p } : {};
        const results = {
          x: k.reg("b32"),
          h: k.reg("b32", 16),
          y: k.reg("b64"),
          q: k.reg("pred"),
        };
        const values = (["f32", "i32", "f64", "pred"] as const).map((ty) => expression(ty, stream, leaf, 3));
        k.emit({ kind: "pure", values }, { dst: [results.x, results.h, results.y, results.q], ...when });
        k.set(results.y, expression("i64", stream, leaf, 2), { when: results.q });
        k.store(access("global", 32, { count: 2 }), at.i64, [
          results.x.i32,
          kit.select(results.q.pred, results.h.i32, kit.i32(-1)),
        ]);
        k.store(access("global", 64), kit.add(at.i64, kit.i64(8n)), results.y.i64);
        k.exit();
        return m;
      };
      const [fast, plain] = [true, false].map((generate) => run(build(), { generate, input: Int32Array.from(input) }));
      expect(fast!.reports).toEqual([]);
      expect([...fast!.out]).toEqual([...plain!.out]);
    }),
    { numRuns: 150 },
  );
});

/**
 * A random function: each of its blocks mixes its number into the lane's hash, then goes where the hash says: on, to an
 * earlier or later block, into a call, or out. The number of steps of a lane is bounded by a counter.
 */
function tangle(f: FunctionBuilder, hash: Reg, fuel: Reg, blocks: readonly number[]): void {
  const labels = blocks.map(() => f.label());
  const [p, out] = [f.reg("pred"), f.reg("pred")];
  blocks.forEach((seed, i) => {
    f.place(labels[i]!);
    f.set(hash, kit.add(kit.mul(hash.i32, kit.i32(1_103_515_245)), kit.i32(seed * 64 + i)));
    f.set(fuel, kit.sub(fuel.i32, kit.i32(1)));
    f.set(out, kit.le(fuel.i32, kit.i32(0), true));
    f.ret({ when: out });
    const bit = kit.ne(kit.and(kit.shr(hash.i32, kit.i32(16 + (seed % 8)), false), kit.i32(1)), kit.i32(0));
    f.set(p, bit);
    const targets = [seed % blocks.length, (seed >> 3) % blocks.length, (seed >> 5) % blocks.length];
    if (seed % 4 === 0) {
      const index = kit.and(kit.shr(hash.i32, kit.i32(20), false), kit.i32(1));
      f.emit(() => ({ kind: "branch-indexed", index, targets: targets.map((t) => labels[t]!.at!), uniform: false }), {
        when: p,
      });
    } else if (seed % 4 === 1) {
      f.emit(
        {
          kind: "call",
          target: { kind: "direct", function: seed % 3 === 0 ? "f" : "g" },
          args: [
            { kind: "value", value: hash.i32, bits: 32 },
            { kind: "value", value: fuel.i32, bits: 32 },
          ],
          results: [
            { kind: "register", registers: [hash.index] },
            { kind: "register", registers: [fuel.index] },
          ],
          uniform: false,
        },
        { when: p },
      );
    } else f.branch(labels[targets[0]!]!, { when: p });
  });
}

function tangled(bodies: readonly (readonly number[])[], lockstep = false): ModuleBuilder {
  const m = new ModuleBuilder();
  const k = m.kernel();
  if (lockstep) k.file = byteFile(0);
  const at = k.element(k.kernelParam(u64), tid);
  const [first, hash, fuel] = [k.reg("b32"), k.reg("b32"), k.reg("b32")];
  k.load(first, access("kernel-param"), k.kernelParam(u32));
  k.emit({
    kind: "call",
    target: { kind: "direct", function: "f" },
    args: [
      { kind: "value", value: kit.add(tid, first.i32), bits: 32 },
      { kind: "value", value: kit.i32(60), bits: 32 },
    ],
    results: [
      { kind: "register", registers: [hash.index] },
      { kind: "register", registers: [fuel.index] },
    ],
    uniform: false,
  });
  k.store(access("global"), at.i64, kit.xor(hash.i32, fuel.i32));
  k.exit();
  for (const [i, name] of ["f", "g"].entries()) {
    const f = m.func(name);
    const [h, n] = [f.reg("b32"), f.reg("b32")];
    f.formal("params", u32, h);
    f.formal("params", u32, n);
    f.formal("returns", u32, h);
    f.formal("returns", u32, n);
    tangle(f, h, n, bodies[i]!);
  }
  return m;
}

test("lanes that run together compute what each computes alone, whatever the flow and the calls", () => {
  const body = fc.array(fc.nat(1000), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.tuple(body, body), fc.integer(), (bodies, first) => {
      const together = run(tangled(bodies), { params: [first], request: { maxSteps: 5_000_000 } });
      expect(together.reports).toEqual([]);
      const alone = range(32, (lane) => {
        const single = run(tangled(bodies), { block: [1, 1, 1], words: 1, params: [first + lane] });
        return single.out[0];
      });
      expect([...together.out]).toEqual(alone);
      for (const width of [8, 32]) {
        const threads = { width, surfaces: new Map(), start: () => {} };
        const lockstep = run(tangled(bodies, true), { params: [first], request: { maxSteps: 5_000_000, threads } });
        expect(lockstep.reports).toEqual([]);
        expect([...lockstep.out]).toEqual(alone);
      }
    }),
    { numRuns: 40 },
  );
});

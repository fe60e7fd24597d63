import fc from "fast-check";
import { expect, test } from "vitest";
import { directConversion } from "../../../src/semantics/direct-conversion.ts";
import { type Expr, kit, primOf, type PrimName, type Ty, type Value } from "../../../src/semantics/index.ts";
import { ModuleWriter, wasm } from "../../../src/wasm/index.ts";

const run = (name: PrimName, x: Value): Value => (primOf(name).eval as (x: Value) => Value)(x);

const rounds: readonly (PrimName | null)[] = [null, "f64.rni", "f64.rzi", "f64.rmi", "f64.rpi"];
const ends: readonly PrimName[] = [
  "f32.from_f64_rn",
  "f32.from_f64_rz",
  "f32.from_f64_rm",
  "f32.from_f64_rp",
  "i32.s8_from_f64",
  "i32.u8_from_f64",
  "i32.s16_from_f64",
  "i32.u16_from_f64",
  "i32.s32_from_f64",
  "i32.u32_from_f64",
  "i32.f16_from_f64_rn",
  "i32.f16_from_f64_rz",
  "i32.bf16_from_f64_rn",
  "i32.bf16_from_f64_rz",
];
const ways: readonly (readonly PrimName[])[] = [
  ...rounds.flatMap((round) =>
    ends.map((end): PrimName[] => ["f64.from_f32", ...(round === null ? [] : [round]), end]),
  ),
  ["f64.from_i32_s", "f32.from_f64_rn"],
  ["f64.from_i32_u", "f32.from_f64_rn"],
];

const leaf = (ty: Ty): Expr => ({ kind: "reg", ty, reg: 0 });
const along = (way: readonly PrimName[], from: Expr): Expr => way.reduce<Expr>((x, name) => kit.op(name, x), from);

const limits = [7, 8, 15, 16, 31, 32].flatMap((n) => [2 ** n, 2 ** n - 0.5, 2 ** n - 1]);
const special = [0, 0.5, 1.5, 65504, 65519, 65520, 2 ** -24, 2 ** -25, Infinity, NaN, ...limits].map(Math.fround);
const values = {
  f32: fc.oneof(fc.float(), fc.constantFrom(...special, ...special.map((x) => -x))),
  i32: fc.oneof(fc.integer(), fc.constantFrom(0, -1, 0x7fff_ffff, -0x8000_0000, 2 ** 24 + 1, 2 ** 24 + 3)),
};

test.each(ways.map((way) => [way.join(" "), way] as const))("%s directly", (_, way) => {
  const from = primOf(way[0]!).params[0] as "f32" | "i32";
  const to = primOf(way.at(-1)!).result as "f32" | "i32";
  const operand = leaf(from);
  const direct = directConversion(along(way, operand))!;
  expect(direct.operand).toBe(operand);

  const x = wasm.operand(from, 0);
  const module = new ModuleWriter();
  module.function("scalar", [from], [to]).value(direct.emission.scalar!(x), [0]);
  const quad = direct.emission.quad!(wasm.op(`${from}x4.splat`, x));
  module.function("quad", [from], [to]).value(wasm.lane(`${to}x4.extract_lane`, 3, quad), [0]);
  for (const name of ["scalar", "quad"]) module.export(name);
  const exports = new WebAssembly.Instance(new WebAssembly.Module(module.finish())).exports;
  const { scalar, quad: fourth } = exports as Record<string, (x: Value) => Value>;
  fc.assert(
    fc.property(values[from] as fc.Arbitrary<Value>, (value) => {
      const expected = way.reduce((v, name) => run(name, v), value);
      expect([scalar!(value), fourth!(value)]).toEqual([expected, expected]);
    }),
    { numRuns: 300 },
  );
});

test("there is no direct form for conversions that need more bits on the way, or have another shape", () => {
  const none: readonly (readonly PrimName[])[] = [
    ["f64.from_i32_s", "f32.from_f64_rz"],
    ["f64.from_i32_s", "f64.rni", "f32.from_f64_rn"],
    ["f64.from_f32", "f64.relu", "f32.from_f64_rn"],
    ["f64.from_f32", "i64.s64_from_f64"],
  ];
  for (const way of none) expect(directConversion(along(way, leaf(primOf(way[0]!).params[0]!)))).toBeNull();
  expect(directConversion(leaf("i32"))).toBeNull();
});

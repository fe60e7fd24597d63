import fc from "fast-check";
import { expect, test } from "vitest";
import { primOf, type PrimName, type Value } from "../../../src/semantics/index.ts";
import { ModuleWriter, wasm } from "../../../src/wasm/index.ts";

/* Conversions detect an operand that was just converted from binary32, and skip the rounding that it does not need. */

const short = [
  "i32.f16_from_f64_rn",
  "i32.f16_from_f64_rz",
  "i32.bf16_from_f64_rp",
  "i32.tf32_from_f64_rn",
  "i32.e4m3_from_f64",
];

const run = (name: string, ...args: Value[]): Value =>
  (primOf(name as PrimName).eval as (...a: Value[]) => Value)(...args);

test.each(short)("%s of a binary32 number", (name) => {
  const { scalar, half } = primOf(name as PrimName).wasm;
  const promoted = primOf("f64.from_f32").wasm;
  const module = new ModuleWriter();
  const operand = wasm.operand("f32", 0);
  module.function("scalar", ["f32"], ["i32"]).value(scalar!(promoted.scalar!(operand)), [0]);
  const lanes = promoted.half!(wasm.op("f32x4.splat", operand));
  module.function("half", ["f32"], ["i32"]).value(wasm.lane("i32x4.extract_lane", 1, half!(lanes)), [0]);
  module.export("scalar");
  module.export("half");
  const bytes = module.finish();
  const exports = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as Record<
    string,
    (x: number) => number
  >;
  fc.assert(
    fc.property(fc.oneof(fc.float(), fc.float({ min: Math.fround(-600), max: Math.fround(600) })), (x) => {
      const expected = run(name, run("f64.from_f32", x));
      expect([exports["scalar"]!(x), exports["half"]!(x)]).toEqual([expected, expected]);
    }),
    { numRuns: 500 },
  );
  const demotions = (code: readonly number[]) =>
    [...bytes].filter((_, at) => code.every((byte, i) => bytes[at + i] === byte));
  expect(demotions([0xfd, 0x5e])).toEqual([]);
});

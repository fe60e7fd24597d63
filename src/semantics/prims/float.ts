import { prim, type PrimTable } from "../prim.ts";

const f32 = new Float32Array(1);
const u32 = new Int32Array(f32.buffer);
const f64 = new Float64Array(1);
const i64 = new BigInt64Array(f64.buffer);

/** binary32 and binary64 primitives. A NaN result is written as PTX's canonical NaN by whoever stores it. */
export const floatPrims = {
  "f32.add": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a + b)),
  "f32.sub": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a - b)),
  "f32.mul": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a * b)),
  "f64.add": prim(["f64", "f64"], "f64", (a, b) => a + b),
  "f64.sub": prim(["f64", "f64"], "f64", (a, b) => a - b),
  "f64.mul": prim(["f64", "f64"], "f64", (a, b) => a * b),
  "f32.reinterpret_i32": prim(["i32"], "f32", (a) => ((u32[0] = a), f32[0]!)),
  "i32.reinterpret_f32": prim(["f32"], "i32", (a) => (a === a ? ((f32[0] = a), u32[0]!) : 0x7fff_ffff)),
  "f64.reinterpret_i64": prim(["i64"], "f64", (a) => ((i64[0] = a), f64[0]!)),
  "i64.reinterpret_f64": prim(["f64"], "i64", (a) => (a === a ? ((f64[0] = a), i64[0]!) : 0x7ff8_0000_0000_0000n)),
} as const satisfies PrimTable;

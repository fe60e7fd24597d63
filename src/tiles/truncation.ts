import { type Wasm, wasm } from "../wasm/index.ts";

/**
 * The integer parts of four numbers of binary32 less than 2^31. Of larger ones they are the least or the largest
 * integer, or 0 of a NaN, as the machine has it.
 */
export type Truncate = (x: Wasm) => Wasm;

/** `relaxed`: the machine has the instruction that need not saturate. */
export const truncation =
  (relaxed: boolean): Truncate =>
  (x) =>
    wasm.op(relaxed ? "i32x4.relaxed_trunc_f32x4_s" : "i32x4.trunc_sat_f32x4_s", x);

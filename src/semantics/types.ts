/**
 * The types of the values that expressions compute with. `i32` and `i64` are bit patterns (each primitive decides on
 * signedness); 8- and 16-bit values, f16, bf16 and packed types are in the low bits of an `i32`.
 */
export type Ty = "pred" | "i32" | "i64" | "f32" | "f64";

/**
 * Values as the host represents them: `i32` is a number in [-2^31, 2^31), `i64` a bigint in [-2^63, 2^63), `f32` a
 * number that binary32 can represent, `f64` any number, `pred` a boolean. NaN has no payload here: a primitive that
 * must preserve the bits of a NaN works on `i32` or `i64`.
 */
export interface HostValue {
  pred: boolean;
  i32: number;
  i64: bigint;
  f32: number;
  f64: number;
}
/** A value of any type. */
export type Value = HostValue[Ty];

/**
 * The types of values that expressions compute with. `i32` and `i64` are bit patterns (signedness is the primitive's
 * business); 8- and 16-bit values, f16, bf16 and packed types travel in the low bits of an `i32`.
 */
export type Ty = "pred" | "i32" | "i64" | "f32" | "f64";

/**
 * A value in the host: `i32` a number in [-2^31, 2^31); `i64` a bigint in [-2^63, 2^63); `f32` a number that is
 * representable in binary32; `f64` a number; `pred` a boolean. NaN has no payload here: a primitive that must keep the
 * bits of a NaN works on `i32`/`i64`.
 */
export interface HostValue {
  pred: boolean;
  i32: number;
  i64: bigint;
  f32: number;
  f64: number;
}
export type Value = HostValue[Ty];

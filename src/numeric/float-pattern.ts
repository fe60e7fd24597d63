const f32 = new Float32Array(1);
const i32 = new Int32Array(f32.buffer);
const f64 = new Float64Array(1);
const i64 = new BigInt64Array(f64.buffer);

/**
 * The canonical NaNs, the bit patterns of every computed NaN: the one that NVIDIA's GPUs produce for binary32, and the
 * quiet NaN of binary64. JavaScript engines may change the payload of a NaN that passes through a number, so payloads
 * are never taken from there.
 */
export const nan32 = 0x7fff_ffff;
export const nan64 = 0x7ff8_0000_0000_0000n;

/** Returns the bit pattern of a binary32 number as a signed integer; a NaN gives `nan32`. */
export const pattern32 = (value: number): number => (value === value ? ((f32[0] = value), i32[0]!) : nan32);

/** Returns the bit pattern of a double as a signed integer; a NaN gives `nan64`. */
export const pattern64 = (value: number): bigint => (value === value ? ((f64[0] = value), i64[0]!) : nan64);

/** Returns the binary32 number with a bit pattern. */
export const fromPattern32 = (pattern: number): number => ((i32[0] = pattern), f32[0]!);
/** Returns the double with a bit pattern. */
export const fromPattern64 = (pattern: bigint): number => ((i64[0] = pattern), f64[0]!);

const f32 = new Float32Array(1);
const i32 = new Int32Array(f32.buffer);
const f64 = new Float64Array(1);
const i64 = new BigInt64Array(f64.buffer);

/**
 * The pattern of every NaN that is computed: what NVIDIA's GPUs give for binary32, and the quiet NaN of binary64.
 * Engines of JavaScript may change the payload of a NaN that passes through a number, so that none is taken from there.
 */
export const nan32 = 0x7fff_ffff;
export const nan64 = 0x7ff8_0000_0000_0000n;

/** The pattern of a binary32 number, signed; a NaN gives `nan32`. */
export const pattern32 = (value: number): number => (value === value ? ((f32[0] = value), i32[0]!) : nan32);

/** The pattern of a double, signed; a NaN gives `nan64`. */
export const pattern64 = (value: number): bigint => (value === value ? ((f64[0] = value), i64[0]!) : nan64);

export const fromPattern32 = (pattern: number): number => ((i32[0] = pattern), f32[0]!);
export const fromPattern64 = (pattern: bigint): number => ((i64[0] = pattern), f64[0]!);

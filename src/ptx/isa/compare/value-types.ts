/** The types that the instructions of 9.7.6 compare and select. */
export const valueTypes = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"] as const;
export const valueGates = { f64: { target: "sm_13" } } as const;

import type { Platform } from "./isa/row.ts";

const wide: readonly Platform[] = ["pvc", "pvcxt", "bmg", "lnl", "ptl"];

/** Bytes of a general register (GRF) of a platform: 64 from Ponte Vecchio (`pvc`) on, 32 before. */
export const registerBytes = (platform: Platform): 32 | 64 => (wide.includes(platform) ? 64 : 32);

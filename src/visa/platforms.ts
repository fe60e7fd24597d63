import type { Platform } from "./isa/row.ts";

const wide: readonly Platform[] = ["pvc", "pvcxt", "bmg", "lnl", "ptl"];

/** Bytes of a register of the platform. */
export const registerBytes = (platform: Platform): 32 | 64 => (wide.includes(platform) ? 64 : 32);

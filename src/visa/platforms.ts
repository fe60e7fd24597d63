import { type Platform, platforms, type Row } from "./isa/row.ts";

const wide: readonly Platform[] = ["pvc", "pvcxt", "bmg", "lnl", "ptl"];

/** Bytes of a general register (GRF) of a platform: 64 from Ponte Vecchio (`pvc`) on, 32 before. */
export const registerBytes = (platform: Platform): 32 | 64 => (wide.includes(platform) ? 64 : 32);

/** Whether a platform is of Xe2 or later; one that is not known is not. */
export const isXe2 = (platform: Platform | null): boolean =>
  platform !== null && platforms.indexOf(platform) >= platforms.indexOf("bmg");

/** Whether a platform has an instruction. */
export function existsOn({ only, from, until }: Row, platform: Platform): boolean {
  if (only !== undefined) return only.includes(platform);
  const index = platforms.indexOf(platform);
  return (
    (from === undefined || index >= platforms.indexOf(from)) &&
    (until === undefined || index < platforms.indexOf(until))
  );
}

/** Whether only platforms with registers of 64 bytes have an instruction. */
export const needsWideRegisters = (row: Row): boolean =>
  platforms.every((platform) => wide.includes(platform) || !existsOn(row, platform));

/**
 * The undefined bits of a value of up to 64 bits: a set bit is undefined. `origin` is the place where it was first read
 * (see `Origins`); 0 if it has not been read yet.
 */
export interface Shade {
  low: number;
  high: number;
  origin: number;
}

export const isDefined = ({ low, high }: Shade): boolean => (low | high) === 0;

/** The low `bits` (1 to 64) of the shade. */
export function cut(shade: Shade, bits: number): void {
  if (bits < 64) shade.high &= bits <= 32 ? 0 : (1 << (bits - 32)) - 1;
  if (bits < 32) shade.low &= (1 << bits) - 1;
}

/** Extends a shade of `bits` bits: the upper bits are undefined if they copy an undefined sign. */
export function extend(shade: Shade, bits: number, signed: boolean): void {
  if (!signed || bits >= 64) return;
  const sign = bits === 32 ? shade.low >>> 31 : (shade.low >>> (bits - 1)) & 1;
  if (sign === 0) return;
  shade.high = -1;
  if (bits < 32) shade.low |= -1 << bits;
}

/** Whether any bit is undefined in the lower half of a value of so many bits, or in a whole byte. */
export function isLowUndefined({ low }: Shade, bits: number): boolean {
  return (low & (bits === 64 ? -1 : bits === 8 ? 0xff : (1 << (bits / 2)) - 1)) !== 0;
}

/** Whether every byte of a value of so many bits has undefined bits: none of it was written. */
export function isWhollyUndefined({ low, high }: Shade, bits: number): boolean {
  for (let at = 0; at < bits; at += 8) {
    if (((at < 32 ? low >>> at : high >>> (at - 32)) & 0xff) === 0) return false;
  }
  return true;
}

/**
 * What is undefined of a value of up to 64 bits: a set bit is undefined. `origin` says where it was read first (see
 * `Origins`), 0 that nobody has read it yet since its place was left unwritten.
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

/** What becomes of the upper bits when `bits` are extended: with a sign that is undefined, so are they. */
export function extend(shade: Shade, bits: number, signed: boolean): void {
  if (!signed || bits >= 64) return;
  const sign = bits === 32 ? shade.low >>> 31 : (shade.low >>> (bits - 1)) & 1;
  if (sign === 0) return;
  shade.high = -1;
  if (bits < 32) shade.low |= -1 << bits;
}

/** Whether anything of the lower half of so many bits is undefined, or of a byte. */
export function isLowUndefined({ low }: Shade, bits: number): boolean {
  return (low & (bits === 64 ? -1 : bits === 8 ? 0xff : (1 << (bits / 2)) - 1)) !== 0;
}

/** Whether every byte of a value of so many bits has something undefined: nothing of it has been put there. */
export function isWhollyUndefined({ low, high }: Shade, bits: number): boolean {
  for (let at = 0; at < bits; at += 8) {
    if (((at < 32 ? low >>> at : high >>> (at - 32)) & 0xff) === 0) return false;
  }
  return true;
}

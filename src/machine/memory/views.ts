/**
 * A piece of memory as elements of each width: so many fresh bytes, or an existing buffer. Its size is a multiple of 8.
 */
export class Views {
  readonly i8: Int8Array;
  readonly u8: Uint8Array;
  readonly i16: Int16Array;
  readonly u16: Uint16Array;
  readonly i32: Int32Array;
  readonly i64: BigInt64Array;

  constructor(source: number | ArrayBuffer) {
    const buffer = typeof source === "number" ? new ArrayBuffer(8 * Math.ceil(source / 8) || 8) : source;
    this.i8 = new Int8Array(buffer);
    this.u8 = new Uint8Array(buffer);
    this.i16 = new Int16Array(buffer);
    this.u16 = new Uint16Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.i64 = new BigInt64Array(buffer);
  }
}

/** An element of 8, 16 or 32 bits as an `i32` (extended as `signed` says), of 64 bits as an `i64`. `at` is aligned. */
export function readElement(views: Views, at: number, bits: number, signed: boolean): number | bigint {
  switch (bits) {
    case 8:
      return (signed ? views.i8 : views.u8)[at]!;
    case 16:
      return (signed ? views.i16 : views.u16)[at >>> 1]!;
    case 32:
      return views.i32[at >>> 2]!;
    default:
      return views.i64[at >>> 3]!;
  }
}

/** Reads as `readElement` does, at any byte. */
export function readUnaligned(views: Views, at: number, bits: number, signed: boolean): number | bigint {
  const data = new DataView(views.u8.buffer);
  if (bits === 64) return data.getBigInt64(at, true);
  if (bits === 32) return data.getInt32(at, true);
  return signed ? data.getInt16(at, true) : data.getUint16(at, true);
}

export function writeUnaligned(views: Views, at: number, bits: number, value: number | bigint): void {
  const data = new DataView(views.u8.buffer);
  if (bits === 64) data.setBigInt64(at, value as bigint, true);
  else if (bits === 32) data.setInt32(at, value as number, true);
  else data.setInt16(at, value as number, true);
}

export function writeElement(views: Views, at: number, bits: number, value: number | bigint): void {
  if (bits === 64) views.i64[at >>> 3] = value as bigint;
  else if (bits === 32) views.i32[at >>> 2] = value as number;
  else if (bits === 16) views.i16[at >>> 1] = value as number;
  else views.i8[at] = value as number;
}

import { windows } from "./address-map.ts";

/**
 * How a matrix lies in shared memory, as the descriptor of a warpgroup's product says (section 9.7.15.5.1.2). Offsets
 * and addresses are in bytes; addresses have 18 bits and count from the beginning of the block's shared memory.
 *
 * The smallest part is a chunk of 16 bytes: the elements of a line that follow each other. A matrix in K-major order
 * has a line for each row of A or column of B, along k; one in MN-major order a line for each k, along the rows or
 * columns. Eight lines of `width` bytes follow each other without gaps.
 */
export interface SharedMatrixLayout {
  readonly start: number;
  /** The leading dimension byte offset, and the stride dimension byte offset. */
  readonly leading: number;
  readonly stride: number;
  /** The bytes of the swizzle: 16 (none), 32, 64 or 128. */
  readonly width: SwizzleWidth;
  /** Where the repeating pattern of the swizzle begins, in units of 128 bytes, modulo 8. */
  readonly baseOffset: number;
  /**
   * The bytes that the swizzle leaves together: 32 in one mode of tcgen05, in which groups have four lines; else 16.
   */
  readonly grain?: 16 | 32;
}

/** The bytes within which a swizzle exchanges chunks of 16; 16: none. */
export type SwizzleWidth = 16 | 32 | 64 | 128;

/** Bytes of a chunk. */
export const chunkBytes = 16;

const widths = [16, 128, 64, 32] as const;

/**
 * What an address of shared memory adds to a descriptor beyond its field, if it was not cut to 18 bits. On a GPU that
 * is nothing, and there are programs that do without the cut. The mark, which belongs to no field, shows it.
 */
export const uncutDescriptor = { bits: (windows.shared.start >>> 4) & ~0x3fff, mark: 1 << 15 } as const;

/** The layout in a matrix descriptor (section 9.7.15.5.1.2.2), whose halves are given as 32-bit integers. */
export function layoutOf(word: number, high: number): SharedMatrixLayout {
  // Fields have been combined by `or`, or added.
  const { bits: uncut, mark } = uncutDescriptor;
  const low = (word & mark) === 0 ? word : (word & uncut) === uncut ? word & ~uncut : word - uncut;
  return {
    start: (low & 0x3fff) << 4,
    leading: ((low >>> 16) & 0x3fff) << 4,
    stride: (high & 0x3fff) << 4,
    width: widths[high >>> 30]!,
    baseOffset: (high >>> 17) & 7,
  };
}

/**
 * The address of a chunk of a line. The canonical layouts (section 9.7.15.5.1.2.1.3) in units of chunks:
 *
 *     K-major   none       ((8,m),(1,2k)):((1,stride),(1,leading))       swizzled  ((8,m),2k):((width,stride),1)
 *     MN-major  none       ((1,m),(8,k)):((1,stride),(1,leading))
 *               swizzled   ((width,m),(8,k)):((1,leading),(width,stride)); with a grain of 32 bytes 4 instead of 8
 */
export function chunkAddress(layout: SharedMatrixLayout, kMajor: boolean, line: number, chunk: number): number {
  const { start, leading, stride, width, grain } = layout;
  const lines = grain === 32 ? 4 : 8;
  const group = Math.floor(line / lines);
  let offset = (line % lines) * width;
  if (kMajor) offset += group * stride + chunk * (width === 16 ? leading : chunkBytes);
  else if (width === 16) offset += group * leading + chunk * stride;
  else {
    const chunks = width / chunkBytes;
    offset += group * stride + Math.floor(chunk / chunks) * leading + (chunk % chunks) * chunkBytes;
  }
  return swizzled(layout, start + offset);
}

/**
 * The swizzle of an address: its chunk within `width` bytes is combined with the number of its 128 bytes by exclusive
 * or, counted from where the pattern begins.
 */
function swizzled({ width, baseOffset, grain = chunkBytes }: SharedMatrixLayout, address: number): number {
  const row = ((address >>> 7) - baseOffset) & (width / grain - 1);
  return address ^ (row * grain);
}

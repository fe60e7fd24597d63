import type { ElementFormat, TensorKind } from "../../../ir/index.ts";

/**
 * How elements lie in 16 bytes of memory (sections 9.7.16.9.1 and 9.7.16.10.4): one after the other in cells of a
 * number of bits; the lower bits of a cell that do not belong to its element, and the bytes at the end that are
 * padding, are left out.
 */
export interface Packing {
  /** Elements in 16 bytes. */
  readonly count: number;
  readonly cellBits: 4 | 6 | 8 | 16 | 32;
  /** Lower bits of a cell that are not part of its element. */
  readonly shift: 0 | 2;
}

const packing = (count: number, cellBits: Packing["cellBits"], shift: Packing["shift"] = 0): Packing => ({
  count,
  cellBits,
  shift,
});

const narrowBits: Readonly<Record<string, 4 | 6>> = { e2m1: 4, e2m3: 6, e3m2: 6 };

/**
 * The packing of an operand. With elements of 4 bits only, they follow each other; among other types, 16 of them lie in
 * shared memory at the beginning of 16 bytes, and in tensor memory in a byte each, those of 4 bits in its middle.
 */
export function packingOf(kind: TensorKind, format: ElementFormat, memory: "shared" | "tensor"): Packing {
  switch (kind) {
    case "f16":
      return packing(8, 16);
    case "tf32":
      return packing(4, 32);
    case "mxf4":
    case "mxf4nvf4":
      return packing(32, 4);
    case "i8":
    case "f8f6f4":
    case "mxf8f6f4": {
      const bits = narrowBits[format] ?? 8;
      return memory === "shared" ? packing(16, bits) : packing(16, 8, bits === 4 ? 2 : 0);
    }
  }
}

/** The pattern of an element in the 16 bytes from `at` on. */
export function patternIn({ cellBits, shift }: Packing, bytes: Uint8Array, at: number, element: number): number {
  switch (cellBits) {
    case 8:
      return bytes[at + element]! >> shift;
    case 16:
      return bytes[at + 2 * element]! | (bytes[at + 2 * element + 1]! << 8);
    case 32: {
      const i = at + 4 * element;
      return bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    }
    case 4:
    case 6: {
      const bit = element * cellBits;
      const i = at + (bit >> 3);
      // An element of 6 bits may lie in two bytes; the second is within the 16.
      const both = bytes[i]! | ((bit & 7) + cellBits > 8 ? bytes[i + 1]! << 8 : 0);
      return (both >> (bit & 7)) & ((1 << cellBits) - 1);
    }
  }
}

/** Unpacks 16 elements of 4 or 6 bits to bytes, as `tcgen05.cp` does: those of 4 bits to the middle of theirs. */
export function unpackBytes(bits: 4 | 6, from: Uint8Array, at: number, to: Uint8Array, first: number): void {
  const cells = packing(16, bits);
  for (let i = 0; i < 16; i++) to[first + i] = patternIn(cells, from, at, i) << (bits === 4 ? 2 : 0);
}

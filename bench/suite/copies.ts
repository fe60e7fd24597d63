import { elementInfo, Elements, type ElementType } from "../../src/runtime/data/element.ts";

const pageBytes = 0x1_0000;

/**
 * Zeros for what the bench keeps of the buffers. They lie in pages of their own, which go back to the system with the
 * garbage: the heap of the C library keeps what large arrays leave behind, and between them what the host's compilers
 * do.
 */
export function elementsInPages(type: ElementType, n: number): Elements {
  const bytes = n * elementInfo[type].size;
  const { buffer } = new WebAssembly.Memory({ initial: Math.ceil(bytes / pageBytes) });
  return new Elements(type, new Uint8Array(buffer, 0, bytes));
}

const arrays = { u8: Uint8Array, s32: Int32Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array } as const;

/** The types of the benchmarks' buffers. */
export type BenchType = keyof typeof arrays;

/** Such elements as numbers, where they lie. */
export const numbersOf = (type: BenchType, { bytes, length }: Elements): ArrayLike<number> =>
  new arrays[type](bytes.buffer as ArrayBuffer, bytes.byteOffset, length);

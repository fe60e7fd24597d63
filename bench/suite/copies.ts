import { elementInfo, Elements, type ElementType } from "../../src/runtime/data/element.ts";

const pageBytes = 0x1_0000;

/**
 * Allocates zeroed elements for copies of buffers, in pages of their own. These return to the system when collected,
 * whereas the C library's heap would keep the space of large arrays, with the data of the host's compilers scattered in
 * it.
 */
export function elementsInPages(type: ElementType, n: number): Elements {
  const bytes = n * elementInfo[type].size;
  const { buffer } = new WebAssembly.Memory({ initial: Math.ceil(bytes / pageBytes) });
  return new Elements(type, new Uint8Array(buffer, 0, bytes));
}

const arrays = {
  u8: Uint8Array,
  s8: Int8Array,
  s32: Int32Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

/** The element types of the benchmarks' buffers. */
export type BenchType = keyof typeof arrays | "f16";

/** Views elements as an array of numbers, without a copy but for halves, of which JavaScript has no array. */
export const numbersOf = (type: BenchType, elements: Elements): ArrayLike<number> => {
  const { bytes, length } = elements;
  if (type === "f16") return Float32Array.from({ length }, (_, i) => Number(elements.get(i)));
  return new arrays[type](bytes.buffer as ArrayBuffer, bytes.byteOffset, length);
};

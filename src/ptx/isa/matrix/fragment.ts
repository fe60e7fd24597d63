/** Rows of A and D, columns of B and D, columns of A: as in "m16n8k16". */
export interface MatrixShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

export function shapeOf(text: string): MatrixShape {
  const [, m, n, k] = /^m(\d+)n(\d+)k(\d+)$/.exec(text)!;
  return { m: Number(m), n: Number(n), k: Number(k) };
}

/** Bits of one element, as a fragment holds it: narrower floats than 8 bits are padded, except in `.kind::mxf4`. */
const bitsOf: Readonly<Record<string, number>> = { b1: 1, s4: 4, u4: 4, tf32: 32, f64: 64 };
export const elementBits = (type: string): number =>
  bitsOf[type] ?? (type.includes("16") ? 16 : type.includes("32") ? 32 : 8);

const LANES = 32;

/** The operand spec of a fragment: what each lane of a warp holds of a matrix of so many elements. */
export function fragment(elements: number, type: string, bits = elementBits(type)): string {
  if (type === "f64") return `f64[${elements / LANES}]`;
  const registers = (elements * bits) / 32 / LANES;
  return `${type === "f32" || type === "s32" ? type : "b32"}[${registers}]`;
}

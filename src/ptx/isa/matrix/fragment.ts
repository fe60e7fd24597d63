/**
 * A matrix shape such as "m16n8k16": A has m rows and k columns, B k rows and n columns, C and D m rows and n columns.
 */
export interface MatrixShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** The shape of this name. */
export function shapeOf(text: string): MatrixShape {
  const [, m, n, k] = /^m(\d+)n(\d+)k(\d+)$/.exec(text)!;
  return { m: Number(m), n: Number(n), k: Number(k) };
}

const bitsOf: Readonly<Record<string, number>> = { b1: 1, s4: 4, u4: 4, tf32: 32, f64: 64 };
/** Bits of one element in a fragment. Floats of fewer than 8 bits are padded to 8, except in `.kind::mxf4`. */
export const elementBits = (type: string): number =>
  bitsOf[type] ?? (type.includes("16") ? 16 : type.includes("32") ? 32 : 8);

const LANES = 32;

/** The operand spec of a fragment: the registers in which each lane of a warp holds its part of a matrix. */
export function fragment(elements: number, type: string, bits = elementBits(type)): string {
  if (type === "f64") return `f64[${elements / LANES}]`;
  const registers = (elements * bits) / 32 / LANES;
  const register = type === "f32" || type === "s32" ? type : "u32";
  // ptxas infers the type of a vector from its registers, so that there must be one.
  return `${registers === 1 ? "reg " : ""}${register}[${registers}]`;
}

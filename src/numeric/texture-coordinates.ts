/**
 * From the coordinates of a texture fetch to texels, as CUDA's programming guide has it ("Texture Fetching"): all steps
 * are operations of binary32 or of integers, so that vector code can follow them exactly.
 */

/** What becomes of texels outside an image. */
export type AddressMode = "wrap" | "clamp" | "mirror" | "border";
/** Every way of treating texels outside an image. */
export const addressModes = ["wrap", "clamp", "mirror", "border"] as const satisfies readonly AddressMode[];

const { fround } = Math;

/** The weights of linear filtering have 8 bits of fraction: 256 is one whole texel. */
export const weightOne = 256;

/** A coordinate in texels: normalized ones count from 0 to 1 across an image of `size` texels. */
export const inTexels = (coordinate: number, size: number, normalized: boolean): number =>
  normalized ? fround(coordinate * size) : coordinate;

/** The texel at a position, as a 32-bit integer: the nearest that it holds, and 0 for NaN. */
export const texelAt = (position: number): number =>
  position !== position ? 0 : Math.max(-0x8000_0000, Math.min(0x7fff_ffff, Math.floor(position)));

/** The first of the two texels between whose centres a position lies. */
export const linearFirst = (position: number): number => texelAt(fround(position - 0.5));

/**
 * How much the second of these texels counts, in units of 1/256: the fraction is rounded to the nearest such number,
 * which may be 256. NaN and infinity have no fraction.
 */
export function linearWeight(position: number): number {
  const shifted = fround(position - 0.5);
  const fraction = fround(shifted - Math.floor(shifted));
  const weight = Math.floor(fround(fround(fraction * weightOne) + 0.5));
  return weight === weight ? weight : 0;
}

const modulo = (i: number, n: number): number => ((i % n) + n) % n;

/** The texel, of `size` along an axis, that stands for texel i; -1 for the border. */
export function addressed(i: number, size: number, mode: AddressMode): number {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case "wrap":
      return modulo(i, size);
    case "mirror": {
      const at = modulo(i, 2 * size);
      return at < size ? at : 2 * size - 1 - at;
    }
    case "clamp":
      return i < 0 ? 0 : size - 1;
    case "border":
      return -1;
  }
}

/*
 * A model of images that knows nothing of the machine: texels are numbers in nested arrays, addressed as the CUDA
 * programming guide ("Texture Fetching") and sections 9.7.10 and 9.7.11 of the PTX manual say.
 */

/** The texels of a level of a layer or face: by slice (or sample), row and column, the channels. */
export type Plane = readonly (readonly (readonly (readonly number[])[])[])[];

/** Levels, of layers or faces. */
export type Texels = readonly (readonly Plane[])[];

export interface Shape {
  readonly width: number;
  readonly height?: number;
  readonly depth?: number;
  readonly layers?: number;
  readonly cube?: boolean;
  readonly samples?: number;
  readonly levels?: number;
}

const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

/** Texels of an image, each channel what `value` gives for its number, in the order in which they lie in memory. */
export function texelsOf(
  shape: Shape,
  channels: number,
  value: (n: number) => number,
): { texels: Texels; flat: number[] } {
  const { width, height = 1, depth = 1, layers = 1, cube = false, samples = 1, levels = 1 } = shape;
  const flat: number[] = [];
  const next = (): number => {
    const n = value(flat.length);
    flat.push(n);
    return n;
  };
  const half = (size: number, level: number): number => Math.max(1, size >> level);
  const texels = times(levels, (level) =>
    times(layers * (cube ? 6 : 1), () =>
      times(half(depth, level) * samples, () =>
        times(half(height, level), () => times(half(width, level), () => times(channels, next))),
      ),
    ),
  );
  return { texels, flat };
}

export type Mode = "wrap" | "clamp" | "mirror" | "border";

/** The index, or null for the border. */
function indexOf(i: number, size: number, mode: Mode): number | null {
  if (mode === "border") return i < 0 || i >= size ? null : i;
  if (mode === "clamp") return Math.min(size - 1, Math.max(0, i));
  let at = i;
  while (at < 0) at += 2 * size;
  at %= 2 * size;
  if (mode === "wrap") return at % size;
  return at < size ? at : 2 * size - 1 - at;
}

export interface Sampling {
  readonly mode: Mode;
  readonly linear: boolean;
  readonly border?: readonly number[];
  /** What is made of each texel before it is filtered. */
  readonly map?: (channels: readonly number[]) => readonly number[];
}

const filled = (channels: readonly number[]): readonly number[] =>
  [0, 1, 2, 3].map((c) => channels[c] ?? (c === 3 ? 1 : 0));

/** The texel at indices x, y, z of a plane. */
export function texelAt(plane: Plane, indices: readonly number[], { mode, border = [0, 0, 0, 0], map }: Sampling) {
  const sizes = [plane[0]![0]!.length, plane[0]!.length, plane.length];
  const [x, y = 0, z = 0] = indices.map((i, axis) => indexOf(i, sizes[axis]!, mode));
  const texel = x === null || y === null || z === null ? border : filled(plane[z]![y]![x!]!);
  return map === undefined ? texel : map(texel);
}

/** The value at a place given in texels: the texel there, or the weighted mean of the 2, 4 or 8 around it. */
export function sampleAt(
  plane: Plane,
  place: readonly number[],
  offset: readonly number[],
  how: Sampling,
): readonly number[] {
  const moved = (n: number, axis: number): number => n + (offset[axis] ?? 0);
  if (!how.linear)
    return texelAt(
      plane,
      place.map((x, axis) => moved(Math.floor(x), axis)),
      how,
    );
  const sum = [0, 0, 0, 0];
  for (let corner = 0; corner < 2 ** place.length; corner++) {
    let weight = 1;
    const indices = place.map((x, axis) => {
      const first = Math.floor(x - 0.5);
      const fraction = Math.round((x - 0.5 - first) * 256) / 256;
      const isSecond = (corner >> axis) & 1;
      weight *= isSecond ? fraction : 1 - fraction;
      return moved(first + isSecond, axis);
    });
    texelAt(plane, indices, how).forEach((value, c) => {
      sum[c]! += weight * value;
    });
  }
  return sum;
}

/** The face that a direction meets, and where, from 0 to 1. Written as the table of OpenGL's specification. */
export function faceAt([x, y, z]: readonly [number, number, number]): { face: number; s: number; t: number } {
  const rows: [number, number, number, number, number][] = [
    [0, x, -z, -y, x],
    [1, -x, z, -y, -x],
    [2, y, x, z, y],
    [3, -y, x, -z, -y],
    [4, z, x, -y, z],
    [5, -z, -x, -y, -z],
  ];
  const longest = Math.max(...rows.map(([, along]) => along));
  const [face, , sc, tc, ma] = rows.find(([, along]) => along === longest)!;
  return { face, s: (sc / ma + 1) / 2, t: (tc / ma + 1) / 2 };
}

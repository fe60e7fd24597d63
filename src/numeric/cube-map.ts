/** The faces of a cube, in the order +x, -x, +y, -y, +z, -z. */
export interface FacePoint {
  readonly face: number;
  /** Coordinates on the face, from 0 to 1. */
  readonly s: number;
  readonly t: number;
}

/** By face: the axis that it is on, the axes of s and t, and the signs of all three along those axes. */
const faces = [
  { major: 0, s: 2, t: 1, sign: 1, sSign: -1, tSign: -1 },
  { major: 0, s: 2, t: 1, sign: -1, sSign: 1, tSign: -1 },
  { major: 1, s: 0, t: 2, sign: 1, sSign: 1, tSign: 1 },
  { major: 1, s: 0, t: 2, sign: -1, sSign: 1, tSign: -1 },
  { major: 2, s: 0, t: 1, sign: 1, sSign: 1, tSign: -1 },
  { major: 2, s: 0, t: 1, sign: -1, sSign: -1, tSign: -1 },
] as const;

const { fround } = Math;

/**
 * The face to which a direction points: that of the axis along which it is longest; of equals z, then y (as OpenGL).
 */
function faceOf(direction: ArrayLike<number>): number {
  const x = direction[0]!;
  const y = direction[1]!;
  const z = direction[2]!;
  const ax = Math.abs(x);
  const ay = Math.abs(y);
  const az = Math.abs(z);
  if (az >= ax && az >= ay) return z < 0 ? 5 : 4;
  if (ay >= ax) return y < 0 ? 3 : 2;
  return x < 0 ? 1 : 0;
}

/**
 * Where a direction meets a cube: the two minor coordinates divided by the largest, from -1..1 to 0..1 (PTX section
 * 9.7.10.3; the axes of the faces are those of OpenGL's and CUDA's cube maps).
 */
export function cubePoint(direction: ArrayLike<number>): FacePoint {
  const face = faceOf(direction);
  const { major, s, t, sSign, tSign } = faces[face]!;
  const length = Math.abs(direction[major]!);
  return { face, s: onFace(sSign * direction[s]!, length), t: onFace(tSign * direction[t]!, length) };
}

const onFace = (minor: number, length: number): number => fround(fround(fround(minor / length) + 1) * 0.5);

/** How s and t change where the direction changes by `step`: derivatives of `cubePoint`, on its face. */
export function cubeStep(direction: ArrayLike<number>, step: ArrayLike<number>): readonly [number, number] {
  const { major, s, t, sSign, tSign } = faces[faceOf(direction)]!;
  const length = Math.abs(direction[major]!);
  const longer = direction[major]! < 0 ? -step[major]! : step[major]!;
  const along = (axis: number, sign: number): number =>
    (sign * (step[axis]! * length - direction[axis]! * longer)) / (2 * length * length);
  return [along(s, sSign), along(t, tSign)];
}

/** A texel of a cube whose faces have `size` texels along each edge. */
export interface FaceTexel {
  readonly face: number;
  readonly i: number;
  readonly j: number;
}

/**
 * The texel that stands for one outside a face, beyond one of its edges: its neighbour on the next face. Null beyond a
 * corner, where three faces meet and there is none.
 */
export function acrossEdge({ face, i, j }: FaceTexel, size: number): FaceTexel | null {
  const isInside = (n: number): boolean => n >= 0 && n < size;
  if (isInside(i) && isInside(j)) return { face, i, j };
  if (!isInside(i) && !isInside(j)) return null;
  const { major, s, t, sign, sSign, tSign } = faces[face]!;
  const direction = [0, 0, 0];
  // A little beyond the edge: far enough to be on the next face, and near enough for the texel at its edge.
  const centre = (n: number): number => (2 * Math.max(-1, Math.min(size, n)) + 1) / size - 1;
  direction[major] = sign;
  direction[s] = sSign * centre(i);
  direction[t] = tSign * centre(j);
  const next = cubePoint(direction);
  const texel = (at: number): number => Math.max(0, Math.min(size - 1, Math.floor(at * size)));
  return { face: next.face, i: texel(next.s), j: texel(next.t) };
}

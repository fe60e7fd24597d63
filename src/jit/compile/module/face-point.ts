import { type Wasm, wasm } from "../../../wasm/index.ts";

const { op } = wasm;
const minus = (value: Wasm): Wasm => op("f32x4.neg", value);

/** Where directions meet a cube: the face, and the coordinates on it, from 0 to 1. */
interface FacePoint {
  readonly face: Wasm;
  readonly at: readonly [s: Wasm, t: Wasm];
}

/** `cubePoint` of `numeric/cube-map.ts` for four lanes. `keep` puts a value that is used several times into a local. */
export function facePointOf([x, y, z]: readonly [Wasm, Wasm, Wasm], keep: (value: Wasm) => Wasm): FacePoint {
  const ax = keep(op("f32x4.abs", x));
  const ay = keep(op("f32x4.abs", y));
  const az = keep(op("f32x4.abs", z));
  const isZ = keep(op("v128.and", op("f32x4.ge", az, ax), op("f32x4.ge", az, ay)));
  const isY = keep(op("v128.andnot", op("f32x4.ge", ay, ax), isZ));
  const of = (ofZ: Wasm, ofY: Wasm, ofX: Wasm): Wasm => wasm.blend(isZ, ofZ, wasm.blend(isY, ofY, ofX));
  const isNegative = keep(op("f32x4.lt", of(z, y, x), wasm.f32x4(0)));
  const length = keep(of(az, ay, ax));
  // The mask of a lane on a negative face is -1.
  const face = keep(op("i32x4.sub", of(wasm.i32x4(4), wasm.i32x4(2), wasm.i32x4(0)), isNegative));
  const signed = (negative: Wasm, positive: Wasm): Wasm => wasm.blend(isNegative, negative, positive);
  const onFace = (minor: Wasm): Wasm =>
    op("f32x4.mul", op("f32x4.add", op("f32x4.div", minor, length), wasm.f32x4(1)), wasm.f32x4(0.5));
  const s = onFace(of(signed(minus(x), x), x, signed(z, minus(z))));
  const t = onFace(wasm.blend(isY, signed(minus(z), z), minus(y)));
  return { face, at: [s, t] };
}

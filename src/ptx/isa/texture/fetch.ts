import { coordinatesOf, type ImageFetch, type ImageGeometry, type OpOf } from "../../../ir/index.ts";
import { kit, type Expr } from "../../../semantics/index.ts";
import type { OperandAccess } from "../define.ts";

/** The modifiers of a fetch, where it has them. */
interface FetchModifiers {
  readonly geom: ImageGeometry;
  readonly dtype: ImageFetch["result"];
  readonly ctype?: "s32" | "f32";
  readonly comp?: "r" | "g" | "b" | "a";
}

/** The elements of each gradient; the fourth of four is padding. */
const gradients: { readonly [G in ImageGeometry]: number } = {
  ...{ "1d": 1, a1d: 1, "2d": 2, a2d: 2, "3d": 3, cube: 3, acube: 3, "2dms": 2, a2dms: 2 },
};

/** The elements of an offset, by geometry: what there are more is padding. Cubes have none. */
const offsets: { readonly [G in ImageGeometry]: number } = { ...gradients, cube: 0, acube: 0 };

/** The vectors that an offset may be, as operands' specifications have them. */
export const offsetSpec = ({ geom }: { readonly geom: ImageGeometry }): string =>
  ({ 1: "s32[1,2,4]", 2: "s32[2,4]", 3: "s32[4]", 0: "s32[4]" })[offsets[geom]]!;

/** The vector that a gradient is. */
export const gradientSpec = ({ geom }: { readonly geom: ImageGeometry }): string =>
  ({ 1: "f32[1]", 2: "f32[2]", 3: "f32[4]" })[gradients[geom]]!;

const isCube = (geom: ImageGeometry): boolean => geom.endsWith("cube");

/** The fetch that an instruction is. `a` is the texture, `b` the sampler, `c` the coordinates. */
export function fetch(
  { geom, dtype, ctype = "f32", comp }: FetchModifiers,
  handle: Expr,
  ops: OperandAccess,
  level: ImageFetch["level"],
): OpOf<"unit"> {
  const [sampler] = ops.vector("b");
  const e = isCube(geom) ? [] : ops.vector("e").slice(0, offsets[geom]);
  const steps = level === "gradients" ? gradients[geom] : 0;
  return {
    kind: "unit",
    unit: {
      op: "image-fetch",
      fetch: {
        geometry: geom,
        integers: ctype === "s32",
        level,
        gradients: steps,
        offsets: e.length,
        compares: ops.has("f"),
        hasSampler: sampler !== undefined,
        component: comp === undefined ? null : (["r", "g", "b", "a"].indexOf(comp) as 0 | 1 | 2 | 3),
        result: dtype,
      },
    },
    operands: [
      handle,
      sampler ?? kit.i64(0n),
      ...ops.vector("c").slice(0, coordinatesOf[geom]),
      ...(level === "level" ? ops.vector("lod") : []),
      ...ops.vector("dPdx").slice(0, steps),
      ...ops.vector("dPdy").slice(0, steps),
      ...e,
      ...ops.vector("f"),
    ],
  };
}

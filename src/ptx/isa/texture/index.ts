import type { ImageQuery, OpOf } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { fetch, gradientSpec, offsetSpec } from "./fetch.ts";

const geometries = ["1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms"] as const;
const multisample = { since: "3.2", target: "sm_30" } as const;
const half = { since: "4.2", target: "sm_53" } as const;
const geometryGates = {
  a1d: { since: "2.3" },
  a2d: { since: "2.3" },
  cube: { since: "3.0", target: "sm_20" },
  acube: { since: "3.0", target: "sm_20" },
  "2dms": multisample,
  a2dms: multisample,
  f16: half,
  f16x2: half,
};

interface Fetch {
  readonly geom: string;
  readonly vec: string;
  readonly dtype: string;
  readonly ctype: string;
}

/**
 * Checks a fetch: it returns four elements, or two packed pairs, and some geometries allow only one type of
 * coordinates.
 */
function fetchProblem({ geom, vec, dtype, ctype }: Fetch): string | null {
  if ((vec === "v2") !== (dtype === "f16x2")) return `'.${dtype}' needs '.${dtype === "f16x2" ? "v2" : "v4"}'`;
  if (geom.endsWith("cube") && ctype !== "f32") return `'.${geom}' takes coordinates of type '.f32'`;
  if (geom.endsWith("ms") && ctype !== "s32") return `'.${geom}' takes coordinates of type '.s32'`;
  return null;
}

const result = { d: "dtype[vec]", p: "pred" } as const;
const optional = { e: offsetSpec, f: "f32" } as const;
const fetched = {
  where: {
    geom: geometries,
    vec: ["v2", "v4"],
    dtype: ["u32", "s32", "f16", "f32", "f16x2"],
    ctype: ["s32", "f32"],
  },
  gates: geometryGates,
} as const;

/** Fetches from mipmaps, which multi-sample textures do not have. */
const mipmap = {
  since: "3.1",
  target: "sm_20",
  where: { ...fetched.where, geom: ["1d", "2d", "3d", "a1d", "a2d", "cube", "acube"] },
  gates: { f16: half, f16x2: half },
} as const;

/** Section 9.7.10.3. The sampler `b` is given in independent texturing mode. */
const tex = instruction("tex", {
  summary: "looks up texels in a texture",
  section: "9.7.10.3",
  forms: [
    form("tex{.base}.geom.vec.dtype.ctype d{|p}, [a,c]{, e}{, f}", {
      ...fetched,
      operands: { ...result, ...optional },
      since: "1.0",
      gates: { ...geometryGates, base: { since: "3.1", target: "sm_20" } },
      invalid: fetchProblem,
      effect: (_, src, mods, ops) => fetch(mods, src["a,c"], ops, "base"),
    }),
    form("tex{.base}.geom.vec.dtype.ctype d{|p}, [a,b,c]{, e}{, f}", {
      ...fetched,
      operands: { ...result, ...optional },
      since: "1.5",
      gates: { ...geometryGates, base: { since: "3.1", target: "sm_20" } },
      invalid: fetchProblem,
      effect: (_, src, mods, ops) => fetch(mods, src["a,b,c"], ops, "base"),
    }),
    form("tex.level.geom.vec.dtype.ctype d{|p}, [a,c], lod{, e}{, f}", {
      ...mipmap,
      operands: { ...result, ...optional, lod: "ctype" },
      invalid: fetchProblem,
      effect: (_, src, mods, ops) => fetch(mods, src["a,c"], ops, "level"),
    }),
    form("tex.level.geom.vec.dtype.ctype d{|p}, [a,b,c], lod{, e}{, f}", {
      ...mipmap,
      operands: { ...result, ...optional, lod: "ctype" },
      invalid: fetchProblem,
      effect: (_, src, mods, ops) => fetch(mods, src["a,b,c"], ops, "level"),
    }),
    form("tex.grad.geom.vec.dtype.ctype d{|p}, [a,c], dPdx, dPdy{, e}{, f}", {
      ...mipmap,
      operands: { ...result, ...optional, dPdx: gradientSpec, dPdy: gradientSpec },
      gates: { ...mipmap.gates, cube: { since: "4.3" }, acube: { since: "4.3" } },
      invalid: fetchProblem,
      effect: (_, src, mods, ops) => fetch(mods, src["a,c"], ops, "gradients"),
    }),
    form("tex.grad.geom.vec.dtype.ctype d{|p}, [a,b,c], dPdx, dPdy{, e}{, f}", {
      ...mipmap,
      operands: { ...result, ...optional, dPdx: gradientSpec, dPdy: gradientSpec },
      gates: { ...mipmap.gates, cube: { since: "4.3" }, acube: { since: "4.3" } },
      invalid: fetchProblem,
      effect: (_, src, mods, ops) => fetch(mods, src["a,b,c"], ops, "gradients"),
    }),
  ],
});

const components = ["r", "g", "b", "a"] as const;
const footprint = { since: "2.2", target: "sm_20" } as const;
const later = { since: "4.3", target: "sm_30" } as const;

/** Section 9.7.10.4. */
const tld4 = instruction("tld4", {
  summary: "fetches one component of the four texels around a point",
  section: "9.7.10.4",
  forms: [
    form("tld4.comp.geom.v4.dtype.f32 d{|p}, [a,c]{, e}{, f}", {
      ...footprint,
      where: { comp: components, geom: ["2d", "a2d", "cube", "acube"], dtype: ["u32", "s32", "f32"] },
      operands: { d: "dtype[4]", p: "pred", ...optional },
      gates: { a2d: later, cube: later, acube: later },
      effect: (_, src, mods, ops) => fetch(mods, src["a,c"], ops, "base"),
    }),
    form("tld4.comp.geom.v4.dtype.f32 d{|p}, [a,b,c]{, e}{, f}", {
      ...footprint,
      where: { comp: components, geom: ["2d", "a2d", "cube", "acube"], dtype: ["u32", "s32", "f32"] },
      operands: { d: "dtype[4]", p: "pred", ...optional },
      gates: { a2d: later, cube: later, acube: later },
      effect: (_, src, mods, ops) => fetch(mods, src["a,b,c"], ops, "base"),
    }),
  ],
});

/** The query of an attribute of a texture or sampler, of its base level if no other is given. */
const query = (what: ImageQuery, of: Expr, level: Expr = kit.i32(0)): OpOf<"unit"> => ({
  kind: "unit",
  unit: { op: "image-query", query: what, of: "texture" },
  operands: [of, level],
});

/** Section 9.7.10.5. */
const txq = instruction("txq", {
  summary: "reads an attribute of a texture or sampler",
  section: "9.7.10.5",
  forms: [
    form("txq.tquery.b32 d, [a]", {
      where: {
        tquery: [
          "width",
          "height",
          "depth",
          "channel_data_type",
          "channel_order",
          "normalized_coords",
          "array_size",
          "num_mipmap_levels",
          "num_samples",
        ],
      },
      operands: { a: "address handle" },
      since: "1.5",
      gates: {
        channel_data_type: { since: "2.1" },
        channel_order: { since: "2.1" },
        array_size: { since: "4.1" },
        num_mipmap_levels: { since: "4.1", target: "sm_20" },
        num_samples: { since: "4.1", target: "sm_30" },
      },
      effect: (_, { a }, { tquery }) => query(tquery, a),
    }),
    form("txq.level.tlquery.b32 d, [a], lod", {
      where: { tlquery: ["width", "height", "depth"] },
      operands: { a: "address handle", lod: "s32" },
      since: "4.3",
      target: "sm_30",
      effect: (_, { a, lod }, { tlquery }) => query(tlquery, a, lod),
    }),
    form("txq.squery.b32 d, [a]", {
      where: {
        squery: ["force_unnormalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2"],
      },
      operands: { a: "address handle" },
      since: "1.5",
      gates: { force_unnormalized_coords: { since: "2.2" } },
      effect: (_, { a }, { squery }) => query(squery, a),
    }),
  ],
});

const kindOf = { texref: "texture", samplerref: "sampler", surfref: "surface" } as const;

/** Section 9.7.10.6. */
const istypep = instruction("istypep", {
  summary: "tells whether a register refers to a texture, sampler or surface",
  section: "9.7.10.6",
  forms: [
    form("istypep.type p, a", {
      where: { type: ["texref", "samplerref", "surfref"] },
      operands: { p: "pred", a: "reg u64" },
      since: "4.0",
      target: "sm_30",
      effect: (_, { a }, { type }) => ({ kind: "unit", unit: { op: "image-test", of: kindOf[type] }, operands: [a] }),
    }),
  ],
});

export const textureInstructions = [tex, tld4, txq, istypep];

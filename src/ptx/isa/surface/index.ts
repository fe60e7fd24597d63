import type { ImageGeometry, SurfaceAccess } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import type { Gate, OperandAccess } from "../define.ts";
import { form, instruction } from "../define.ts";

const clamps = ["trap", "clamp", "zero"] as const;
const geometries = ["1d", "2d", "3d", "a1d", "a2d"] as const;
const dataTypes = ["b8", "b16", "b32", "b64"] as const;

const second: Gate = { since: "2.0", target: "sm_20" };
const third: Gate = { since: "3.0", target: "sm_20" };
const gates = { clamp: second, zero: second, cg: second, cs: second, "3d": third, a1d: third, a2d: third };

interface AccessModifiers {
  readonly geom: ImageGeometry;
  readonly clamp: SurfaceAccess["bounds"];
  readonly vec?: "v2" | "v4" | undefined;
}

/** A vector of at most 128 bits. */
const widthProblem = ({ vec, dtype }: { readonly vec?: string | undefined; readonly dtype: string }): string | null =>
  vec === "v4" && dtype === "b64" ? "a vector has at most 128 bits" : null;

const bitsOf = (type: string): SurfaceAccess["bits"] => Number(type.slice(1)) as SurfaceAccess["bits"];

/** The access that an instruction makes. */
const accessOf = (
  { geom, clamp, vec }: AccessModifiers,
  bits: SurfaceAccess["bits"],
  formatted = false,
): SurfaceAccess => ({
  ...{ geometry: geom, bounds: clamp, bits, formatted },
  count: vec === undefined ? 1 : Number(vec[1]),
});

/** The surface and four coordinates: x, y, z and the layer, which is written first. */
function placeOf(handle: Expr, geom: ImageGeometry, ops: OperandAccess): readonly Expr[] {
  const given = ops.vector("b");
  const zero = kit.i32(0);
  const [x = zero, y = zero, z = zero] = geom.startsWith("a") ? given.slice(1) : given;
  switch (geom) {
    case "1d":
      return [handle, x, zero, zero, zero];
    case "2d":
      return [handle, x, y, zero, zero];
    case "a1d":
      return [handle, x, zero, zero, given[0] ?? zero];
    case "a2d":
      return [handle, x, y, zero, given[0] ?? zero];
    default:
      return [handle, x, y, z, zero];
  }
}

/** Section 9.7.11.1. */
const suld = instruction("suld", {
  summary: "loads from a surface",
  section: "9.7.11.1",
  forms: [
    form("suld.b.geom{.cop}{.vec}.dtype.clamp d, [a,b]", {
      where: {
        geom: geometries,
        cop: ["ca", "cg", "cs", "cv"],
        vec: ["v2", "v4"],
        dtype: dataTypes,
        clamp: clamps,
      },
      operands: { d: "dtype[vec?]" },
      since: "1.5",
      gates: { ...gates, ca: second, cv: second },
      invalid: widthProblem,
      effect: (_, src, mods, ops) => ({
        kind: "unit",
        unit: { op: "surface-load", access: accessOf(mods, bitsOf(mods.dtype)) },
        operands: placeOf(src["a,b"], mods.geom, ops),
      }),
    }),
  ],
});

/** Section 9.7.11.2. */
const sust = instruction("sust", {
  summary: "stores to a surface",
  section: "9.7.11.2",
  forms: [
    form("sust.b.geom{.cop}{.vec}.ctype.clamp [a,b], c", {
      where: {
        geom: geometries,
        cop: ["wb", "cg", "cs", "wt"],
        vec: ["v2", "v4"],
        ctype: dataTypes,
        clamp: clamps,
      },
      operands: { c: "ctype[vec?]" },
      since: "1.5",
      gates: { ...gates, wb: second, wt: second },
      invalid: ({ vec, ctype }) => widthProblem({ vec, dtype: ctype }),
      effect: (_, src, mods, ops) => ({
        kind: "unit",
        unit: { op: "surface-store", access: accessOf(mods, bitsOf(mods.ctype)) },
        operands: [...placeOf(src["a,b"], mods.geom, ops), ...ops.vector("c")],
      }),
    }),
    form("sust.p.geom{.vec}.b32.clamp [a,b], c", {
      where: { geom: ["1d", "2d", "3d"], vec: ["v2", "v4"], clamp: clamps },
      operands: { c: "b32[vec?]" },
      since: "2.0",
      target: "sm_20",
      effect: (_, src, mods, ops) => ({
        kind: "unit",
        unit: { op: "surface-store", access: accessOf(mods, 32, true) },
        operands: [...placeOf(src["a,b"], mods.geom, ops), ...ops.vector("c")],
      }),
    }),
  ],
});

const long: Gate = { since: "8.1", target: "sm_50" };
const operations = ["add", "min", "max", "and", "or"] as const;
const typesOf = {
  add: ["u32", "u64", "s32"],
  min: ["u32", "s32", "u64", "s64"],
  max: ["u32", "s32", "u64", "s64"],
  and: ["b32"],
  or: ["b32"],
} as const;

/** Section 9.7.11.3. */
const sured = instruction("sured", {
  summary: "updates an element of a surface atomically",
  section: "9.7.11.3",
  forms: [
    form("sured.b.op.geom.ctype.clamp [a,b], c", {
      where: { op: operations, geom: ["1d", "2d", "3d"], ctype: ["u32", "u64", "s32", "b32", "s64"], clamp: clamps },
      operands: { c: "ctype" },
      since: "2.0",
      target: "sm_20",
      gates: { "min+u64": long, "max+u64": long, s64: long },
      invalid: ({ op, ctype }) =>
        (typesOf[op] as readonly string[]).includes(ctype) ? null : `'.${op}' does not take '.${ctype}'`,
      effect: (_, src, mods, ops) => ({
        kind: "unit",
        unit: {
          op: "surface-reduce",
          reduction: {
            ...accessOf(mods, bitsOf(mods.ctype), false),
            op: mods.op,
            type: mods.ctype.startsWith("s") ? "signed" : "unsigned",
          },
        },
        operands: [...placeOf(src["a,b"], mods.geom, ops), ...ops.vector("c")],
      }),
    }),
    form("sured.p.op.geom.ctype.clamp [a,b], c", {
      where: { op: operations, geom: ["1d", "2d", "3d"], ctype: ["b32", "b64"], clamp: clamps },
      operands: { c: "ctype" },
      since: "2.0",
      target: "sm_20",
      gates: { b64: long },
      invalid: ({ op, ctype }) =>
        ctype === "b64" && op !== "min" && op !== "max" ? "'.b64' takes only '.min' and '.max'" : null,
      effect: (_, src, mods, ops) => ({
        kind: "unit",
        unit: {
          op: "surface-reduce",
          reduction: {
            ...accessOf(mods, bitsOf(mods.ctype), true),
            op: mods.op,
            type: "format",
          },
        },
        operands: [...placeOf(src["a,b"], mods.geom, ops), ...ops.vector("c")],
      }),
    }),
  ],
});

/** Section 9.7.11.4. */
const suq = instruction("suq", {
  summary: "reads an attribute of a surface",
  section: "9.7.11.4",
  forms: [
    form("suq.query.b32 d, [a]", {
      where: {
        query: ["width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout"],
      },
      operands: { a: "address handle" },
      since: "1.5",
      gates: {
        channel_data_type: { since: "2.1" },
        channel_order: { since: "2.1" },
        array_size: { since: "4.1" },
        memory_layout: { since: "4.2" },
      },
      effect: (_, { a }, { query }) => ({
        kind: "unit",
        unit: { op: "image-query", query, of: "surface" },
        operands: [a, kit.i32(0)],
      }),
    }),
  ],
});

export const surfaceInstructions = [suld, sust, sured, suq];

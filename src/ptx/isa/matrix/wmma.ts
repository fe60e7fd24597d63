import type { Gate } from "../define.ts";
import { form, instruction } from "../define.ts";
import { fragment, shapeOf } from "./fragment.ts";
import { product } from "./mma.ts";
import { chain, integers, single, sums } from "./multiplication.ts";
import { loadMatrix, multiplyTiles, storeMatrix } from "./wmma-steps.ts";

const layouts = ["row", "col"] as const;
const spaces = ["global", "shared", "shared::cta"] as const;
const large = ["m16n16k16", "m8n32k16", "m32n8k16"] as const;
const shapes = [...large, "m16n16k8", "m8n8k4", "m8n8k32", "m8n8k128"] as const;

const shapesOf: Readonly<Record<string, readonly string[]>> = {
  f16: large,
  bf16: large,
  s8: large,
  u8: large,
  tf32: ["m16n16k8"],
  f64: ["m8n8k4"],
  s4: ["m8n8k32"],
  u4: ["m8n8k32"],
  b1: ["m8n8k128"],
};
/** The shapes of accumulators, by type. */
const resultShapesOf: Readonly<Record<string, readonly string[]>> = {
  f16: large,
  f32: [...large, "m16n16k8"],
  s32: [...large, "m8n8k32", "m8n8k128"],
  f64: ["m8n8k4"],
};

const shapeProblem =
  (allowed: Readonly<Record<string, readonly string[]>>) =>
  ({ shape, type }: { readonly shape: string; readonly type: string }): string | null =>
    allowed[type]!.includes(shape) ? null : `'.${type}' cannot be used with the shape '.${shape}'`;

const subByte = (type: string): boolean => ["s4", "u4", "b1"].includes(type);

/** Checks the shape of a multiplicand, and that one with elements smaller than a byte has the only layout allowed. */
const loadProblem =
  (layout: "row" | "col") =>
  (m: { readonly shape: string; readonly type: string; readonly layout: string }): string | null =>
    shapeProblem(shapesOf)(m) ??
    (subByte(m.type) && m.layout !== layout ? `a matrix of '.${m.type}' must be '.${layout}' here` : null);

/**
 * The operand spec of a multiplicand. f16 takes eight registers in every shape, because each element is held by two
 * lanes.
 */
const multiplicand = (type: string, elements: number): string => (type === "f16" ? "u32[8]" : fragment(elements, type));
const accumulator = ({ shape, type }: { readonly shape: string; readonly type: string }): string => {
  const { m, n } = shapeOf(shape);
  return fragment(m * n, type);
};

const integer: Gate = { since: "6.3", target: "sm_72" };
const small: Gate = { since: "6.3", target: "sm_75" };
const precise: Gate = { since: "7.0", target: "sm_80" };
/** Gates of all wmma instructions. `.aligned` was implied before PTX ISA 6.3. */
const commonGates = { m8n32k16: { since: "6.1" }, m32n8k16: { since: "6.1" }, "!aligned": { until: "6.3" } };
const multiplicandGates = {
  ...commonGates,
  s8: integer,
  u8: integer,
  s4: small,
  u4: small,
  b1: small,
  bf16: precise,
  tf32: precise,
  f64: precise,
};
const resultGates = { ...commonGates, s32: integer, m8n8k32: small, m8n8k128: small, f64: precise, m16n16k8: precise };
const windowGate = { "shared::cta": { since: "7.8" } };
const volta = { since: "6.0", target: "sm_70" } as const;

const multiplicands = ["f16", "s8", "u8", "bf16", "tf32", "f64", "s4", "u4", "b1"] as const;
const accumulators = ["f16", "f32", "s32", "f64"] as const;

/** Section 9.7.14.4.3. */
export const wmmaLoad = instruction("wmma.load", {
  summary: "loads a matrix into the lanes of a warp",
  section: "9.7.14.4.3",
  forms: [
    form("wmma.load.a.sync{.aligned}.layout.shape{.ss}.type d, [a]{, stride}", {
      where: { layout: layouts, shape: shapes, ss: spaces, type: multiplicands },
      operands: {
        d: ({ shape, type }) => multiplicand(type, shapeOf(shape).m * shapeOf(shape).k),
        stride: "u32",
      },
      ...volta,
      gates: { ...multiplicandGates, ...windowGate },
      invalid: loadProblem("row"),
      effect: (_, src, m, ops) => loadMatrix("a", src, m, ops),
    }),
    form("wmma.load.b.sync{.aligned}.layout.shape{.ss}.type d, [a]{, stride}", {
      where: { layout: layouts, shape: shapes, ss: spaces, type: multiplicands },
      operands: {
        d: ({ shape, type }) => multiplicand(type, shapeOf(shape).n * shapeOf(shape).k),
        stride: "u32",
      },
      ...volta,
      gates: { ...multiplicandGates, ...windowGate },
      invalid: loadProblem("col"),
      effect: (_, src, m, ops) => loadMatrix("b", src, m, ops),
    }),
    form("wmma.load.c.sync{.aligned}.layout.shape{.ss}.type d, [a]{, stride}", {
      where: { layout: layouts, shape: shapes, ss: spaces, type: accumulators },
      operands: { d: accumulator, stride: "u32" },
      ...volta,
      gates: { ...resultGates, ...windowGate },
      invalid: shapeProblem(resultShapesOf),
      effect: (_, src, m, ops) => loadMatrix("c", src, m, ops),
    }),
  ],
});

/** Section 9.7.14.4.4. */
export const wmmaStore = instruction("wmma.store", {
  summary: "stores a matrix from the lanes of a warp",
  section: "9.7.14.4.4",
  forms: [
    form("wmma.store.d.sync{.aligned}.layout.shape{.ss}.type [a], r{, stride}", {
      where: { layout: layouts, shape: shapes, ss: spaces, type: accumulators },
      operands: { r: accumulator, stride: "u32" },
      ...volta,
      gates: { ...resultGates, ...windowGate },
      invalid: shapeProblem(resultShapesOf),
      effect: (_, src, m, ops) => storeMatrix(src, m, ops),
    }),
  ],
});

const sameTypes = ({ atype, btype }: { readonly atype: string; readonly btype: string }): string | null =>
  atype === btype ? null : `'.${atype}' and '.${btype}' cannot be combined`;

const bothLayouts = { alayout: layouts, blayout: layouts } as const;

/** Section 9.7.14.4.5. */
export const wmmaMma = instruction("wmma.mma", {
  summary: "multiplies two matrices and adds a third",
  section: "9.7.14.4.5",
  forms: [
    form("wmma.mma.sync{.aligned}.alayout.blayout.shape.dtype.ctype d, a, b, c", {
      where: { ...bothLayouts, shape: large, dtype: ["f16", "f32"], ctype: ["f16", "f32"] },
      operands: { ...product({ a: "f16" }), a: "u32[8]", b: "u32[8]" },
      ...volta,
      anyOrder: true,
      gates: commonGates,
      effect: (_, __, m, ops) => multiplyTiles(m, ops, sums({ a: "f16" })),
    }),
    form("wmma.mma.sync{.aligned}.alayout.blayout.shape.dtype.ctype.satfinite d, a, b, c", {
      where: { ...bothLayouts, shape: large, dtype: ["f16", "f32"], ctype: ["f16", "f32"] },
      operands: { ...product({ a: "f16" }), a: "u32[8]", b: "u32[8]" },
      ...volta,
      anyOrder: true,
      until: "6.5",
      gates: commonGates,
      unimplemented: "the manual no longer says what '.satfinite' does to floats: PTX ISA 6.5 removed it",
    }),
    form("wmma.mma.sync.aligned.alayout.blayout.shape.s32.atype.btype.s32{.satfinite} d, a, b, c", {
      where: { ...bothLayouts, shape: large, atype: ["s8", "u8"], btype: ["s8", "u8"] },
      operands: product({ c: "s32", d: "s32" }),
      ...volta,
      anyOrder: true,
      ...integer,
      since: "6.3",
      invalid: sameTypes,
      effect: (_, __, m, ops) => multiplyTiles(m, ops, integers(m.satfinite)),
    }),
    form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.bf16.bf16.f32 d, a, b, c", {
      where: { ...bothLayouts, shape: large },
      operands: product({ a: "bf16", c: "f32", d: "f32" }),
      ...volta,
      anyOrder: true,
      since: "7.0",
      target: "sm_80",
      effect: (_, __, m, ops) => multiplyTiles(m, ops, sums({ a: "bf16" })),
    }),
    form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.tf32.tf32.f32 d, a, b, c", {
      where: { ...bothLayouts, shape: ["m16n16k8"] },
      operands: product({ a: "tf32", c: "f32", d: "f32" }),
      ...volta,
      anyOrder: true,
      since: "7.0",
      target: "sm_80",
      effect: (_, __, m, ops) => multiplyTiles(m, ops, sums({ a: "tf32" })),
    }),
    form("wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.f64.f64.f64.f64 d, a, b, c", {
      where: { ...bothLayouts, shape: ["m8n8k4"], rnd: ["rn", "rz", "rm", "rp"] },
      operands: product({ a: "f64", c: "f64", d: "f64" }),
      ...volta,
      anyOrder: true,
      since: "7.0",
      target: "sm_80",
      effect: (_, __, m, ops) => multiplyTiles(m, ops, chain(m.rnd)),
    }),
    form("wmma.mma.sync.aligned.row.col.shape.s32.atype.btype.s32{.satfinite} d, a, b, c", {
      where: { shape: ["m8n8k32"], atype: ["s4", "u4"], btype: ["s4", "u4"] },
      operands: product({ c: "s32", d: "s32" }),
      ...volta,
      anyOrder: true,
      since: "6.3",
      target: "sm_75",
      invalid: sameTypes,
      effect: (_, __, m, ops) => multiplyTiles(m, ops, integers(m.satfinite)),
    }),
    form("wmma.mma.op.popc.sync.aligned.row.col.shape.s32.b1.b1.s32 d, a, b, c", {
      where: { shape: ["m8n8k128"], op: ["xor", "and"] },
      operands: product({ a: "b1", c: "s32", d: "s32" }),
      ...volta,
      anyOrder: true,
      since: "6.3",
      target: "sm_75",
      gates: { and: { since: "7.1", target: "sm_80" } },
      effect: (_, __, m, ops) => multiplyTiles(m, ops, single(m.op)),
    }),
  ],
});

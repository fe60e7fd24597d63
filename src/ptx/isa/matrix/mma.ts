import type { Gate } from "../define.ts";
import { form, instruction } from "../define.ts";
import { elementBits, fragment, shapeOf } from "./fragment.ts";
import { blocks, chain, integers, multiplication, single, sums } from "./multiplication.ts";

const narrowTypes = ["e4m3", "e5m2"] as const;
export const paddedTypes = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"] as const;
const halfOrSingle = ["f16", "f32"] as const;

interface Types {
  readonly a: string;
  readonly c: string;
  readonly d: string;
  /** Bits of an element of A and B, if the type's name does not determine them. */
  readonly bits?: number;
}

interface ProductModifiers {
  readonly shape: string;
  readonly atype?: string;
  readonly ctype?: string;
  readonly dtype?: string;
}

/**
 * The operand specs of `d, a, b, c`. The types are those of the modifiers, or those in `fixed` if the form has only
 * one. With `sparse` only half of A's columns are present.
 */
export function product(fixed: Partial<Types> & { readonly sparse?: boolean }) {
  const of = (name: "a" | "b" | "c" | "d") => (m: ProductModifiers) => {
    const { m: rows, n: columns, k } = shapeOf(m.shape);
    const a = m.atype ?? fixed.a!;
    const bits = fixed.bits ?? elementBits(a);
    switch (name) {
      case "a":
        return fragment((rows * k) / (fixed.sparse ? 2 : 1), a, bits);
      case "b":
        return fragment(columns * k, a, bits);
      case "c":
        return fragment(rows * columns, m.ctype ?? fixed.c!);
      case "d":
        return fragment(rows * columns, m.dtype ?? fixed.d!);
    }
  };
  return { d: of("d"), a: of("a"), b: of("b"), c: of("c") };
}

/**
 * The operand specs of m8n8k4 with f16, which multiplies four pairs of matrices at once, one in each quarter of the
 * warp.
 */
const fourProducts = {
  d: ({ dtype }: { readonly dtype: string }) => (dtype === "f16" ? "u32[4]" : "f32[8]"),
  a: "u32[2]",
  b: "u32[2]",
  c: ({ ctype }: { readonly ctype: string }) => (ctype === "f16" ? "u32[4]" : "f32[8]"),
};

export const sameAccumulators = ({
  dtype,
  ctype,
}: {
  readonly dtype: string;
  readonly ctype: string;
}): string | null =>
  dtype === ctype ? null : `the types of D and C must be the same, not '.${dtype}' and '.${ctype}'`;

const ampere: Gate = { since: "7.0", target: "sm_80" };
export const scaled = ["sm_120a", "sm_120f"] as const;
const blackwell = { since: "8.7", target: scaled } as const;

/** The additional operands of block scaling: the scales of A and B, and which bytes of which lanes hold them. */
export const scaleOperands = {
  scaleA: "b32[?]",
  selectA: "u16[2] 0..3",
  scaleB: "b32[?]",
  selectB: "u16[2] 0..3",
} as const;

/** Section 9.7.14.5.14. */
export const mma = instruction("mma", {
  summary: "multiplies two matrices and adds a third",
  section: "9.7.14.5.14",
  forms: [
    form("mma.sync.aligned.m8n8k4.alayout.blayout.dtype.f16.f16.ctype d, a, b, c", {
      where: { alayout: ["row", "col"], blayout: ["row", "col"], dtype: halfOrSingle, ctype: halfOrSingle },
      operands: fourProducts,
      since: "6.4",
      target: "sm_70",
      invalid: ({ dtype, ctype }) => (dtype === "f16" && ctype === "f32" ? "C cannot be '.f32' if D is '.f16'" : null),
      effect: (_, __, m, ops) => multiplication(m, ops, "m8n8k4", sums({ a: "f16", quarters: m })),
    }),
    form("mma.sync.aligned.shape.row.col.dtype.f16.f16.ctype d, a, b, c", {
      where: { shape: ["m16n8k8", "m16n8k16"], dtype: halfOrSingle, ctype: halfOrSingle },
      operands: product({ a: "f16" }),
      since: "6.5",
      target: "sm_75",
      gates: { m16n8k16: ampere },
      invalid: sameAccumulators,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums({ a: "f16" })),
    }),
    form("mma.sync.aligned.shape.row.col.f32.tf32.tf32.f32 d, a, b, c", {
      where: { shape: ["m16n8k4", "m16n8k8"] },
      operands: product({ a: "tf32", c: "f32", d: "f32" }),
      since: "7.0",
      target: "sm_80",
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums({ a: "tf32" })),
    }),
    form("mma.sync.aligned.shape.row.col.f32.bf16.bf16.f32 d, a, b, c", {
      where: { shape: ["m16n8k8", "m16n8k16"] },
      operands: product({ a: "bf16", c: "f32", d: "f32" }),
      since: "7.0",
      target: "sm_80",
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums({ a: "bf16" })),
    }),
    form("mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c", {
      where: {
        shape: ["m16n8k16", "m16n8k32"],
        dtype: halfOrSingle,
        atype: narrowTypes,
        btype: narrowTypes,
        ctype: halfOrSingle,
      },
      operands: product({}),
      since: "8.4",
      target: "sm_89",
      gates: { m16n8k16: { since: "8.7" }, f16: { since: "8.7" } },
      invalid: sameAccumulators,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums(null)),
    }),
    form("mma.sync.aligned.shape.row.col.kind::f8f6f4.dtype.atype.btype.ctype d, a, b, c", {
      where: { shape: ["m16n8k32"], dtype: halfOrSingle, atype: paddedTypes, btype: paddedTypes, ctype: halfOrSingle },
      operands: product({}),
      since: "8.7",
      target: scaled,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums(null)),
      invalid: sameAccumulators,
    }),
    form(
      "mma.sync.aligned.shape.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, scaleA, selectA, scaleB, selectB",
      {
        where: { shape: ["m16n8k64"] },
        operands: { ...product({ a: "e2m1", bits: 4, c: "f32", d: "f32" }), ...scaleOperands },
        ...blackwell,
        effect: (_, __, m, ops) => multiplication(m, ops, m.shape, blocks, { scales: { format: "ue8m0", blocks: 2 } }),
      },
    ),
    form(
      "mma.sync.aligned.shape.row.col.kind::mxf4nvf4.block_scale.scale_vec_size.f32.e2m1.e2m1.f32.stype d, a, b, c, scaleA, selectA, scaleB, selectB",
      {
        where: { shape: ["m16n8k64"], scale_vec_size: ["scale_vec::2X", "scale_vec::4X"], stype: ["ue8m0", "ue4m3"] },
        operands: { ...product({ a: "e2m1", bits: 4, c: "f32", d: "f32" }), ...scaleOperands },
        ...blackwell,
        gates: { "scale_vec::4X+ue8m0": { since: "9.1" } },
        invalid: scaleProblem,
        effect: (_, __, m, ops) => multiplication(m, ops, m.shape, blocks, { scales: scalesOf(m) }),
      },
    ),
    form(
      "mma.sync.aligned.shape.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0 d, a, b, c, scaleA, selectA, scaleB, selectB",
      {
        where: { shape: ["m16n8k32"], atype: paddedTypes, btype: paddedTypes },
        operands: { ...product({ c: "f32", d: "f32" }), ...scaleOperands },
        ...blackwell,
        effect: (_, __, m, ops) =>
          multiplication(m, ops, m.shape, sums(null), { scales: { format: "ue8m0", blocks: 1 } }),
      },
    ),
    form("mma.sync.aligned.shape.row.col.f64.f64.f64.f64{.rnd} d, a, b, c", {
      where: { shape: ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"], rnd: ["rn", "rz", "rm", "rp"] },
      operands: product({ a: "f64", c: "f64", d: "f64" }),
      anyOrder: true,
      since: "7.0",
      target: "sm_80",
      gates: Object.fromEntries(
        ["m16n8k4", "m16n8k8", "m16n8k16"].map((shape) => [shape, { since: "7.8", target: "sm_90" }]),
      ),
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, chain(m.rnd)),
    }),
    form("mma.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c", {
      where: { shape: ["m8n8k16", "m16n8k16", "m16n8k32"], atype: ["u8", "s8"], btype: ["u8", "s8"] },
      operands: product({ c: "s32", d: "s32" }),
      anyOrder: true,
      since: "6.5",
      target: "sm_75",
      gates: { m16n8k16: ampere, m16n8k32: ampere },
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, integers(m.satfinite)),
    }),
    form("mma.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c", {
      where: { shape: ["m8n8k32", "m16n8k32", "m16n8k64"], atype: ["u4", "s4"], btype: ["u4", "s4"] },
      operands: product({ c: "s32", d: "s32" }),
      anyOrder: true,
      since: "6.5",
      target: "sm_75",
      gates: { m16n8k32: ampere, m16n8k64: ampere },
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, integers(m.satfinite)),
    }),
    form("mma.sync.aligned.shape.row.col.s32.b1.b1.s32.bitOp.popc d, a, b, c", {
      where: { shape: ["m8n8k128", "m16n8k128", "m16n8k256"], bitOp: ["xor", "and"] },
      operands: product({ a: "b1", c: "s32", d: "s32" }),
      since: "7.0",
      target: "sm_75",
      gates: {
        m16n8k128: { target: "sm_80" },
        m16n8k256: { target: "sm_80" },
        and: { since: "7.1", target: "sm_80" },
      },
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, single(m.bitOp)),
    }),
  ],
});

/** Why the type and number of the scales cannot be combined, or null: `.ue4m3` scales come four at a time. */
export function scaleProblem(m: { readonly scale_vec_size: string; readonly stype: string }): string | null {
  return m.stype === "ue4m3" && m.scale_vec_size === "scale_vec::2X" ? "'.ue4m3' needs '.scale_vec::4X'" : null;
}

/** The scales that a form of mxf4nvf4 names. */
export const scalesOf = (m: {
  readonly scale_vec_size: "scale_vec::2X" | "scale_vec::4X";
  readonly stype: "ue8m0" | "ue4m3";
}) => ({ format: m.stype, blocks: m.scale_vec_size === "scale_vec::2X" ? 2 : 4 }) as const;

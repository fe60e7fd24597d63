import { form, instruction } from "../define.ts";
import { blocks, integers, multiplication, sums } from "./multiplication.ts";
import { paddedTypes, product, sameAccumulators, scaled, scaleOperands, scaleProblem, scalesOf } from "./mma.ts";

const variants = ["sp", "sp::ordered_metadata"] as const;
const halfOrSingle = ["f16", "f32"] as const;
const narrowTypes = ["e4m3", "e5m2"] as const;

/** The operands that tell which elements of A are present, and which lanes of a quad hold this metadata. */
const metadata = { e: "b32", f: "imm u32 0..3" } as const;
const orderedGate = { "sp::ordered_metadata": { since: "8.5" } };
const ordered = "sp::ordered_metadata";
const ampere = { since: "7.1", target: "sm_80", gates: orderedGate } as const;
const blackwell = { since: "8.7", target: scaled } as const;
/** The targets of `.kind::mxf4` and `.kind::mxf4nvf4`, which the family does not include. */
const exact = ["sm_120a", "sm_121a"] as const;

/**
 * Section 9.7.14.6.3. A is sparse: two of four adjacent elements are present (one of two for tf32, four of eight for
 * mxf4).
 */
export const mmaSp = instruction("mma.sp", {
  summary: "multiplies a sparse matrix by another and adds a third",
  section: "9.7.14.6.3",
  forms: [
    form("mma.spvariant.sync.aligned.shape.row.col.dtype.f16.f16.ctype d, a, b, c, e, f", {
      where: { spvariant: variants, shape: ["m16n8k16", "m16n8k32"], dtype: halfOrSingle, ctype: halfOrSingle },
      operands: { ...product({ a: "f16", sparse: true }), ...metadata },
      ...ampere,
      invalid: sameAccumulators,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums({ a: "f16" }), { metadata: m.spvariant }),
    }),
    form("mma.spvariant.sync.aligned.shape.row.col.f32.bf16.bf16.f32 d, a, b, c, e, f", {
      where: { spvariant: variants, shape: ["m16n8k16", "m16n8k32"] },
      operands: { ...product({ a: "bf16", c: "f32", d: "f32", sparse: true }), ...metadata },
      ...ampere,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums({ a: "bf16" }), { metadata: m.spvariant }),
    }),
    form("mma.spvariant.sync.aligned.shape.row.col.f32.tf32.tf32.f32 d, a, b, c, e, f", {
      where: { spvariant: variants, shape: ["m16n8k8", "m16n8k16"] },
      operands: { ...product({ a: "tf32", c: "f32", d: "f32", sparse: true }), ...metadata },
      ...ampere,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums({ a: "tf32" }), { metadata: m.spvariant }),
    }),
    form("mma.spvariant.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c, e, f", {
      where: {
        spvariant: variants,
        shape: ["m16n8k32", "m16n8k64"],
        dtype: halfOrSingle,
        atype: narrowTypes,
        btype: narrowTypes,
        ctype: halfOrSingle,
      },
      operands: { ...product({ sparse: true }), ...metadata },
      ...ampere,
      since: "8.4",
      target: "sm_89",
      gates: {
        ...orderedGate,
        m16n8k32: { since: "8.7", target: "sm_120" },
        f16: { since: "8.7", target: "sm_120" },
      },
      invalid: sameAccumulators,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums(null), { metadata: m.spvariant }),
    }),
    form("mma.sp::ordered_metadata.sync.aligned.shape.row.col.kind::f8f6f4.dtype.atype.btype.ctype d, a, b, c, e, f", {
      where: { shape: ["m16n8k64"], dtype: halfOrSingle, atype: paddedTypes, btype: paddedTypes, ctype: halfOrSingle },
      operands: { ...product({ sparse: true }), ...metadata },
      ...blackwell,
      invalid: sameAccumulators,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, sums(null), { metadata: ordered }),
    }),
    form(
      "mma.sp::ordered_metadata.sync.aligned.shape.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, e, f, scaleA, selectA, scaleB, selectB",
      {
        where: { shape: ["m16n8k128"] },
        operands: {
          ...product({ a: "e2m1", bits: 4, c: "f32", d: "f32", sparse: true }),
          ...metadata,
          ...scaleOperands,
        },
        ...blackwell,
        target: exact,
        effect: (_, __, m, ops) =>
          multiplication(m, ops, m.shape, blocks, { metadata: ordered, scales: { format: "ue8m0", blocks: 2 } }),
      },
    ),
    form(
      "mma.sp::ordered_metadata.sync.aligned.shape.row.col.kind::mxf4nvf4.block_scale.scale_vec_size.f32.e2m1.e2m1.f32.stype d, a, b, c, e, f, scaleA, selectA, scaleB, selectB",
      {
        where: { shape: ["m16n8k128"], scale_vec_size: ["scale_vec::2X", "scale_vec::4X"], stype: ["ue8m0", "ue4m3"] },
        operands: {
          ...product({ a: "e2m1", bits: 4, c: "f32", d: "f32", sparse: true }),
          ...metadata,
          ...scaleOperands,
        },
        ...blackwell,
        target: exact,
        gates: { "scale_vec::4X+ue8m0": { since: "9.1" } },
        invalid: scaleProblem,
        effect: (_, __, m, ops) => multiplication(m, ops, m.shape, blocks, { metadata: ordered, scales: scalesOf(m) }),
      },
    ),
    form(
      "mma.sp::ordered_metadata.sync.aligned.shape.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0 d, a, b, c, e, f, scaleA, selectA, scaleB, selectB",
      {
        where: { shape: ["m16n8k64"], atype: paddedTypes, btype: paddedTypes },
        operands: {
          ...product({ c: "f32", d: "f32", sparse: true }),
          ...metadata,
          ...scaleOperands,
        },
        ...blackwell,
        effect: (_, __, m, ops) =>
          multiplication(m, ops, m.shape, sums(null), { metadata: ordered, scales: { format: "ue8m0", blocks: 1 } }),
      },
    ),
    form("mma.spvariant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f", {
      where: { spvariant: variants, shape: ["m16n8k32", "m16n8k64"], atype: ["u8", "s8"], btype: ["u8", "s8"] },
      note: "the metadata of m16n8k32 is inferred from that of m16n8k64: the manual has pictures",
      operands: { ...product({ c: "s32", d: "s32", sparse: true }), ...metadata },
      ...ampere,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, integers(m.satfinite), { metadata: m.spvariant }),
    }),
    form("mma.spvariant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f", {
      where: { spvariant: variants, shape: ["m16n8k64", "m16n8k128"], atype: ["u4", "s4"], btype: ["u4", "s4"] },
      note: "the metadata of m16n8k64 is inferred from that of larger shapes: the manual has pictures",
      operands: { ...product({ c: "s32", d: "s32", sparse: true }), ...metadata },
      ...ampere,
      effect: (_, __, m, ops) => multiplication(m, ops, m.shape, integers(m.satfinite), { metadata: m.spvariant }),
    }),
  ],
});

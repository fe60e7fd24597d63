import type { Kit } from "../../../semantics/index.ts";
import { form, instruction, type OperandAccess, type Step } from "../define.ts";
import type { ElementFormat, OpOf } from "../../../ir/index.ts";
import { align } from "../matrix/steps.ts";
import { type ProductModifiers, type ProductSources, warpgroupMultiplication } from "./product.ts";

const hopper = { since: "8.0", target: "sm_90a", anyOrder: true } as const;

/** The effect of a product; `type`: the format of A and B, if no modifier names it. */
const multiply =
  (type: ElementFormat | null) =>
  (_: Kit, source: ProductSources, m: ProductModifiers, ops: OperandAccess): Step[] =>
    warpgroupMultiplication(type, source, m, ops);

/** All lanes of the warp come to the instruction first. */
const ordered = (op: OpOf<"order-products">): Step[] => [align, { op }];

/** The numbers of columns for floating-point products: the multiples of 8 up to 256. */
const everyEighth = Array.from({ length: 32 }, (_, i) => 8 * (i + 1));
/** The numbers of columns for integer products. */
const sixteenths = everyEighth.filter((n) => n <= 32 || n % 16 === 0);
const shapes = (k: number, sizes: readonly number[] = everyEighth): readonly string[] =>
  sizes.map((n) => `m64n${n}k${k}`);

/** The columns of D. Each lane of the four warps holds half as many elements. */
const columnsOf = (shape: string): number => Number(/n(\d+)k/.exec(shape)![1]);
const accumulator = ({ shape, dtype = "s32" }: { readonly shape: string; readonly dtype?: string }): string =>
  dtype === "f16" ? `u32[${columnsOf(shape) / 4}]` : `${dtype}[${columnsOf(shape) / 2}]`;

/** A is in registers or, like B, in shared memory, given by a descriptor. */
const operands = { d: accumulator, a: "u32[4]", a_desc: "reg u64", b_desc: "reg u64", scale_d: "pred 0..1" };
const signs = { imm_scale_a: "imm s32 -1|1", imm_scale_b: "imm s32 -1|1" };
const transposes = { imm_trans_a: "imm u32 0..1", imm_trans_b: "imm u32 0..1" };
const sparsity = { sp_meta: "reg b32", sp_sel: "imm u32 0..3" };

const single = ["f32"] as const;
const halfOrSingle = ["f16", "f32"] as const;
const narrowTypes = ["e4m3", "e5m2"] as const;
const bytes = ["s8", "u8"] as const;
const mixed = { "s8+u8": { since: "8.4" } };

/** Section 9.7.15.5.2. */
const wgmmaMmaAsync = instruction("wgmma.mma_async", {
  summary: "multiplies matrices asynchronously in the four warps of a warpgroup",
  section: "9.7.15.5.2",
  forms: [
    ...(["f16", "bf16"] as const).flatMap((type) => [
      form(
        `wgmma.mma_async.sync.aligned.shape.dtype.${type}.${type} d, a_desc, b_desc, scale_d, imm_scale_a, imm_scale_b, imm_trans_a, imm_trans_b`,
        {
          where: { shape: shapes(16), dtype: type === "f16" ? halfOrSingle : single },
          operands: { ...operands, ...signs, ...transposes },
          ...hopper,
          effect: multiply(type),
        },
      ),
      form(
        `wgmma.mma_async.sync.aligned.shape.dtype.${type}.${type} d, a, b_desc, scale_d, imm_scale_a, imm_scale_b, imm_trans_b`,
        {
          where: { shape: shapes(16), dtype: type === "f16" ? halfOrSingle : single },
          operands: { ...operands, ...signs, ...transposes },
          ...hopper,
          effect: multiply(type),
        },
      ),
    ]),
    ...(["a_desc", "a"] as const).flatMap((a) => [
      form(`wgmma.mma_async.sync.aligned.shape.dtype.tf32.tf32 d, ${a}, b_desc, scale_d, imm_scale_a, imm_scale_b`, {
        where: { shape: shapes(8), dtype: single },
        operands: { ...operands, ...signs },
        ...hopper,
        effect: multiply("tf32"),
      }),
      form(`wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d, ${a}, b_desc, scale_d, imm_scale_a, imm_scale_b`, {
        where: { shape: shapes(32), dtype: halfOrSingle, atype: narrowTypes, btype: narrowTypes },
        operands: { ...operands, ...signs },
        ...hopper,
        effect: multiply(null),
      }),
      form(`wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype d, ${a}, b_desc, scale_d`, {
        where: { shape: shapes(32, sixteenths), atype: bytes, btype: bytes },
        operands,
        ...hopper,
        effect: multiply(null),
        gates: mixed,
      }),
      form(`wgmma.mma_async.sync.aligned.shape.s32.b1.b1.and.popc d, ${a}, b_desc, scale_d`, {
        where: { shape: shapes(256, sixteenths) },
        operands,
        ...hopper,
        effect: multiply("b1"),
      }),
    ]),
  ],
});

const sparse = { ...hopper, since: "8.2" } as const;

/** Section 9.7.15.6.3. */
const wgmmaMmaAsyncSp = instruction("wgmma.mma_async.sp", {
  summary: "multiplies a sparse matrix by another asynchronously in the four warps of a warpgroup",
  section: "9.7.15.6.3",
  forms: [
    ...(["f16", "bf16"] as const).flatMap((type) => [
      form(
        `wgmma.mma_async.sp.sync.aligned.shape.dtype.${type}.${type} d, a_desc, b_desc, sp_meta, sp_sel, scale_d, imm_scale_a, imm_scale_b, imm_trans_a, imm_trans_b`,
        {
          where: { shape: shapes(32), dtype: type === "f16" ? halfOrSingle : single },
          operands: { ...operands, ...sparsity, ...signs, ...transposes },
          ...sparse,
          effect: multiply(type),
        },
      ),
      form(
        `wgmma.mma_async.sp.sync.aligned.shape.dtype.${type}.${type} d, a, b_desc, sp_meta, sp_sel, scale_d, imm_scale_a, imm_scale_b, imm_trans_b`,
        {
          where: { shape: shapes(32), dtype: type === "f16" ? halfOrSingle : single },
          operands: { ...operands, ...sparsity, ...signs, ...transposes },
          ...sparse,
          effect: multiply(type),
        },
      ),
    ]),
    ...(["a_desc", "a"] as const).flatMap((a) => [
      form(
        `wgmma.mma_async.sp.sync.aligned.shape.dtype.tf32.tf32 d, ${a}, b_desc, sp_meta, sp_sel, scale_d, imm_scale_a, imm_scale_b`,
        {
          where: { shape: shapes(16), dtype: single },
          operands: { ...operands, ...sparsity, ...signs },
          ...sparse,
          effect: multiply("tf32"),
        },
      ),
      form(
        `wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype d, ${a}, b_desc, sp_meta, sp_sel, scale_d, imm_scale_a, imm_scale_b`,
        {
          where: { shape: shapes(64), dtype: halfOrSingle, atype: narrowTypes, btype: narrowTypes },
          operands: { ...operands, ...sparsity, ...signs },
          ...sparse,
          effect: multiply(null),
        },
      ),
      form(
        `wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.s32.atype.btype d, ${a}, b_desc, sp_meta, sp_sel, scale_d`,
        {
          where: { shape: shapes(64, sixteenths), atype: bytes, btype: bytes },
          operands: { ...operands, ...sparsity },
          ...sparse,
          effect: multiply(null),
          gates: mixed,
        },
      ),
    ]),
  ],
});

/** Section 9.7.15.7.1. */
const wgmmaFence = instruction("wgmma.fence", {
  summary: "orders register accesses before those of wgmma.mma_async",
  section: "9.7.15.7.1",
  forms: [
    form("wgmma.fence.sync.aligned", { ...hopper, effect: () => ordered({ kind: "order-products", step: "fence" }) }),
  ],
});

/** Section 9.7.15.7.2. */
const wgmmaCommitGroup = instruction("wgmma.commit_group", {
  summary: "commits the multiplications so far to a group",
  section: "9.7.15.7.2",
  forms: [
    form("wgmma.commit_group.sync.aligned", {
      ...hopper,
      effect: () => ordered({ kind: "order-products", step: "commit" }),
    }),
  ],
});

/** Section 9.7.15.7.3. */
const wgmmaWaitGroup = instruction("wgmma.wait_group", {
  summary: "waits until at most N groups of multiplications are pending",
  section: "9.7.15.7.3",
  forms: [
    form("wgmma.wait_group.sync.aligned N", {
      operands: { N: "imm u32" },
      ...hopper,
      effect: (_k, _src, _m, ops) =>
        ordered({ kind: "order-products", step: "wait", pending: Number(ops.constant("N")) }),
    }),
  ],
});

export const warpgroupInstructions = [wgmmaMmaAsync, wgmmaMmaAsyncSp, wgmmaFence, wgmmaCommitGroup, wgmmaWaitGroup];

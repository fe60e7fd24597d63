import { form, instruction } from "../define.ts";
import { unimplemented } from "./copy.ts";

const ranges = { dstMem: "address any", srcMem: "address any", size: "u32" };
const mbar = { mbar: "address shared" };
const policy = { cache_policy: "b64" };
const copied = { ...ranges, ...mbar, ...policy, ctaMask: "u16", byteMask: "u16" };
const hopper = { since: "8.0", target: "sm_90", anyOrder: true, unimplemented } as const;
const multimem = { since: "9.1", target: "sm_90", unimplemented } as const;
const cachePolicy = { cache_policy: "L2::cache_hint" } as const;
const mask = { cp_mask: { since: "8.6", target: "sm_100" } } as const;

/** Section 9.7.9.25.4.1. */
const cpAsyncBulk = instruction("cp.async.bulk", {
  summary: "copies a range of memory asynchronously",
  section: "9.7.9.25.4.1",
  forms: [
    form(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint} [dstMem], [srcMem], size, [mbar]{, cache_policy}",
      { ...hopper, since: "8.6", operands: copied, paired: cachePolicy },
    ),
    form(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint} [dstMem], [srcMem], size, [mbar]{, ctaMask}{, cache_policy}",
      { ...hopper, operands: copied, paired: { ...cachePolicy, ctaMask: "multicast::cluster" } },
    ),
    form("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dstMem], [srcMem], size, [mbar]", {
      ...hopper,
      operands: copied,
    }),
    form(
      "cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}{.cp_mask} [dstMem], [srcMem], size{, cache_policy}{, byteMask}",
      {
        ...{ since: "8.0", target: "sm_90", anyOrder: true },
        operands: copied,
        paired: { ...cachePolicy, byteMask: "cp_mask" },
        gates: mask,
        effect: (k, { dstMem, srcMem, size, byteMask = k.i32(0xffff) }) => ({
          kind: "unit",
          unit: { op: "bulk-store", from: "shared", to: "global" },
          operands: [dstMem, srcMem, size, byteMask],
        }),
      },
    ),
  ],
});

const reductions = ["and", "or", "xor", "add", "inc", "dec", "min", "max"] as const;
type Reduction = (typeof reductions)[number];
const sharedTypes = ["b32", "u32", "s32", "b64", "u64"] as const;
const globalTypes = ["f16", "bf16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"] as const;

const bitwise = (types: readonly string[]) => ({ and: types, or: types, xor: types });
const sharedTypesOf: Readonly<Record<Reduction, readonly string[]>> = {
  ...bitwise(["b32"]),
  add: ["u32", "s32", "u64"],
  inc: ["u32"],
  dec: ["u32"],
  min: ["u32", "s32"],
  max: ["u32", "s32"],
};
const globalTypesOf: Readonly<Record<Reduction, readonly string[]>> = {
  ...bitwise(["b32", "b64"]),
  add: ["u32", "s32", "u64", "f32", "f64"],
  inc: ["u32"],
  dec: ["u32"],
  min: ["u32", "s32", "u64", "s64", "f16", "bf16"],
  max: ["u32", "s32", "u64", "s64", "f16", "bf16"],
};
const reductionProblem =
  (typesOf: Readonly<Record<Reduction, readonly string[]>>) =>
  ({ redOp, type }: { readonly redOp: Reduction; readonly type: string }): string | null =>
    typesOf[redOp].includes(type)
      ? null
      : redOp === "add" && type.endsWith("f16")
        ? `adding '.${type}' needs '.noftz'`
        : `'.${redOp}' does not take '.${type}'`;

/** Section 9.7.9.25.4.2. */
const cpReduceAsyncBulk = instruction("cp.reduce.async.bulk", {
  summary: "reduces a range of memory into another asynchronously",
  section: "9.7.9.25.4.2",
  forms: [
    form(
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.redOp.type [dstMem], [srcMem], size, [mbar]",
      {
        ...hopper,
        where: { redOp: reductions, type: sharedTypes },
        operands: { ...ranges, ...mbar, ...policy },
        invalid: reductionProblem(sharedTypesOf),
      },
    ),
    form(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.redOp.type [dstMem], [srcMem], size{, cache_policy}",
      {
        ...hopper,
        where: { redOp: reductions, type: globalTypes },
        operands: { ...ranges, ...mbar, ...policy },
        paired: cachePolicy,
        invalid: reductionProblem(globalTypesOf),
      },
    ),
    form(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.type [dstMem], [srcMem], size{, cache_policy}",
      { ...hopper, where: { type: ["f16", "bf16"] }, operands: { ...ranges, ...mbar, ...policy }, paired: cachePolicy },
    ),
  ],
});

/** Section 9.7.9.25.4.3. */
const cpAsyncBulkPrefetch = instruction("cp.async.bulk.prefetch", {
  summary: "prefetches a range of global memory into the L2 cache",
  section: "9.7.9.25.4.3",
  forms: [
    form("cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [srcMem], size{, cache_policy}", {
      since: "8.0",
      target: "sm_90",
      operands: { size: "u32", ...policy },
      paired: cachePolicy,
      effect: () => ({ kind: "nothing" }),
    }),
  ],
});

/** Section 9.7.9.26. */
const multimemCpAsyncBulk = instruction("multimem.cp.async.bulk", {
  summary: "copies shared memory to all memories of a multimem address",
  section: "9.7.9.26",
  forms: [
    form("multimem.cp.async.bulk.global.shared::cta.bulk_group{.cp_mask} [dstMem], [srcMem], size{, byteMask}", {
      ...multimem,
      operands: { ...ranges, byteMask: "u16" },
      paired: { byteMask: "cp_mask" },
      gates: { cp_mask: { target: "sm_100" } },
    }),
  ],
});

/** Section 9.7.9.27. */
const multimemCpReduceAsyncBulk = instruction("multimem.cp.reduce.async.bulk", {
  summary: "reduces shared memory into all memories of a multimem address",
  section: "9.7.9.27",
  forms: [
    form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.redOp.type [dstMem], [srcMem], size", {
      ...multimem,
      where: { redOp: reductions, type: globalTypes },
      operands: ranges,
      invalid: reductionProblem(globalTypesOf),
    }),
    form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.type [dstMem], [srcMem], size", {
      ...multimem,
      where: { type: ["f16", "bf16"] },
      operands: ranges,
    }),
  ],
});

/** Section 9.7.9.27.2.1. */
const cpAsyncBulkCommitGroup = instruction("cp.async.bulk.commit_group", {
  summary: "commits the thread's bulk copies so far to a group",
  section: "9.7.9.27.2.1",
  forms: [form("cp.async.bulk.commit_group", { since: "8.0", target: "sm_90", unimplemented })],
});

/** Section 9.7.9.27.2.2. */
const cpAsyncBulkWaitGroup = instruction("cp.async.bulk.wait_group", {
  summary: "waits until at most N groups of bulk copies are pending",
  section: "9.7.9.27.2.2",
  forms: [
    form("cp.async.bulk.wait_group{.read} N", {
      operands: { N: "imm u32" },
      since: "8.0",
      target: "sm_90",
      unimplemented,
    }),
  ],
});

export const bulkInstructions = [
  cpAsyncBulk,
  cpReduceAsyncBulk,
  cpAsyncBulkPrefetch,
  multimemCpAsyncBulk,
  multimemCpReduceAsyncBulk,
  cpAsyncBulkCommitGroup,
  cpAsyncBulkWaitGroup,
];

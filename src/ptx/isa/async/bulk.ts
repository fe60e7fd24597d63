import type { OpOf, ReducedType, Reduction, Space, UnitOpOf } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { form, instruction, nothing } from "../define.ts";

const ranges = { dstMem: "address any", srcMem: "address any", size: "u32 multiple 16" };
const mbar = { mbar: "address shared" };
const policy = { cache_policy: "u64" };
const copied = { ...ranges, ...mbar, ...policy, ctaMask: "u16", byteMask: "u16" };
const hopper = { since: "8.0", target: "sm_90", anyOrder: true } as const;
const multimem = { since: "9.1", target: "sm_90" } as const;
const cachePolicy = { cache_policy: "L2::cache_hint" } as const;
const mask = { cp_mask: { since: "8.6", target: "sm_100" } } as const;

interface Ranges {
  readonly dstMem: Expr;
  readonly srcMem: Expr;
  readonly size: Expr;
  readonly mbar?: Expr;
  readonly ctaMask?: Expr | undefined;
  readonly byteMask?: Expr | undefined;
}

/** The copy of a range, or its reduction; an mbarrier counts it if there is one. */
function bulkCopy(
  from: Space,
  to: Space,
  ranges: Ranges,
  reduction: UnitOpOf<"bulk-copy">["reduction"] = null,
): OpOf<"unit"> {
  const { dstMem, srcMem, size, mbar, ctaMask, byteMask = kit.i32(0xffff) } = ranges;
  const completion = mbar === undefined ? "group" : "mbarrier";
  return {
    kind: "unit",
    unit: { op: "bulk-copy", from, to, reduction, completion, multicast: ctaMask !== undefined },
    operands: [dstMem, srcMem, size, byteMask, mbar ?? kit.i32(0), ctaMask ?? kit.i32(0)],
  };
}

/** Section 9.7.9.25.4.1. */
const cpAsyncBulk = instruction("cp.async.bulk", {
  summary: "copies a range of memory asynchronously",
  section: "9.7.9.25.4.1",
  forms: [
    form(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint} [dstMem], [srcMem], size, [mbar]{, cache_policy}",
      {
        ...hopper,
        since: "8.6",
        operands: copied,
        paired: cachePolicy,
        effect: (_, { dstMem, srcMem, size, mbar }) => bulkCopy("global", "shared", { dstMem, srcMem, size, mbar }),
      },
    ),
    form(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint} [dstMem], [srcMem], size, [mbar]{, ctaMask}{, cache_policy}",
      {
        ...hopper,
        operands: copied,
        paired: { ...cachePolicy, ctaMask: "multicast::cluster" },
        effect: (_, src) => bulkCopy("global", "shared-cluster", src),
      },
    ),
    form("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dstMem], [srcMem], size, [mbar]", {
      ...hopper,
      operands: copied,
      effect: (_, src) => bulkCopy("shared", "shared-cluster", src),
    }),
    form(
      "cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}{.cp_mask} [dstMem], [srcMem], size{, cache_policy}{, byteMask}",
      {
        ...hopper,
        operands: copied,
        paired: { ...cachePolicy, byteMask: "cp_mask" },
        gates: mask,
        effect: (_, src) => bulkCopy("shared", "global", src),
      },
    ),
  ],
});

const reductions = ["and", "or", "xor", "add", "inc", "dec", "min", "max"] as const satisfies readonly Reduction[];
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

/** "The current implementation of cp.reduce.async.bulk.add.f32 flushes subnormal inputs and results" (9.7.9.25.4.2). */
const reducing = (op: Reduction, type: Exclude<ReducedType, "f32ftz">): UnitOpOf<"bulk-copy">["reduction"] => ({
  op,
  type: type === "f32" ? "f32ftz" : type,
});

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
        effect: (_, src, { redOp, type }) => bulkCopy("shared", "shared-cluster", src, reducing(redOp, type)),
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
        effect: (_, src, { redOp, type }) => bulkCopy("shared", "global", src, reducing(redOp, type)),
      },
    ),
    form(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.type [dstMem], [srcMem], size{, cache_policy}",
      {
        ...hopper,
        where: { type: ["f16", "bf16"] },
        operands: { ...ranges, ...mbar, ...policy },
        paired: cachePolicy,
        effect: (_, src, { type }) => bulkCopy("shared", "global", src, reducing("add", type)),
      },
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
      operands: { size: "u32 multiple 16", ...policy },
      paired: cachePolicy,
      effect: nothing,
    }),
  ],
});

const oneDevice = "there is one device: a multimem address is one of global memory";

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
      note: oneDevice,
      effect: (_, src) => bulkCopy("shared", "global", src),
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
      note: oneDevice,
      effect: (_, src, { redOp, type }) => bulkCopy("shared", "global", src, reducing(redOp, type)),
    }),
    form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.type [dstMem], [srcMem], size", {
      ...multimem,
      where: { type: ["f16", "bf16"] },
      operands: ranges,
      note: oneDevice,
      effect: (_, src, { type }) => bulkCopy("shared", "global", src, reducing("add", type)),
    }),
  ],
});

/** Section 9.7.9.27.2.1. */
const cpAsyncBulkCommitGroup = instruction("cp.async.bulk.commit_group", {
  summary: "commits the thread's bulk copies so far to a group",
  section: "9.7.9.27.2.1",
  forms: [
    form("cp.async.bulk.commit_group", {
      since: "8.0",
      target: "sm_90",
      effect: () => ({ kind: "commit-copies", bulk: true }),
    }),
  ],
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
      effect: (_k, _src, { read }, ops) => ({
        kind: "await-copies",
        pending: Number(ops.constant("N")),
        ...{ all: false, bulk: true, read },
      }),
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

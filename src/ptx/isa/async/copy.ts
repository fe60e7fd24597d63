import { type Access, atAddress, type Op, plainAccess } from "../../../ir/index.ts";
import { type Expr, kit, type Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { arriving, begin, mbarrierOp, passing, settling } from "./mbarrier-word.ts";
import { prefetchSizes } from "../memory/access.ts";

const shared = { dst: ["shared", "shared::cta"], "level::prefetch_size": prefetchSizes } as const;
const addresses = { dst: "address shared", src: "address global" };
const paired = { cache_policy: "L2::cache_hint" };
const hint = { since: "7.4", target: "sm_80" } as const;
const gates = {
  "shared::cta": { since: "7.8" },
  "L2::cache_hint": hint,
  ...Object.fromEntries(prefetchSizes.map((size) => [size, hint])),
};
const ampere = { since: "7.0", target: "sm_80" } as const;

const accessOf = (space: "global" | "shared", bytes: number): Access => plainAccess(space, 32, bytes / 4, bytes);

interface CopyOperands {
  readonly dst: Expr;
  readonly src: Expr;
  readonly cp_size: Expr;
}

const bytesOf = ({ cp_size }: Pick<CopyOperands, "cp_size">): number =>
  cp_size.kind === "const" ? Number(cp_size.value) : 16;

/** The copy of `cp_size` bytes, of which `size` are read. */
function copyOf(operands: CopyOperands, size: Expr | null, whole: boolean): Op {
  const bytes = bytesOf(operands);
  return {
    kind: "copy",
    from: { access: accessOf("global", bytes), place: atAddress(operands.src) },
    to: { access: accessOf("shared", bytes), place: atAddress(operands.dst) },
    size,
    whole,
  };
}

const sized = (operands: CopyOperands & { readonly src_size?: Expr }): Op => {
  const { src_size = null } = operands;
  const isAll = src_size?.kind === "const" && Number(src_size.value) === bytesOf(operands);
  return copyOf(operands, isAll ? null : src_size, false);
};

const ignoring = (k: Kit, operands: CopyOperands & { readonly ignore_src: Expr }): Op =>
  copyOf(operands, k.select(operands.ignore_src, k.i32(0), k.i32(bytesOf(operands))), true);

/** 9.7.9.25.3.1: "Specifying src-size larger than cp-size results in undefined behavior". */
const tooLarge = {
  "operand-out-of-range": (
    k: Kit,
    { src_size, cp_size }: { readonly src_size?: Expr; readonly cp_size: Expr },
  ): Expr => (src_size === undefined ? kit.pred(false) : k.lt(cp_size, src_size, false)),
};

const resized = {
  where: shared,
  operands: { ...addresses, src_size: "u32 0..16", cache_policy: "u64" },
  paired,
  ...ampere,
  gates,
  undefinedCases: tooLarge,
} as const;

const ignorable = {
  where: shared,
  operands: { ...addresses, ignore_src: "reg pred", cache_policy: "u64" },
  paired,
  since: "7.5",
  target: "sm_80",
  gates: { "shared::cta": { since: "7.8" } },
} as const;

/** Section 9.7.9.25.3.1. `.ca` copies 4, 8 or 16 bytes, `.cg` 16. */
const cpAsync = instruction("cp.async", {
  summary: "copies from global to shared memory asynchronously",
  section: "9.7.9.25.3.1",
  forms: [
    form(
      "cp.async.ca.dst.global{.L2::cache_hint}{.level::prefetch_size} [dst], [src], cp_size{, src_size}{, cache_policy}",
      {
        ...resized,
        operands: { ...resized.operands, cp_size: "imm u32 4|8|16" },
        effect: (_, src) => sized(src),
      },
    ),
    form(
      "cp.async.cg.dst.global{.L2::cache_hint}{.level::prefetch_size} [dst], [src], cp_size{, src_size}{, cache_policy}",
      {
        ...resized,
        operands: { ...resized.operands, cp_size: "imm u32 16..16" },
        effect: (_, src) => sized(src),
      },
    ),
    form(
      "cp.async.ca.dst.global{.L2::cache_hint}{.level::prefetch_size} [dst], [src], cp_size, ignore_src{, cache_policy}",
      {
        ...ignorable,
        operands: { ...ignorable.operands, cp_size: "imm u32 4|8|16" },
        effect: (k, src) => ignoring(k, src),
      },
    ),
    form(
      "cp.async.cg.dst.global{.L2::cache_hint}{.level::prefetch_size} [dst], [src], cp_size, ignore_src{, cache_policy}",
      {
        ...ignorable,
        operands: { ...ignorable.operands, cp_size: "imm u32 16..16" },
        effect: (k, src) => ignoring(k, src),
      },
    ),
  ],
});

/** Section 9.7.9.25.3.2. */
const cpAsyncCommitGroup = instruction("cp.async.commit_group", {
  summary: "commits the thread's copies so far to a group",
  section: "9.7.9.25.3.2",
  forms: [form("cp.async.commit_group", { ...ampere, effect: () => ({ kind: "commit-copies", bulk: false }) })],
});

/** Section 9.7.9.25.3.3. */
const cpAsyncWaitGroup = instruction("cp.async.wait_group", {
  summary: "waits until at most N groups of copies are pending",
  section: "9.7.9.25.3.3",
  forms: [
    form("cp.async.wait_group N", {
      operands: { N: "imm u32" },
      ...ampere,
      effect: (_k, _src, _m, ops) => ({
        kind: "await-copies",
        pending: Number(ops.constant("N")),
        all: false,
        bulk: false,
        read: false,
      }),
    }),
  ],
});

/** Section 9.7.9.25.3.3. */
const cpAsyncWaitAll = instruction("cp.async.wait_all", {
  summary: "waits for all copies of the thread",
  section: "9.7.9.25.3.3",
  forms: [
    form("cp.async.wait_all", {
      ...ampere,
      effect: () => ({ kind: "await-copies", pending: 0, all: true, bulk: false, read: false }),
    }),
  ],
});

/** Section 9.7.13.15.15. */
const cpAsyncMbarrierArrive = instruction("cp.async.mbarrier.arrive", {
  summary: "arrives at an mbarrier when the thread's copies so far are complete",
  section: "9.7.13.15.15",
  forms: [
    form("cp.async.mbarrier.arrive{.noinc}{.ss}.b64 [addr]", {
      where: { ss: ["shared", "shared::cta"] },
      ...ampere,
      gates: { "shared::cta": { since: "7.8" } },
      effect: (_, { addr }, { noinc, ss }) => ({
        ...mbarrierOp(
          { address: addr, space: ss, ordering: { order: "release", scope: "cta" } },
          noinc ? settling(arriving(begin, kit.i32(1), false)) : passing(),
        ),
        tracks: { what: "copies", raises: !noinc },
      }),
    }),
  ],
});

export const copyInstructions = [cpAsync, cpAsyncCommitGroup, cpAsyncWaitGroup, cpAsyncWaitAll, cpAsyncMbarrierArrive];

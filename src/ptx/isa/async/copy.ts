import { form, instruction } from "../define.ts";
import { prefetchSizes } from "../memory/access.ts";

export const unimplemented = "asynchronous copies are not modelled yet";

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

/** Section 9.7.9.25.3.1. `.ca` copies 4, 8 or 16 bytes, `.cg` 16. */
const cpAsync = instruction("cp.async", {
  summary: "copies from global to shared memory asynchronously",
  section: "9.7.9.25.3.1",
  forms: [
    form(
      "cp.async.ca.dst.global{.L2::cache_hint}{.level::prefetch_size} [dst], [src], cp_size{, src_size}{, cache_policy}",
      {
        where: shared,
        operands: { ...addresses, cp_size: "imm u32 4|8|16", src_size: "u32 0..16", cache_policy: "b64" },
        paired,
        ...ampere,
        gates,
        unimplemented,
      },
    ),
    form(
      "cp.async.cg.dst.global{.L2::cache_hint}{.level::prefetch_size} [dst], [src], cp_size{, src_size}{, cache_policy}",
      {
        where: shared,
        operands: { ...addresses, cp_size: "imm u32 16..16", src_size: "u32 0..16", cache_policy: "b64" },
        paired,
        ...ampere,
        gates,
        unimplemented,
      },
    ),
    form(
      "cp.async.ca.dst.global{.L2::cache_hint}{.level::prefetch_size} [dst], [src], cp_size, ignore_src{, cache_policy}",
      {
        where: shared,
        operands: { ...addresses, cp_size: "imm u32 4|8|16", ignore_src: "reg pred", cache_policy: "b64" },
        paired,
        since: "7.5",
        target: "sm_80",
        gates: { "shared::cta": { since: "7.8" } },
        unimplemented,
      },
    ),
    form(
      "cp.async.cg.dst.global{.L2::cache_hint}{.level::prefetch_size} [dst], [src], cp_size, ignore_src{, cache_policy}",
      {
        where: shared,
        operands: { ...addresses, cp_size: "imm u32 16..16", ignore_src: "reg pred", cache_policy: "b64" },
        paired,
        since: "7.5",
        target: "sm_80",
        gates: { "shared::cta": { since: "7.8" } },
        unimplemented,
      },
    ),
  ],
});

/** Section 9.7.9.25.3.2. */
const cpAsyncCommitGroup = instruction("cp.async.commit_group", {
  summary: "commits the thread's copies so far to a group",
  section: "9.7.9.25.3.2",
  forms: [form("cp.async.commit_group", { ...ampere, unimplemented })],
});

/** Section 9.7.9.25.3.3. */
const cpAsyncWaitGroup = instruction("cp.async.wait_group", {
  summary: "waits until at most N groups of copies are pending",
  section: "9.7.9.25.3.3",
  forms: [form("cp.async.wait_group N", { operands: { N: "imm u32" }, ...ampere, unimplemented })],
});

/** Section 9.7.9.25.3.3. */
const cpAsyncWaitAll = instruction("cp.async.wait_all", {
  summary: "waits for all copies of the thread",
  section: "9.7.9.25.3.3",
  forms: [form("cp.async.wait_all", { ...ampere, unimplemented })],
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
      unimplemented,
    }),
  ],
});

export const copyInstructions = [cpAsync, cpAsyncCommitGroup, cpAsyncWaitGroup, cpAsyncWaitAll, cpAsyncMbarrierArrive];

import { form, instruction, nothing } from "../define.ts";

/** The effect of instructions on caches, which programs cannot observe. */
/** Section 9.7.9.15. */
export const prefetch = instruction("prefetch", {
  summary: "prefetches a cache line",
  section: "9.7.9.15",
  forms: [
    form("prefetch{.space}.level [a]", {
      where: { space: ["global", "local"], level: ["L1", "L2"] },
      since: "2.0",
      target: "sm_20",
      effect: nothing,
    }),
    form("prefetch{.space}.level::eviction_priority [a]", {
      where: { space: ["global"], "level::eviction_priority": ["L2::evict_last", "L2::evict_normal"] },
      since: "7.4",
      target: "sm_80",
      effect: nothing,
    }),
    form("prefetch{.tensormap_space}.tensormap [a]", {
      where: { tensormap_space: ["const", "param"] },
      since: "8.0",
      target: "sm_90",
      effect: nothing,
    }),
  ],
});

/** Section 9.7.9.15. */
export const prefetchu = instruction("prefetchu", {
  summary: "prefetches a line into the uniform cache",
  section: "9.7.9.15",
  forms: [form("prefetchu.L1 [a]", { since: "2.0", target: "sm_20", effect: nothing })],
});

/** Section 9.7.9.16. */
export const applypriority = instruction("applypriority", {
  summary: "sets the eviction priority of cached data",
  section: "9.7.9.16",
  forms: [
    form("applypriority{.global}.L2::evict_normal [a], size", {
      operands: { size: "imm u32 128..128" },
      since: "7.4",
      target: "sm_80",
      effect: nothing,
    }),
  ],
});

/** Section 9.7.9.17. */
export const discard = instruction("discard", {
  summary: "discards cached data without writing it back",
  section: "9.7.9.17",
  forms: [
    form("discard{.global}.L2 [a], size", {
      operands: { size: "imm u32 128..128" },
      since: "7.4",
      target: "sm_80",
      note: "the data become indeterminate; here they stay unchanged, which is one of the allowed outcomes",
      effect: nothing,
    }),
  ],
});

const primary = ["L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"] as const;
const secondary = ["L2::evict_first", "L2::evict_unchanged"] as const;
const policies = { "level::primary_priority": primary, "level::secondary_priority": secondary };
const note = "a policy is opaque and only a hint to memory instructions; here it is 0";

/** Section 9.7.9.18. */
export const createpolicy = instruction("createpolicy", {
  summary: "makes a cache eviction policy",
  section: "9.7.9.18",
  forms: [
    form(
      "createpolicy.range{.global}.level::primary_priority{.level::secondary_priority}.b64 d, [a], primary_size, total_size",
      {
        where: policies,
        operands: { d: "u64", primary_size: "u32", total_size: "u32" },
        since: "7.4",
        target: "sm_80",
        note,
        sem: (k) => k.i64(0n),
      },
    ),
    form("createpolicy.fractional.level::primary_priority{.level::secondary_priority}.b64 d{, fraction}", {
      where: policies,
      operands: { d: "u64", fraction: "f32 0..1" },
      since: "7.4",
      target: "sm_80",
      note,
      sem: (k) => k.i64(0n),
    }),
    form("createpolicy.cvt.L2.b64 d, access_property", {
      since: "7.4",
      target: "sm_80",
      sem: (_, { access_property }) => access_property,
    }),
  ],
});

import { scopes, windowGates } from "../memory/access.ts";

/** Gates of generic addressing and of shared memory. */
export const spaceGates = {
  "!space": { since: "2.0", target: "sm_20" },
  shared: { since: "1.2", target: "sm_12" },
  ...windowGates,
};

/** Gates of operations on 64 bits and on floating-point numbers, which were added later than the others. */
export const combinationGates = {
  b64: { since: "1.2", target: "sm_12" },
  u64: { since: "1.2", target: "sm_12" },
  ...Object.fromEntries(
    ["and+b64", "or+b64", "xor+b64", "s64", "min+u64", "max+u64"].map((key) => [
      key,
      { since: "3.1", target: "sm_32" },
    ]),
  ),
  f32: { since: "2.0", target: "sm_20" },
  f64: { since: "5.0", target: "sm_60" },
};

/** Gates of `.sem` and `.scope`. */
export const orderGates = (sems: readonly string[]) => ({
  ...Object.fromEntries(scopes.map((scope) => [scope, { since: "5.0", target: "sm_60" }])),
  cluster: { since: "7.8", target: "sm_90" },
  ...Object.fromEntries(sems.map((sem) => [sem, { since: "6.0", target: "sm_70" }])),
});

/** The same for forms that were added after `.sem` and `.scope`. */
export const laterOrderGates = (sems: readonly string[]) => ({
  cluster: { since: "7.8", target: "sm_90" },
  ...Object.fromEntries(sems.map((sem) => [sem, { target: "sm_70" }])),
});

export const hintGate = { "L2::cache_hint": { since: "7.4", target: "sm_80" } };

/** Gates of the types that were added after f16x2. */
export const halfGates = {
  f16: { since: "6.3", target: "sm_70" },
  bf16: { since: "7.8", target: "sm_90" },
  bf16x2: { since: "7.8", target: "sm_90" },
};

export const vectorGates = { since: "8.1", target: "sm_90" } as const;

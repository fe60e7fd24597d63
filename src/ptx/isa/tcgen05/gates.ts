import type { Step } from "../define.ts";

/** The gate of the fifth generation of tensor cores: the families of sm_100 and sm_110. */
export const generation = {
  since: "8.6",
  target: ["sm_100f", "sm_110f"],
} as const;

/** The targets of features that the families do not include. */
export const exact = ["sm_100a", "sm_110a"] as const;

export const groups = ["cta_group::1", "cta_group::2"] as const;

/** The steps of an instruction for one block; for a pair of blocks they are refused. */
export const forBlock = (
  { cta_group }: { readonly cta_group: string },
  name: string,
  steps: readonly Step[],
): readonly Step[] =>
  cta_group === "cta_group::1"
    ? steps
    : [{ op: { kind: "unsupported", what: name, reason: "pairs of blocks are not modelled yet" }, dst: [] }];

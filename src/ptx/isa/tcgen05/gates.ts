/** The gate of the fifth generation of tensor cores: the families of sm_100 and sm_110. */
export const generation = {
  since: "8.6",
  target: ["sm_100f", "sm_110f"],
} as const;

/** The targets of features that the families do not include. */
export const exact = ["sm_100a", "sm_110a"] as const;

export const groups = ["cta_group::1", "cta_group::2"] as const;

/** Whether an instruction is for both blocks of a pair. */
export const isForPair = ({ cta_group }: { readonly cta_group: string }): boolean => cta_group === "cta_group::2";

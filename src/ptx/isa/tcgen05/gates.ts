/** The gate of the fifth generation of tensor cores: the families of sm_100 and sm_110. */
export const generation = {
  since: "8.6",
  target: ["sm_100f", "sm_110f"],
  unimplemented: "tensor memory and its instructions are not modelled yet",
} as const;

/** The targets of features that the families do not include. */
export const exact = ["sm_100a", "sm_110a"] as const;

export const groups = ["cta_group::1", "cta_group::2"] as const;

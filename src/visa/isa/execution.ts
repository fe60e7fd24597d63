/**
 * What executing an instruction means. `flow` instructions are known to the lowering by their names; rows that are not
 * modelled say why.
 */
export type Execution = { readonly kind: "flow" } | { readonly kind: "none"; readonly reason: string };

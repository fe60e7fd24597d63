import type { MemoryAction } from "./memory-action.ts";

/**
 * What executing an instruction means. `flow` instructions are known to the lowering by their names; rows that are not
 * modelled say why.
 */
export type Execution =
  | { readonly kind: "flow" }
  | { readonly kind: "memory"; readonly action: MemoryAction }
  | { readonly kind: "none"; readonly reason: string };

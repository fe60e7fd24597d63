export * from "./accesses.ts";
export * from "./bit-set.ts";
export * from "./divergence.ts";
export * from "./dominance.ts";
export * from "./flow-graph.ts";
export * from "./liveness.ts";
export * from "./loops.ts";
export * from "./frame-promotion.ts";
export { functionsWithAddress } from "./passing.ts";

export * from "./expr.ts";
export * from "./fold.ts";
export * from "./kit.ts";
export * from "./prim.ts";
export * from "./print.ts";
export { mapChanged, rewriteLeaves } from "./rewrite.ts";
export * from "./prims/index.ts";
export { packedFormats } from "./prims/systolic.ts";
export * from "./types.ts";

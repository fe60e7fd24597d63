/** The syntax tree of a module, and the symbols that its names stand for. */
export type * from "./leaves.ts";
export type * from "./module.ts";
export type * from "./nodes.ts";

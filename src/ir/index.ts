export * from "./instruction.ts";
export * from "./module.ts";

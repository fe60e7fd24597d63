export * from "./address-map.ts";
export * from "./instruction.ts";
export * from "./module.ts";

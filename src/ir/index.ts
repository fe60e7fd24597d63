export * from "./address-map.ts";
export * from "./byte-file.ts";
export * from "./instruction.ts";
export * from "./module.ts";

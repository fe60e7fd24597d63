export * from "./diagnostic.ts";
export * from "./source-text.ts";

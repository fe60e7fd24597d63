export * from "./diagnostic.ts";
export * from "./frame.ts";
export * from "./glyphs.ts";
export * from "./json.ts";
export * from "./nearest.ts";
export * from "./render.ts";
export * from "./source-text.ts";
export * from "./style.ts";

/**
 * Texts and what there is to say about them: `SourceText` finds lines and columns, a `Diagnostic` names a place and
 * what is wrong there, and `renderDiagnostic` and `diagnosticToJson` show it as a code frame or as data.
 *
 * @module lanewise/source
 */
export * from "./decode.ts";
export * from "./diagnostic.ts";
export * from "./frame.ts";
export * from "./glyphs.ts";
export * from "./json.ts";
export * from "./nearest.ts";
export * from "./origin.ts";
export * from "./render.ts";
export * from "./source-text.ts";
export * from "./style.ts";

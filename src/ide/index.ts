/**
 * A language service for PTX and vISA: documents that are being edited go in, and what an editor shows of them comes
 * out as plain data. `Workspace` has the documents; `lanewise lsp` is a language server over it.
 *
 * @module lanewise/ide
 */
export * from "./base/results.ts";
export { Workspace } from "./workspace.ts";

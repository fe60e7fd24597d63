/**
 * Intel vISA, as text from version 3.6 to 4.2 and as CISA files from 3.0 to 4.2: `parseVisa` parses text to a tree,
 * `readCisa` reads a file to the same tree, `bindVisa` and `checkVisa` bind names and check it, `linkVisa` resolves
 * names between files, and `lowerVisa` lowers the program to lane IR. `printVisa` prints a tree, `writeCisa` writes it
 * to a file. `rows` is the table of instructions.
 *
 * Nothing throws on wrong input: diagnostics say what is wrong.
 *
 * @module lanewise/visa
 */
export * from "./check/index.ts";
export * from "./cisa/index.ts";
export { type PayloadPlace, payloadPlaces } from "./lower/layout.ts";
export { type LowerOptions, lowerVisa } from "./lower/lower.ts";
export type { DataPlace, DataRelocation, DataSymbols } from "./lower/symbols.ts";
export { parseVisa, type ParseVisaOptions } from "./parser/index.ts";
export { printVisa } from "./printer/index.ts";
export type * from "./isa/execution.ts";
export type { MemoryAction } from "./isa/memory-action.ts";
export * from "./isa/row.ts";
export type { PackedParameters, SamplerParameter } from "./isa/sampler-parameters.ts";
export { rows, rowsOfMnemonic, rowsOfOpcode } from "./isa/table.ts";
export * from "./symbols.ts";
/** The nodes of the syntax tree. */
export type * as tree from "./tree.ts";
export * from "./types.ts";

export type { Block } from "./entries.ts";
export type { CodeRange } from "./lists.ts";
export { evaluateLocation, type LocationContext, type Place } from "./location.ts";
export {
  type DebugProgram,
  readDebugProgram,
  type SourceScope,
  type SourceVariable,
} from "./program.ts";
export { type Address, DwarfError } from "./reader.ts";
export type { DebugSection, DebugSections, SymbolReference } from "./sections.ts";
export { type BaseEncoding, type Member, plainType, sizeOfType, type SourceType, typeName } from "./types.ts";
export { LineTable } from "./lines.ts";

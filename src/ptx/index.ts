/**
 * NVIDIA PTX as text, from PTX ISA 1.0 to 9.1: `parsePtx` parses a module to a tree, `checkPtx` binds names and checks
 * it, `linkPtx` resolves names between modules, and `lowerModules` lowers the program to lane IR. `printPtx` prints a
 * tree in canonical form, `printLinked` a linked program as one module. `instructionSet` is the table of instructions.
 *
 *     const { tree, diagnostics } = parsePtx(new SourceText("saxpy.ptx", text));
 *     const module = checkPtx(tree);
 *     const errors = [...diagnostics, ...module.diagnostics].filter(({ severity }) => severity === "error");
 *
 * Nothing throws on wrong input: diagnostics say what is wrong. Numbers such as (11.2.1) in the documentation are
 * sections of the PTX manual.
 *
 * @module lanewise/ptx
 */
export type { BodyInfo, FormalSymbol } from "./check/context.ts";
export type { CallInfo } from "./check/calls.ts";
export type { Shape } from "./check/shape.ts";
export type { CallSignature, FormalShape } from "./check/signature.ts";
export type { Target } from "./check/target.ts";
export { checkPtx, type CheckedModule, type CheckOptions } from "./check/check.ts";
export * from "./isa/index.ts";
/** The notation in which the table writes the forms of instructions, as types. */
export type * as template from "./isa/template.ts";
export type { Kit } from "../semantics/index.ts";
export { type LinkedProgram, linkPtx } from "./link/resolve.ts";
export { printLinked } from "./link/print.ts";
export type { LinkNames } from "./lower/link-names.ts";
export { lowerModules } from "./lower/lower.ts";
export { parsePtx } from "./parser/index.ts";
export { printPtx } from "./printer.ts";
export type {
  ConstantSymbol,
  LabelSymbol,
  SpecialSymbol,
} from "./tree/leaves.ts";
export type {
  FunctionSymbol,
  ParameterSymbol,
  PrototypeSymbol,
  PtxSymbol,
  RegisterSymbol,
  TargetListSymbol,
  VariableSymbol,
} from "./tree/nodes.ts";
/** The nodes of the syntax tree, and the symbols that names are bound to. */
export type * as tree from "./tree/index.ts";
export * from "./types.ts";

import type { Span } from "../source/index.ts";
import type {
  CallPrototype,
  Declarator,
  FunctionDeclaration,
  Label,
  Linkage,
  Parameter,
  TargetList,
  VariableDeclaration,
} from "./tree.ts";
import type { TypeInfo } from "./types.ts";

/**
 * The meaning of a name. Each declared thing has one symbol, which all its names share; compare symbols by identity.
 */
export type PtxSymbol =
  | RegisterSymbol
  | VariableSymbol
  | ParameterSymbol
  | FunctionSymbol
  | LabelSymbol
  | TargetListSymbol
  | PrototypeSymbol
  | SpecialSymbol
  | ConstantSymbol;

interface SymbolBase {
  readonly name: string;
  /** The declaring name in the module's source; empty at 0 for predefined names. */
  readonly span: Span;
}

/** A `.reg` variable (5.1.1), or one of a parameterized set (`r3` of `r<8>`; its span is that of the set). */
export interface RegisterSymbol extends SymbolBase {
  readonly kind: "register";
  readonly type: TypeInfo;
  /** Number of elements: 1 for a scalar, 2 or 4 for `.v2` and `.v4` registers. */
  readonly vector: number;
  /** The `.reg` formal parameter that this register is, or null. */
  readonly parameter: Parameter | null;
  /** The register's number within its function, from 0 in order of first use; -1 while it is unused. */
  readonly index: number;
}

/** A variable in memory (5.1). A `.param` variable is an argument or result of a call, not a formal parameter. */
export interface VariableSymbol extends SymbolBase {
  readonly kind: "variable";
  readonly space: "global" | "const" | "shared" | "local" | "param" | "tex" | "sreg";
  readonly type: TypeInfo;
  /** Elements of a vector; 1 for a scalar. */
  readonly vector: number;
  /** Array bounds, outermost first; null for a bound left open. Empty if it is not an array. */
  readonly dimensions: readonly (number | null)[];
  /** Total size in bytes; 0 if the outermost bound is open. */
  readonly size: number;
  /** In bytes. */
  readonly align: number;
  readonly linkage: Linkage | null;
  /** The function whose body declares the variable, or null at module scope. */
  readonly owner: FunctionDeclaration | null;
  readonly declaration: VariableDeclaration;
  readonly declarator: Declarator;
}

/** A `.param` formal parameter or return parameter of a function or kernel (5.1.6). */
export interface ParameterSymbol extends SymbolBase {
  readonly kind: "parameter";
  readonly type: TypeInfo;
  /** Elements of a vector; 1 for a scalar. */
  readonly vector: number;
  /** Array bounds, outermost first; null for a bound left open. Empty if it is not an array. */
  readonly dimensions: readonly (number | null)[];
  /** Total size in bytes; 0 if the outermost bound is open. */
  readonly size: number;
  /** In bytes. */
  readonly align: number;
  /** A kernel's parameter, or the input or return parameter of a function. */
  readonly role: "kernel" | "input" | "return";
  /** `.param .b8 x[]`: takes an array of any size. */
  readonly unsized: boolean;
  readonly parameter: Parameter;
}

/** A `.func` or `.entry` (11.2). */
export interface FunctionSymbol extends SymbolBase {
  readonly kind: "function";
  /** Whether it is a kernel. */
  readonly entry: boolean;
  /** The definition if there is one, else the first declaration. */
  declaration: FunctionDeclaration;
  /** All declarations and the definition, in source order. */
  readonly declarations: FunctionDeclaration[];
  /** The function that `.alias` makes this name stand for (11.2.3), or null. */
  aliasOf: FunctionSymbol | null;
}

/** A label of code, a target of branches. */
export interface LabelSymbol extends SymbolBase {
  readonly kind: "label";
  readonly label: Label;
}

/** The label of a `.branchtargets` or `.calltargets` (11.3). */
export interface TargetListSymbol extends SymbolBase {
  readonly kind: "target-list";
  readonly list: TargetList;
}

/** The label of a `.callprototype` (11.3.3). */
export interface PrototypeSymbol extends SymbolBase {
  readonly kind: "prototype";
  readonly prototype: CallPrototype;
}

/** A special register (chapter 10), such as `%tid`; the name's `component` selects `.x`, `.y`, `.z` or `.w`. */
export interface SpecialSymbol extends SymbolBase {
  readonly kind: "special";
  readonly type: TypeInfo;
  /** Elements: 4 for `%tid` and its like, else 1. */
  readonly vector: number;
}

/** The predefined constant `WARP_SZ` (4.5.1). */
export interface ConstantSymbol extends SymbolBase {
  readonly kind: "constant";
  readonly value: bigint;
}

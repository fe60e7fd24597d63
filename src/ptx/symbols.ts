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

/** What a name means. One object per declared thing: names that mean the same thing hold the same object. */
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
  /** The declaring name in the module's source. */
  readonly span: Span;
}

/** A `.reg` variable, or one of a parameterized set (`r3` of `r<8>`; its span is the set's). */
export interface RegisterSymbol extends SymbolBase {
  readonly kind: "register";
  readonly type: TypeInfo;
  /** Elements: 1 for a scalar; 2 or 4 for `.v2 .v4` registers. */
  readonly vector: number;
  /** A `.reg` formal parameter of a function, or null. */
  readonly parameter: Parameter | null;
  /** Counts registers of the function from 0, in order of first meeting; the lowering's index. */
  readonly index: number;
}

/** A variable in memory: `.global .const .shared .local .param .tex` (a `.param` here is a call argument, not a formal). */
export interface VariableSymbol extends SymbolBase {
  readonly kind: "variable";
  readonly space: "global" | "const" | "shared" | "local" | "param" | "tex" | "sreg";
  readonly type: TypeInfo;
  readonly vector: number;
  /** Array bounds, outermost first; null where left open. Empty for a scalar. */
  readonly dimensions: readonly (number | null)[];
  /** Bytes in all; 0 where the outermost bound is open. */
  readonly size: number;
  readonly align: number;
  readonly linkage: Linkage | null;
  /** The function whose body declares it, or null at module scope. */
  readonly owner: FunctionDeclaration | null;
  readonly declaration: VariableDeclaration;
  readonly declarator: Declarator;
}

/** A `.param` formal parameter (or return parameter) of a function or kernel. */
export interface ParameterSymbol extends SymbolBase {
  readonly kind: "parameter";
  readonly type: TypeInfo;
  readonly vector: number;
  readonly dimensions: readonly (number | null)[];
  readonly size: number;
  readonly align: number;
  readonly role: "kernel" | "input" | "return";
  readonly unsized: boolean;
  readonly parameter: Parameter;
}

export interface FunctionSymbol extends SymbolBase {
  readonly kind: "function";
  readonly entry: boolean;
  /** The definition where there is one, else the first declaration. Filled as declarations come. */
  declaration: FunctionDeclaration;
  /** All declarations and the definition, in order. */
  readonly declarations: FunctionDeclaration[];
  /** `.alias`: the function that this name stands for. */
  aliasOf: FunctionSymbol | null;
}

export interface LabelSymbol extends SymbolBase {
  readonly kind: "label";
  readonly label: Label;
}

export interface TargetListSymbol extends SymbolBase {
  readonly kind: "target-list";
  readonly list: TargetList;
}

export interface PrototypeSymbol extends SymbolBase {
  readonly kind: "prototype";
  readonly prototype: CallPrototype;
}

/** A special register (chapter 10); `component` of the name chooses `.x .y .z .w`. */
export interface SpecialSymbol extends SymbolBase {
  readonly kind: "special";
  readonly type: TypeInfo;
  readonly vector: number;
}

/** `WARP_SZ`. */
export interface ConstantSymbol extends SymbolBase {
  readonly kind: "constant";
  readonly value: bigint;
}

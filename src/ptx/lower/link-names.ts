import type { FunctionSymbol, VariableSymbol } from "../tree/nodes.ts";

/** The decisions of the linker: program-wide names, and which definitions are used. */
export interface LinkNames {
  /** The program-wide name of a function or variable of one of the modules. */
  nameOf(symbol: FunctionSymbol | VariableSymbol): string;
  /**
   * False for a declaration whose definition is in another module, and for a definition that another takes precedence
   * over.
   */
  defines(symbol: FunctionSymbol | VariableSymbol): boolean;
}

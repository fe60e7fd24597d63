import type { Features, LibraryFunction } from "./graph.ts";
import type { WasmTy } from "./operation.ts";

/** What a function's code needs of the module around it: the functions that its graphs call, which go by name. */
export interface ModuleScope {
  readonly features: Features;
  /** Imports a host function, unless it is already imported, and returns its name. */
  hostFunction(name: string, params: readonly WasmTy[], result: WasmTy): string;
  /** Adds a library function to the module, unless it is already there, and returns its name. */
  library(f: LibraryFunction): string;
}

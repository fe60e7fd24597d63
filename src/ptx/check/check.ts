import { DiagnosticSink } from "../../source/index.ts";
import type { Module } from "../tree/module.ts";
import type { CheckedModule } from "./checked-module.ts";
import { ModuleChecker } from "./module-checker.ts";

export type { CheckedModule } from "./checked-module.ts";

/** Options of `checkPtx`. */
export interface CheckOptions {
  /** The maximum number of diagnostics to keep. */
  readonly limit?: number;
  /** Bits of the addresses of a module that does not say. Default: 32 (11.1.3). */
  readonly addressSize?: 32 | 64 | undefined;
}

/**
 * Checks a tree that `parsePtx` returned: header, declarations, names, instructions, operands, calls. Sets `symbol` of
 * names and `resolved` of instructions in the tree. What is wrong goes into `diagnostics`; never throws.
 */
export function checkPtx(tree: Module, options: CheckOptions = {}): CheckedModule {
  const { limit, addressSize } = options;
  const checker = new ModuleChecker([tree], new DiagnosticSink(tree.source, limit), null, addressSize);
  return { module: tree, ...checker.check() };
}

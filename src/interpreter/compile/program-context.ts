import type { IrModule } from "../../ir/index.ts";
import type { AddressSpace } from "../../machine/memory/address-space.ts";
import type { ExternalFunction } from "../../machine/state/externals.ts";
import type { Bindings } from "../../semantics/bind.ts";
import type { ExprCompiler } from "./expr-compiler.ts";
import type { LoadedFunction } from "./loaded-function.ts";

/** What decoding a function needs to know of the program around it. */
export interface ProgramContext {
  readonly module: IrModule;
  readonly addresses: AddressSpace;
  readonly bindings: Bindings;
  readonly compiler: ExprCompiler;
  /** Whether code may be made from text. */
  readonly generate: boolean;
  /** Whether a basic block ends before each instruction that other threads can see, so that they may come between. */
  readonly fine: boolean;
  /** The function of that name, through aliases. */
  readonly functionNamed: (name: string) => LoadedFunction | null;
  /** Functions in the order of their addresses. */
  readonly functions: readonly LoadedFunction[];
  readonly externals: ReadonlyMap<string, ExternalFunction>;
}

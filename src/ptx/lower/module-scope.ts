import type { CheckedModule } from "../check/check.ts";
import type { VariableSymbol } from "../tree/nodes.ts";
import type { ModuleSections } from "./debug-sections.ts";
import type { LinkNames } from "./link-names.ts";

/** What the functions of a module share while they are lowered. */
export interface ModuleScope {
  readonly checked: CheckedModule;
  readonly names: LinkNames;
  /** The `.file` directives: the name by index. */
  readonly files: ReadonlyMap<number, string>;
  /** The `.section` directives. */
  readonly sections: ModuleSections;
  /** The `.local` variables at module scope (before PTX ISA 3.0). */
  readonly locals: readonly VariableSymbol[];
  /** Whether there are `.reg` variables at module scope (before PTX ISA 3.0). */
  readonly sharesRegisters: boolean;
}

import type { IrModule } from "../../ir/index.ts";
import type { CheckedModule } from "../check/check.ts";
import type { LinkNames } from "./link-names.ts";
import { ModuleLowering } from "./module-lowering.ts";

/**
 * Lowers modules without errors to one lane IR module for `target` (such as "sm_90"). Reports nothing, because the
 * checker and the linker have reported all errors: an instruction that is not modelled becomes an `unsupported`
 * operation, and a launch that could reach it is refused. Throws only if `modules` is empty.
 */
export function lowerModules(modules: readonly CheckedModule[], names: LinkNames, target: string): IrModule {
  const lowered = modules.map((checked) => new ModuleLowering(checked, names).lower());
  const [first] = lowered;
  if (first === undefined) throw new Error("there is no module to lower");
  const functions = lowered.flatMap((m) => m.functions);
  const aliases = new Map<string, number>();
  let start = 0;
  for (const module of lowered) {
    for (const [alias, index] of module.aliases) aliases.set(alias, start + index);
    start += module.functions.length;
  }
  return { ...first, target, functions, variables: lowered.flatMap((m) => m.variables), aliases };
}

import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { ModuleUnit } from "./module-unit.ts";

/**
 * The number of the table that says where a call by address may go. Calls that may go to the same functions share one.
 */
export function targetTable({ targets: tables }: ModuleUnit, targets: readonly CompiledFunction[]): number {
  const known = tables.findIndex((t) => t.length === targets.length && t.every((f, i) => f === targets[i]));
  return known >= 0 ? known : tables.push(targets) - 1;
}

import type { CheckedModule } from "../check/check.ts";
import { opaqueTypes } from "../check/shape.ts";
import type { FunctionSymbol, VariableSymbol } from "../symbols.ts";

/** What has a name that other modules may use. */
export type Linkable = FunctionSymbol | VariableSymbol;

/**
 * How a module holds a name. `static`: to itself. `missing`: to itself, but without a definition. `dynamic`: the shared memory
 * whose size the launch gives, which nobody defines. `extern`: it needs the name. The others define it for all modules, the
 * later in this list before the earlier; a common variable with an initial value is as good as a visible one (11.6.4).
 */
type Binding = "static" | "missing" | "dynamic" | "extern" | "common" | "weak" | "strong";

const ranks: Readonly<Record<Binding, number>> = {
  static: 0,
  missing: 0,
  dynamic: 0,
  extern: 0,
  common: 1,
  weak: 2,
  strong: 3,
};

/** One module's idea of a name. */
export interface Entry {
  readonly module: CheckedModule;
  readonly symbol: Linkable;
  readonly binding: Binding;
}

export const pathOf = ({ module }: Entry): string => module.module.source.path;

export const isDefinition = (entry: Entry): boolean => ranks[entry.binding] > 0;

/** Whether the entry is taken in place of the one that was best so far. Of two common variables the larger is. */
export function outranks(entry: Entry, best: Entry): boolean {
  const difference = ranks[entry.binding] - ranks[best.binding];
  return difference === 0 && entry.binding === "common" ? sizeOf(entry) > sizeOf(best) : difference > 0;
}

const sizeOf = ({ symbol }: Entry): number => (symbol.kind === "variable" ? symbol.size : 0);

/** All that a module has at module scope. */
export function* entriesOf(module: CheckedModule): Generator<Entry> {
  for (const symbol of module.functions) yield { module, symbol, binding: functionBinding(symbol) };
  for (const symbol of module.variables) yield { module, symbol, binding: variableBinding(symbol) };
}

export const linkageOf = (symbol: FunctionSymbol): "extern" | "weak" | "visible" | null => {
  const linkages = symbol.declarations.map((d) => d.linkage?.value);
  return (["extern", "weak", "visible"] as const).find((l) => linkages.includes(l)) ?? null;
};

function functionBinding(symbol: FunctionSymbol): Binding {
  const linkage = linkageOf(symbol);
  if (linkage === "extern") return "extern";
  if (symbol.declaration.body === null && symbol.aliasOf === null) return "missing";
  // Another name for a function that other modules cannot see is not seen either.
  if (symbol.aliasOf !== null && linkageOf(symbol.aliasOf) === null) return "static";
  return linkage === "weak" ? "weak" : linkage === "visible" ? "strong" : "static";
}

function variableBinding({ linkage, space, size, type, declarator }: VariableSymbol): Binding {
  // All modules that name a texture, sampler or surface mean the same one.
  if (linkage !== null && linkage !== "extern" && opaqueTypes.has(type.name)) return "common";
  switch (linkage) {
    case "extern":
      return space === "shared" && size === 0 ? "dynamic" : "extern";
    case "visible":
      return "strong";
    case "weak":
      return "weak";
    case "common":
      return declarator.initializer === null ? "common" : "strong";
    case null:
      return "static";
  }
}

import type { CheckedModule } from "../check/check.ts";
import { opaqueTypes } from "../check/shape.ts";
import type { SourceText } from "../../source/index.ts";
import type { FunctionSymbol, VariableSymbol } from "../tree/nodes.ts";

/** A symbol that other modules may refer to by name. */
export type Linkable = FunctionSymbol | VariableSymbol;

/**
 * How a module binds a name (11.6).
 *
 * - `static`: defined for the module itself.
 * - `missing`: declared for the module itself, but not defined.
 * - `dynamic`: shared memory whose size the launch gives, which has no definition.
 * - `extern`: defined by another module.
 * - `common`, `weak`, `strong`: defined for all modules, with increasing precedence. A common variable with an initial
 *   value is strong (11.6.4).
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

/** The parts of a module that matter to the names that it shares with others, and its path. */
export interface LinkableModule extends Pick<CheckedModule, "functions" | "variables" | "signatures"> {
  readonly module: { readonly source: Pick<SourceText, "path"> };
}

/** A name in one module. */
export interface Entry<M extends LinkableModule = CheckedModule> {
  readonly module: M;
  readonly symbol: Linkable;
  readonly binding: Binding;
}

export const pathOf = ({ module }: Entry<LinkableModule>): string => module.module.source.path;

export const isDefinition = (entry: Entry<LinkableModule>): boolean => ranks[entry.binding] > 0;

/** Whether an entry takes precedence over the best one so far. Of two common variables the larger does. */
export function outranks(entry: Entry<LinkableModule>, best: Entry<LinkableModule>): boolean {
  const difference = ranks[entry.binding] - ranks[best.binding];
  return difference === 0 && entry.binding === "common" ? sizeOf(entry) > sizeOf(best) : difference > 0;
}

const sizeOf = ({ symbol }: Entry<LinkableModule>): number => (symbol.kind === "variable" ? symbol.size : 0);

/** The functions and variables at module scope. */
export function* entriesOf<M extends LinkableModule>(module: M): Generator<Entry<M>> {
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
  // An alias of a function that other modules cannot see is not visible either.
  if (symbol.aliasOf !== null && linkageOf(symbol.aliasOf) === null) return "static";
  return linkage === "weak" ? "weak" : linkage === "visible" ? "strong" : "static";
}

function variableBinding({ linkage, space, size, type, declarator }: VariableSymbol): Binding {
  // A texture, sampler or surface is one object in all modules that name it.
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

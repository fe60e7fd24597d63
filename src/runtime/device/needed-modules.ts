import { parsePtx } from "../../ptx/parser/index.ts";
import type { Module } from "../../ptx/tree/module.ts";
import type { SourceText } from "../../source/index.ts";

/** The names that a module has for others, and those that it wants of others. */
interface Linkage {
  readonly defines: ReadonlySet<string>;
  readonly wants: ReadonlySet<string>;
}

function linkageOf({ items }: Module): Linkage {
  const defines = new Set<string>();
  const wants = new Set<string>();
  for (const item of items) {
    if (item.kind !== "function" && item.kind !== "variable") continue;
    const linkage = item.linkage?.value ?? null;
    if (linkage === null) continue;
    const names = item.kind === "function" ? [item.name] : item.declarators.map(({ name }) => name);
    for (const { text } of names) (linkage === "extern" ? wants : defines).add(text);
  }
  return { defines, wants };
}

/**
 * The modules of a linked program that some of them need: libraries bring along modules that nothing uses, and that may
 * be for other architectures.
 */
export function neededModules(chosen: readonly SourceText[], all: readonly SourceText[]): readonly SourceText[] {
  if (chosen.length === all.length) return all;
  const linkages = new Map(all.map((source) => [source, linkageOf(parsePtx(source).tree)]));
  const needed = new Set(chosen);
  // A set may grow while it is iterated.
  for (const source of needed) {
    for (const name of linkages.get(source)!.wants) {
      const definer = all.find((other) => linkages.get(other)!.defines.has(name));
      if (definer !== undefined) needed.add(definer);
    }
  }
  return all.filter((source) => needed.has(source));
}

import { SourceText } from "../../source/index.ts";
import { parsePtx } from "../parser/index.ts";
import { printPtx } from "../printer.ts";
import { versionText } from "../types.ts";
import { FileNumbers } from "./file-numbers.ts";
import { FreshNames } from "./fresh-names.ts";
import { ModuleText, type ProgramNames } from "./module-text.ts";
import type { LinkedProgram } from "./resolve.ts";
import { separatesSamplers } from "./target.ts";

/**
 * The text of one module that holds all that the linked modules define. Everything is declared before it is used: prototypes of
 * all functions, then variables, then bodies. Comments within these are kept. Debug sections of several modules do not go
 * together: they are left out, and of `.loc` what refers to them. Pragmas at module scope are left out too, as hints for one
 * module only.
 */
export function printLinked(program: LinkedProgram): string {
  const files = new FileNumbers();
  const names = programNames(program);
  const parts = program.modules.map((module) => new ModuleText(module, names, files));
  const kernels = new Set(parts.flatMap((p) => [...p.kernelsNamed()]));
  const text = [
    ...heading(program),
    ...files.directives(),
    ...parts.flatMap((p) => [...p.prototypes(kernels)]),
    ...variables(parts, names),
    ...parts.flatMap((p) => [...p.definitions()]),
    ...parts.flatMap((p) => [...p.aliases()]),
  ].join("\n");
  return printPtx(parsePtx(new SourceText("linked.ptx", text)).tree);
}

function heading({ version, target, modules }: LinkedProgram): string[] {
  const [first] = modules;
  if (first === undefined) return [];
  return [
    `.version ${versionText(version)}`,
    `.target ${target.name}${separatesSamplers(first) ? ", texmode_independent" : ""}`,
    ...(version >= 203 ? [`.address_size ${first.addressSize}`] : []),
  ];
}

/** A label that is used before it stands in the text must not be the name of a function or variable: these would be meant. */
function programNames({ modules, names: { nameOf, defines } }: LinkedProgram): ProgramNames {
  const taken = new Set(modules.flatMap((m) => [...m.functions, ...m.variables].map(nameOf)));
  const fresh = new FreshNames([...modules.map((m) => m.module.source.text), ...taken]);
  const labels = new Map<string, string>();
  const labelName = (name: string): string => {
    if (!taken.has(name)) return name;
    const other = labels.get(name) ?? fresh.next(name);
    labels.set(name, other);
    return other;
  };
  return { nameOf, defines, labelName };
}

/** All variables. What an initial value names before its definition is another module's, and so can be declared before. */
function variables(parts: readonly ModuleText[], names: ProgramNames): string[] {
  const all = parts.flatMap((part) => part.variables.map((symbol) => ({ part, symbol })));
  const later = new Map(all.map((variable) => [names.nameOf(variable.symbol), variable]));
  const lines: string[] = [];
  for (const { part, symbol } of all) {
    for (const used of [names.nameOf(symbol), ...part.usesOf(symbol)]) {
      const variable = later.get(used);
      later.delete(used);
      if (variable && variable.symbol !== symbol) lines.push(variable.part.forward(variable.symbol));
    }
    lines.push(part.variable(symbol));
  }
  return lines;
}

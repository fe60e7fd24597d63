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
 * The text of one PTX module with everything that the linked modules define, in canonical form. Everything is declared
 * before it is used: prototypes of all functions, then variables, then bodies. Comments within these are kept. Debug
 * sections of several modules cannot be merged, so they and the references to them in `.loc` are left out, as are
 * pragmas at module scope, which are hints for one module. The program must be free of errors.
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

/**
 * The names in the program. Labels get other names than functions and variables, to which a forward reference would be
 * bound.
 */
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

/**
 * The variables. An initial value can only refer to a later definition in another module, which then gets a forward
 * declaration.
 */
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

import type { Item } from "../../ptx/tree/module.ts";
import type { Block, FunctionDeclaration, Statement } from "../../ptx/tree/nodes.ts";
import { type TypeInfo, typeInfo } from "../../ptx/types.ts";
import type { Part, Placed, PtxModel } from "./model.ts";
import { declarationText, kindOf } from "./entities.ts";
import { type Declares, eachName, type Occurrence } from "./occurrences.ts";
import { blocksAt } from "./statements.ts";
import type { SymbolKind } from "../base/results.ts";

/** A name that can be used at some place. */
export interface Visible {
  readonly name: string;
  readonly kind: SymbolKind;
  readonly declares: Declares;
  readonly part: Part;
  readonly type: TypeInfo | null;
  /** The elements of a vector, or 1. */
  readonly vector: number;
  readonly space: string | null;
}

/** The names that can be used at an offset of a part's source, inner ones first, each once. */
export function visibleAt(model: PtxModel, { part, item }: Placed, at: number): readonly Visible[] {
  const found = new Map<string, Visible>();
  const add = (visible: Visible): void => {
    if (visible.name !== "" && !found.has(visible.name)) found.set(visible.name, visible);
  };
  const used = item.kind === "function" ? membersUsed(item) : new Map<object, string[]>();
  for (const block of [...blocksAt(item, at)].reverse())
    declaredIn(block, at, (declares) => each(part, declares, used, add));
  if (item.kind === "function")
    for (const parameter of [...(item.params ?? []), ...(item.returns ?? [])])
      each(part, { kind: "parameter", parameter, of: item }, used, add);
  for (const home of model.parts)
    for (const global of globalsOf(home)) {
      if ("name" in global) add(global);
      else each(home, global, used, add);
    }
  return [...found.values()];
}

/** The names that parts declare at module scope; sets (`x<4>`) as they are declared. A part never changes. */
const globalsIn = new WeakMap<Part, readonly (Visible | Declares)[]>();

function globalsOf(part: Part): readonly (Visible | Declares)[] {
  let globals = globalsIn.get(part);
  if (globals === undefined) globalsIn.set(part, (globals = part.items.flatMap((item) => declaredBy(part, item))));
  return globals;
}

function declaredBy(part: Part, item: Item): readonly (Visible | Declares)[] {
  const found: (Visible | Declares)[] = [];
  const add = (visible: Visible): unknown => found.push(visible);
  if (item.kind === "function") each(part, { kind: "function", node: item }, noMembers, add);
  if (item.kind !== "variable") return found;
  for (const declarator of item.declarators) {
    const declares = { kind: "variable", node: item, declarator } as const;
    if (declarator.range === null) each(part, declares, noMembers, add);
    else found.push(declares);
  }
  return found;
}

const noMembers: ReadonlyMap<object, readonly string[]> = new Map();

/** The members of sets (`%r<8>`) that a function uses, by the declaring name. */
function membersUsed(item: FunctionDeclaration): Map<object, string[]> {
  const members = new Map<object, Set<string>>();
  eachName(item, ({ use }: Occurrence) => {
    const symbol = use?.symbol;
    if (symbol?.kind !== "register" && symbol?.kind !== "variable") return;
    let names = members.get(symbol.span);
    if (names === undefined) members.set(symbol.span, (names = new Set()));
    names.add(symbol.name);
  });
  return new Map([...members].map(([declared, names]) => [declared, [...names]]));
}

function declaredIn({ statements }: Block, at: number, add: (declares: Declares) => void): void {
  for (const statement of statements) {
    const declares = declaresOf(statement);
    for (const one of declares) if (one.kind === "label" || statement.start < at) add(one);
  }
}

function declaresOf(statement: Statement): readonly Declares[] {
  switch (statement.kind) {
    case "variable":
      return statement.declarators.map((declarator) => ({ kind: "variable", node: statement, declarator }));
    case "label":
      return [{ kind: "label", node: statement }];
    case "branchtargets":
    case "calltargets":
      return statement.label === null ? [] : [{ kind: "list", node: statement }];
    case "callprototype":
      return statement.label === null ? [] : [{ kind: "prototype", node: statement }];
    default:
      return [];
  }
}

function each(
  part: Part,
  declares: Declares,
  used: ReadonlyMap<object, readonly string[]>,
  add: (visible: Visible) => void,
): void {
  const common = { kind: kindOf(declares), declares, part };
  switch (declares.kind) {
    case "variable": {
      const { node, declarator } = declares;
      const typed = { ...common, type: typeInfo(node.type.text), vector: node.vector, space: node.space };
      const { name, range } = declarator;
      if (range === null) add({ ...typed, name: name.text });
      // Of a set, those that are used, and the next one that is not.
      else
        for (const member of membersOf(name.text, range.count, used.get(name) ?? [])) add({ ...typed, name: member });
      return;
    }
    case "parameter": {
      const { name, type, vector, space } = declares.parameter;
      add({ ...common, name: name.text, type: typeInfo(type.text), vector, space });
      return;
    }
    case "function":
    case "label":
      add({ ...common, name: declares.node.name.text, type: null, vector: 1, space: null });
      return;
    case "list":
    case "prototype":
      add({ ...common, name: declares.node.label?.text ?? "", type: null, vector: 1, space: null });
  }
}

function membersOf(base: string, count: number, used: readonly string[]): readonly string[] {
  const taken = new Set(used);
  for (let i = 0; i < Math.min(count, taken.size + 1); i++)
    if (!taken.has(`${base}${i}`)) return [...used, `${base}${i}`];
  return used;
}

/** How a visible name is declared. */
export const visibleText = ({ part, declares }: Visible): string => declarationText(part, declares);

import type { TextEdit } from "../base/results.ts";
import { applyEdits } from "../base/edits.ts";
import { type Entity, entityOf, type NameHit, nameSpan, occurrencesOf } from "./entities.ts";
import { type Placed, PtxModel, toDocument } from "./model.ts";
import { eachName, type Occurrence } from "./occurrences.ts";

/** Identifiers (4.4). */
const identifier = /^([A-Za-z][\w$]*|[_$%][\w$]+)$/;

/** The edits that give an entity another name, or why it cannot have it. `item`: where a local one is declared. */
export function renameEdits(model: PtxModel, entity: Entity, item: Placed, name: string): readonly TextEdit[] | string {
  const { symbol } = entity;
  if (symbol?.kind === "special" || symbol?.kind === "constant") return `'${entity.name}' is predefined`;
  if (!identifier.test(name)) return `'${name}' is not a name of PTX`;
  if (name === entity.name) return [];
  const edits = entity.member ? memberEdits(model, entity, item, name) : plainEdits(model, entity, item, name);
  if (typeof edits === "string") return edits;
  const renamed = new PtxModel(model.path, applyEdits(model.text, edits));
  return sameMeaning(model, renamed) ? edits : `'${name}' already means something else here`;
}

function plainEdits(model: PtxModel, entity: Entity, item: Placed, name: string): readonly TextEdit[] {
  const base = entity.name;
  return [...occurrencesOf(model, entity, item)].map((hit) => editOf(hit, base.length, name));
}

const editOf = ({ part, occurrence }: NameHit, length: number, text: string): TextEdit => {
  const { start } = nameSpan(occurrence.name);
  return { ...toDocument(part, { start, end: start + length }), text };
};

/** One of a set (`%r3` of `%r<8>`) gets a declaration of its own. */
function memberEdits(model: PtxModel, entity: Entity, item: Placed, name: string): readonly TextEdit[] | string {
  const uses = [...occurrencesOf(model, entity, item)].filter(({ occurrence }) => occurrence.use !== null);
  const declaration = declarationOf(entity, item);
  if (declaration === null) return `'${entity.name}' is one of a set of variables, which are renamed together`;
  const { part } = item;
  const at = toDocument(part, declaration).end;
  const line = part.source.text.slice(part.source.text.lastIndexOf("\n", declaration.start) + 1, declaration.start);
  const vector = declaration.vector > 1 ? `.v${declaration.vector} ` : "";
  const text = `\n${/^\s*/.exec(line)![0]}.reg ${vector}.${declaration.type.text} ${name};`;
  return [{ start: at, end: at, text }, ...uses.map((hit) => editOf(hit, hit.occurrence.name.text.length, name))];
}

function declarationOf({ declared }: Entity, { item }: Placed) {
  let found: Extract<Occurrence["declares"], { kind: "variable" }>["node"] | null = null;
  eachName(item, ({ name, declares }) => {
    if (name === declared && declares?.kind === "variable" && declares.node.space === "reg") found = declares.node;
  });
  return found as Extract<Occurrence["declares"], { kind: "variable" }>["node"] | null;
}

/** Whether the same names of two modules mean the same: each use the declaration of the same number, or none. */
function sameMeaning(before: PtxModel, after: PtxModel): boolean {
  const [a, b] = [bindings(before), bindings(after)];
  return a.length === b.length && a.every((binding, i) => binding === b[i]);
}

/** For each use of a name in the order of the text, the number of the use that first means the same. */
function bindings(model: PtxModel): readonly number[] {
  const first = new Map<string | object, Map<string, number>>();
  const numbers: number[] = [];
  for (const { item } of model.items()) {
    eachName(item, (occurrence) => {
      if (occurrence.use === null) return;
      const entity = entityOf(model, occurrence);
      const key = entity?.global?.name ?? entity?.declared ?? "";
      let members = first.get(key);
      if (members === undefined) first.set(key, (members = new Map()));
      const name = entity?.name ?? "";
      if (!members.has(name)) members.set(name, numbers.length);
      numbers.push(members.get(name)!);
    });
  }
  return numbers;
}

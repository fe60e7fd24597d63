import { displayName } from "../../names/index.ts";
import type { Name } from "../../ptx/tree/leaves.ts";
import type { FunctionDeclaration, NameExpr, Parameter, PtxSymbol } from "../../ptx/tree/nodes.ts";
import type { Span } from "../../source/index.ts";
import type { SymbolKind } from "../base/results.ts";
import { type Global, type Part, type Placed, type PtxModel, toDocument } from "./model.ts";
import { type Declares, eachName, type Occurrence } from "./occurrences.ts";

/** The meaning of a name: what is declared, for the whole module or within one function. */
export interface Entity {
  readonly name: string;
  /** The declarations at module scope; null for a name of one function, and for a predefined one. */
  readonly global: Global | null;
  /** The declaring name of a local entity. */
  readonly declared: Name | null;
  /** Whether it is one of a set, as `%r3` of `%r<8>`; the set itself is not. */
  readonly member: boolean;
  readonly symbol: PtxSymbol | null;
}

/** An occurrence of a name, and where it is. */
export interface NameHit extends Placed {
  readonly occurrence: Occurrence;
}

/** The span of the name alone, without a component (`.x`). */
export const nameSpan = ({ start, text }: Name | NameExpr): Span => ({ start, end: start + text.length });

/** The name at an offset of the document. */
export function hitAt(model: PtxModel, offset: number): NameHit | null {
  const found = model.itemAt(offset);
  if (found === null) return null;
  const { part, item, at } = found;
  let hit: Occurrence | null = null;
  eachName(item, (occurrence) => {
    const { start, end } = nameSpan(occurrence.name);
    if (start <= at && at <= end && start < end && (hit === null || start === at)) hit = occurrence;
  });
  return hit === null ? null : { part, item, occurrence: hit };
}

/** What a name stands for; null if nothing is known of it. */
export function entityOf(model: PtxModel, { use, name }: Occurrence): Entity | null {
  if (use === null) {
    const global = globalDeclaring(model, name);
    return { name: name.text, global, declared: name, member: false, symbol: null };
  }
  const { symbol } = use;
  if (symbol === null) return null;
  const known = { name: symbol.name, symbol };
  if (symbol.kind === "function" || (symbol.kind === "variable" && symbol.owner === null)) {
    const global = model.globals.get(symbol.name) ?? setOf(model, symbol.name);
    return global === null ? null : { ...known, global, declared: null, member: global.name !== symbol.name };
  }
  if (symbol.kind === "special" || symbol.kind === "constant")
    return { ...known, global: null, declared: null, member: false };
  const declared = symbol.span as Name;
  return { ...known, global: null, declared, member: declared.text !== symbol.name };
}

const globalDeclaring = (model: PtxModel, name: Name): Global | null => {
  const global = model.globals.get(name.text);
  return global?.places.some((place) => place.name === name) ? global : null;
};

/** The set at module scope (`x<4>`) that a name is of. */
function setOf(model: PtxModel, name: string): Global | null {
  return model.globals.get(name.replace(/\d+$/, "")) ?? null;
}

/** Whether two meanings are the same, or one is a member of the set that the other is. */
function sameEntity(a: Entity, b: Entity): boolean {
  if (a.global !== null || b.global !== null) {
    if (a.global?.name !== b.global?.name) return false;
  } else if (a.declared === null || b.declared === null) return a.name === b.name && a.declared === b.declared;
  else if (a.declared !== b.declared) return false;
  return a.name === b.name || !(a.member && b.member);
}

/** All occurrences of an entity, in the order of the text. `item`: where a local one is declared. */
export function* occurrencesOf(model: PtxModel, entity: Entity, item: Placed): Generator<NameHit> {
  const items = entity.global === null ? [item] : model.items();
  for (const { part, item: each } of items) {
    const found: Occurrence[] = [];
    eachName(each, (occurrence) => {
      if (occurrence.name.text === "" || !mayBe(occurrence, entity)) return;
      const other = entityOf(model, occurrence);
      if (other !== null && sameEntity(entity, other)) found.push(occurrence);
    });
    for (const occurrence of found) yield { part, item: each, occurrence };
  }
}

/** A quick test that most names of a large module fail. */
function mayBe({ name }: Occurrence, { name: wanted, member, global, declared }: Entity): boolean {
  const base = global?.name ?? declared?.text ?? wanted;
  return name.text === wanted || name.text.startsWith(base) || (member && name.text === base);
}

/** The place of a name in the document. */
export const placeOf = (part: Part, name: Name | NameExpr): Span => toDocument(part, nameSpan(name));

/** The declarations of an entity, as spans of the document. */
export function declarationsOf(entity: Entity, { part }: Placed): readonly Span[] {
  if (entity.global !== null) return entity.global.places.map((place) => placeOf(place.part, place.name));
  return entity.declared === null ? [] : [placeOf(part, entity.declared)];
}

/** How a declaration is written, without an initial value or body; on one line if it is short. */
export function declarationText(part: Part, declares: Declares): string {
  const slice = (start: number, end: number): string => part.source.text.slice(start, end);
  switch (declares.kind) {
    case "variable": {
      const { node, declarator } = declares;
      const before = slice(node.start, node.declarators[0]!.start);
      const end = declarator.initializer === null ? declarator.end : beforeAssign(part, declarator.initializer.start);
      return oneLine(before + slice(declarator.start, end));
    }
    case "parameter":
      return parameterText(part, declares.parameter);
    case "function":
      return headerText(part, declares.node);
    case "label":
      return `${declares.node.name.text}:`;
    case "list":
    case "prototype":
      return oneLine(slice(declares.node.start, declares.node.end));
  }
}

function beforeAssign({ source }: Part, offset: number): number {
  const at = source.text.lastIndexOf("=", offset);
  return at < 0 ? offset : at;
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The header of a function, as it is written. */
export const headerText = ({ source }: Part, node: FunctionDeclaration): string =>
  oneLine(source.text.slice(node.start, node.body?.start ?? node.end)).replace(/\s*;$/, "");

/** A formal parameter, as it is written. */
export const parameterText = ({ source }: Part, { start, end }: Parameter): string =>
  oneLine(source.text.slice(start, end));

/** The kind of what a name declares. */
export function kindOf(declares: Declares): SymbolKind {
  switch (declares.kind) {
    case "variable":
      return declares.node.space === "reg" ? "register" : "variable";
    case "parameter":
      return declares.parameter.space === "reg" ? "register" : "parameter";
    case "function":
      return declares.node.entry ? "kernel" : "function";
    case "label":
      return "label";
    case "list":
      return "targets";
    case "prototype":
      return "prototype";
  }
}

/** The name in the source language, or null if it is the same. */
export function sourceName(name: string): string | null {
  const shown = displayName(name);
  return shown === name ? null : shown;
}

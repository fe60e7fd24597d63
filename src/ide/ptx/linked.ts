import { entriesOf, type Entry, isDefinition, type LinkableModule } from "../../ptx/link/entries.ts";
import { resolveShared } from "../../ptx/link/shared-name.ts";
import { programOf } from "../base/program.ts";
import type { Finding, Place } from "../base/results.ts";
import { nameSpan } from "./entities.ts";
import { type PtxModel, toDocument } from "./model.ts";

/** A document as others of its program see it. */
export interface LinkedDocument extends LinkableModule {
  readonly uri: string;
  readonly model: PtxModel;
  /** The names that other documents may know, by name. */
  readonly shared: ReadonlyMap<string, Entry<LinkedDocument>>;
}

/** The names that a document shares. In messages it goes by the last part of its address. */
export function linkedDocument(uri: string, model: PtxModel): LinkedDocument {
  const { functions, variables, signatures } = model.checked;
  const shared = new Map<string, Entry<LinkedDocument>>();
  const path = uri.replace(/^.*[\\/](?=.)/, "");
  const own: LinkedDocument = { uri, model, shared, functions, variables, signatures, module: { source: { path } } };
  for (const entry of entriesOf(own))
    if (entry.binding === "extern" || isDefinition(entry)) shared.set(entry.symbol.name, entry);
  return own;
}

/**
 * The findings about names that a document shares with other documents: those of nvlink, apart from names that nobody
 * defines, since a program may have files that are not open. Documents are one program where one declares what another
 * one defines.
 */
export function linkFindings(own: LinkedDocument, others: readonly LinkedDocument[]): readonly Finding[] {
  const program = programOf(own, others, needs);
  if (program.length === 1) return [];
  return [...own.shared.keys()].flatMap((name) => {
    const entries = program.flatMap(({ shared }) => shared.get(name) ?? []);
    if (!entries.some(isDefinition)) return [];
    const found = resolveShared(entries, () => true).findings.filter(({ entry }) => entry.module === own);
    return found.map(({ entry, severity, code, message, help, other }): Finding => {
      const place = other === null ? null : placeOf(other);
      const notes = place === null ? [] : [{ message: `'${name}' is also here`, place }];
      return { ...placeOf(entry), severity, code, message, help: help ?? null, notes };
    });
  });
}

/** Whether a document declares a name that another one defines. */
function needs(document: LinkedDocument, other: LinkedDocument): boolean {
  for (const [name, { binding }] of document.shared) {
    const there = binding === "extern" ? other.shared.get(name) : undefined;
    if (there !== undefined && isDefinition(there)) return true;
  }
  return false;
}

function placeOf({ module: { uri, model }, symbol }: Entry<LinkedDocument>): Place {
  const places = model.globals.get(symbol.name)?.places ?? [];
  const found = places.find(({ name }) => name === symbol.span) ?? places[0];
  return found === undefined ? { uri, start: 0, end: 0 } : { uri, ...toDocument(found.part, nameSpan(found.name)) };
}

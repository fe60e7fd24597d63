import { parsePtx } from "../../ptx/parser/index.ts";
import { printPtx } from "../../ptx/printer.ts";
import { hasErrors, SourceText, type Span } from "../../source/index.ts";
import type { LanguageDocument, NameAt } from "../base/document.ts";
import { findingOf } from "../base/findings.ts";
import { editsBetween } from "../base/format.ts";
import type * as results from "../base/results.ts";
import { calleesOf, callersOf, callItemOf, inlayHintsIn } from "./calls.ts";
import { completionsAt } from "./completion.ts";
import { declarationsOf, type Entity, entityOf, hitAt, type NameHit, occurrencesOf, placeOf } from "./entities.ts";
import { codeActionsIn } from "./fixes.ts";
import { hoverAt } from "./hover.ts";
import { linkFindings, type LinkedDocument, linkedDocument } from "./linked.ts";
import { instructionsOf, locationAt } from "./locations.ts";
import { type Placed, PtxModel } from "./model.ts";
import { analyseNext } from "./register-facts.ts";
import { codeLensesOf, findSymbols, foldingRangesOf, symbolsOf } from "./outline.ts";
import { renameEdits } from "./rename.ts";
import { signatureHelpAt } from "./signature.ts";
import { instructionAt } from "./statements.ts";
import { semanticTokensOf } from "./tokens.ts";

/** A module of PTX that is being edited. */
export class PtxDocument implements LanguageDocument {
  readonly language = "ptx";
  readonly uri: string;
  readonly #model: PtxModel;

  constructor(uri: string, text: string) {
    this.uri = uri;
    this.#model = new PtxModel(uri, text);
  }

  get text(): string {
    return this.#model.text;
  }

  get length(): number {
    return this.#model.length;
  }

  edit(change: results.TextEdit): void {
    this.#model.edit(change);
  }

  findings(): readonly results.Finding[] {
    const offset = (of: SourceText, at: number): number => this.#model.offset(of, at);
    return this.#model.diagnostics.map((diagnostic) => findingOf(diagnostic, this.uri, offset));
  }

  /** The names that other documents may know, found anew after an edit. */
  get #linked(): LinkedDocument {
    const { checked } = this.#model;
    if (this.#lastLinked?.of !== checked)
      this.#lastLinked = { of: checked, linked: linkedDocument(this.uri, this.#model) };
    return this.#lastLinked.linked;
  }

  #lastLinked: { readonly of: object; readonly linked: LinkedDocument } | null = null;

  linkFindings(others: readonly LanguageDocument[]): readonly results.Finding[] {
    const modules = others.flatMap((other) => (other instanceof PtxDocument ? [other.#linked] : []));
    return modules.length === 0 ? [] : linkFindings(this.#linked, modules);
  }

  hover(offset: number): results.Hover | null {
    return hoverAt(this.#model, offset);
  }

  prepare(range: Span): boolean {
    return analyseNext(this.#model, range);
  }

  completions(offset: number): readonly results.Completion[] {
    return completionsAt(this.#model, offset);
  }

  #entityAt(offset: number): { readonly hit: NameHit; readonly entity: Entity } | null {
    const hit = hitAt(this.#model, offset);
    const entity = hit && entityOf(this.#model, hit.occurrence);
    return hit !== null && entity !== null ? { hit, entity } : null;
  }

  nameAt(offset: number): NameAt | null {
    const found = this.#entityAt(offset);
    if (found === null) return null;
    const { hit, entity } = found;
    return { ...placeOf(hit.part, hit.occurrence.name), name: entity.name, shared: isShared(entity) };
  }

  declarations(offset: number): readonly Span[] {
    const found = this.#entityAt(offset);
    return found === null ? [] : declarationsOf(found.entity, found.hit);
  }

  uses(offset: number): readonly results.Highlight[] {
    const found = this.#entityAt(offset);
    return found === null ? [] : this.#uses(found.entity, found.hit);
  }

  #uses(entity: Entity, item: Placed): readonly results.Highlight[] {
    return [...occurrencesOf(this.#model, entity, item)].map(({ part, occurrence }) => ({
      ...placeOf(part, occurrence.name),
      write: occurrence.write || occurrence.declares !== null,
    }));
  }

  rename(offset: number, text: string): readonly results.TextEdit[] | string {
    const found = this.#entityAt(offset);
    return found === null ? "there is no name here" : renameEdits(this.#model, found.entity, found.hit, text);
  }

  /** The entity of a name that other documents may know, and a place to begin from. */
  #shared(name: string): { readonly entity: Entity; readonly item: Placed } | null {
    const global = this.#model.globals.get(name);
    if (global === undefined) return null;
    const [first] = global.places;
    const entity: Entity = { name, global, declared: null, member: false, symbol: null };
    return first !== undefined && isShared(entity) ? { entity, item: first } : null;
  }

  sharedDeclarations(name: string): readonly Span[] {
    const shared = this.#shared(name);
    return shared === null ? [] : declarationsOf(shared.entity, shared.item);
  }

  sharedUses(name: string): readonly results.Highlight[] {
    const shared = this.#shared(name);
    return shared === null ? [] : this.#uses(shared.entity, shared.item);
  }

  sharedRename(name: string, text: string): readonly results.TextEdit[] | string {
    const shared = this.#shared(name);
    return shared === null ? [] : renameEdits(this.#model, shared.entity, shared.item, text);
  }

  symbols(inside: boolean): readonly results.SymbolNode[] {
    return symbolsOf(this.#model, inside);
  }

  find(query: string): readonly results.FoundSymbol[] {
    return findSymbols(this.#model, this.uri, query);
  }

  semanticTokens(range: Span): readonly results.SemanticToken[] {
    return semanticTokensOf(this.#model, range);
  }

  foldingRanges(): readonly results.FoldingRange[] {
    return foldingRangesOf(this.#model);
  }

  signatureHelp(offset: number): results.SignatureHelp | null {
    return signatureHelpAt(this.#model, offset);
  }

  inlayHints(range: Span): readonly results.InlayHint[] {
    return inlayHintsIn(this.#model, range);
  }

  codeActions(range: Span): readonly results.CodeAction[] {
    return codeActionsIn(this.#model, range);
  }

  format(range: Span | null): readonly results.TextEdit[] {
    const source = new SourceText(this.uri, this.text);
    const { tree, diagnostics } = parsePtx(source);
    return hasErrors(diagnostics) ? [] : editsBetween(source.text, printPtx(tree), range);
  }

  callItem(offset: number): results.CallItem | null {
    const found = this.#entityAt(offset);
    if (found !== null) {
      const declared = this.#model.declared(found.entity.name);
      if (declared !== null && found.entity.global !== null) return callItemOf(this.uri, declared);
    }
    return null;
  }

  callers(name: string): readonly results.CallEdge[] {
    return callersOf(this.#model, this.uri, name);
  }

  callees(name: string): ReadonlyMap<string, readonly Span[]> {
    return calleesOf(this.#model, name);
  }

  callable(name: string): results.CallItem | null {
    const definition = this.#model.definition(name);
    return definition === null ? null : callItemOf(this.uri, definition);
  }

  codeLenses(): readonly results.CodeLens[] {
    return codeLensesOf(this.#model);
  }

  sourceLine(offset: number): results.SourceLine | null {
    const place = this.#model.itemAt(offset);
    const node = place && instructionAt(place.item, place.at);
    return place !== null && node !== null ? locationAt(this.#model, place, node) : null;
  }

  linesOf(file: string, line: number): readonly Span[] {
    return instructionsOf(this.#model, file, line);
  }
}

/** Whether other documents of the program may know a name: kernels, and what has a linkage. */
const isShared = ({ global }: Entity): boolean =>
  global?.places.some(({ item }) => item.linkage !== null || (item.kind === "function" && item.entry)) ?? false;

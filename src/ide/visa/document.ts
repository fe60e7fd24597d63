import { displayName } from "../../names/index.ts";
import { hasErrors, type Span } from "../../source/index.ts";
import { printVisa } from "../../visa/printer/index.ts";
import type { LanguageDocument, NameAt } from "../base/document.ts";
import { applyEdits } from "../base/edits.ts";
import { findingOf } from "../base/findings.ts";
import { editsBetween } from "../base/format.ts";
import type * as results from "../base/results.ts";
import { completionsAt } from "./completion.ts";
import { codeActionsIn } from "./fixes.ts";
import { hoverAt } from "./hover.ts";
import { calleesOf, inlayHintsIn, instructionsOf, sourceLineAt } from "./lines.ts";
import { linkFindings } from "./linked.ts";
import { modelOf, type VisaModel } from "./model.ts";
import { type Entity, nameSpan, type Occurrence, occurrenceAt, occurrencesOf, sameMeaning } from "./names.ts";
import { analyseNext } from "./variable-facts.ts";
import { codeLensesOf, foldingRangesOf, semanticTokensOf, symbolsOf } from "./outline.ts";

/** A file of vISA that is being edited. */
export class VisaDocument implements LanguageDocument {
  readonly language = "visa";
  readonly uri: string;
  #text: string;
  #model: VisaModel | null = null;

  constructor(uri: string, text: string) {
    this.uri = uri;
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  get length(): number {
    return this.#text.length;
  }

  /** Parsed and checked when it is first asked for after an edit. */
  get model(): VisaModel {
    this.#model ??= modelOf(this.uri, this.#text);
    return this.#model;
  }

  edit({ start, end, text }: results.TextEdit): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#model = null;
  }

  findings(): readonly results.Finding[] {
    return this.model.diagnostics.map((diagnostic) => findingOf(diagnostic, this.uri, (_, at) => at));
  }

  linkFindings(others: readonly LanguageDocument[]): readonly results.Finding[] {
    return linkFindings(
      this,
      others.flatMap((other) => (other instanceof VisaDocument ? [other] : [])),
    );
  }

  format(range: Span | null): readonly results.TextEdit[] {
    const { tree, source, diagnostics } = this.model;
    return hasErrors(diagnostics) ? [] : editsBetween(source.text, printVisa(tree), range);
  }

  hover(offset: number): results.Hover | null {
    return hoverAt(this.model, offset);
  }

  prepare(range: Span): boolean {
    return analyseNext(this.model, range);
  }

  completions(offset: number): readonly results.Completion[] {
    return completionsAt(this.model, offset);
  }

  #shares({ entity }: Occurrence): boolean {
    return entity.kind === "routine";
  }

  nameAt(offset: number): NameAt | null {
    const found = occurrenceAt(this.model, offset);
    if (found === null) return null;
    const { entity, name } = found;
    const text = entity.kind === "variable" ? entity.variable.name : entity.name;
    return { ...nameSpan(this.model, name), name: text, shared: this.#shares(found) };
  }

  declarations(offset: number): readonly Span[] {
    const found = occurrenceAt(this.model, offset);
    return found === null ? [] : this.#declarations(found.entity);
  }

  #declarations(entity: Entity): readonly Span[] {
    const all = occurrencesOf(this.model, entity).filter(({ declares }) => declares);
    return all.map(({ name }) => nameSpan(this.model, name));
  }

  uses(offset: number): readonly results.Highlight[] {
    const found = occurrenceAt(this.model, offset);
    return found === null ? [] : this.#uses(found.entity);
  }

  #uses(entity: Entity): readonly results.Highlight[] {
    return occurrencesOf(this.model, entity).map(({ name, write, declares }) => ({
      ...nameSpan(this.model, name),
      write: write || declares,
    }));
  }

  rename(offset: number, text: string): readonly results.TextEdit[] | string {
    const found = occurrenceAt(this.model, offset);
    return found === null ? "there is no name here" : this.#rename(found.entity, text);
  }

  #rename(entity: Entity, text: string): readonly results.TextEdit[] | string {
    const name = entity.kind === "variable" ? entity.variable.name : entity.name;
    if (entity.kind === "variable" && entity.variable.predefined) return `'${name}' is predefined`;
    if (!/^[A-Za-z_][\w$]*$/.test(text)) return `'${text}' is not a name of vISA`;
    if (text === name) return [];
    const edits = this.#uses(entity).map(({ start, end }) => ({ start, end, text }));
    return sameMeaning(this.model, modelOf(this.uri, applyEdits(this.#text, edits)))
      ? edits
      : `'${text}' already means something else here`;
  }

  sharedDeclarations(name: string): readonly Span[] {
    return this.#declarations({ kind: "routine", name });
  }

  sharedUses(name: string): readonly results.Highlight[] {
    return this.#uses({ kind: "routine", name });
  }

  sharedRename(name: string, text: string): readonly results.TextEdit[] | string {
    return this.#rename({ kind: "routine", name }, text);
  }

  symbols(inside: boolean): readonly results.SymbolNode[] {
    const all = symbolsOf(this.model);
    return inside ? all : all.map((symbol) => ({ ...symbol, children: [] }));
  }

  find(query: string): readonly results.FoundSymbol[] {
    const wanted = query.toLowerCase();
    return this.model.routines.flatMap(({ routine, kind }) => {
      const { text } = routine.name;
      const shown = displayName(text);
      if (!text.toLowerCase().includes(wanted) && !shown.toLowerCase().includes(wanted)) return [];
      const place = { uri: this.uri, ...nameSpan(this.model, routine.name) };
      return [{ name: text, detail: shown === text ? "" : shown, kind, place }];
    });
  }

  semanticTokens(range: Span): readonly results.SemanticToken[] {
    return semanticTokensOf(this.model, range);
  }

  foldingRanges(): readonly results.FoldingRange[] {
    return foldingRangesOf(this.model);
  }

  /** vISA passes arguments in registers: there are no lists to help with. */
  signatureHelp(_offset: number): results.SignatureHelp | null {
    return null;
  }

  inlayHints(range: Span): readonly results.InlayHint[] {
    return inlayHintsIn(this.model, range);
  }

  codeActions(range: Span): readonly results.CodeAction[] {
    return codeActionsIn(this.model.diagnostics, range);
  }

  callItem(offset: number): results.CallItem | null {
    const found = occurrenceAt(this.model, offset);
    return found?.entity.kind === "routine" ? this.callable(found.entity.name) : null;
  }

  callers(name: string): readonly results.CallEdge[] {
    return this.model.routines.flatMap((routine) => {
      const item = this.callable(routine.name);
      const calls = this.callees(routine.name).get(name) ?? [];
      return item === null || calls.length === 0 ? [] : [{ item, calls }];
    });
  }

  callees(name: string): ReadonlyMap<string, readonly Span[]> {
    return calleesOf(this.model, name);
  }

  callable(name: string): results.CallItem | null {
    const symbol = this.symbols(false).find((each) => each.name === name);
    if (symbol === undefined || (symbol.kind !== "kernel" && symbol.kind !== "function")) return null;
    const { start, end, detail, kind, selection } = symbol;
    return { name, detail, kind, place: { uri: this.uri, start, end }, selection };
  }

  codeLenses(): readonly results.CodeLens[] {
    return codeLensesOf(this.model);
  }

  sourceLine(offset: number): results.SourceLine | null {
    return sourceLineAt(this.model, offset);
  }

  linesOf(file: string, line: number): readonly Span[] {
    return instructionsOf(this.model, file, line);
  }
}

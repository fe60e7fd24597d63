import type { Span } from "../source/index.ts";
import type { LanguageDocument } from "./base/document.ts";
import type * as results from "./base/results.ts";
import { PtxDocument } from "./ptx/document.ts";
import { VisaDocument } from "./visa/document.ts";

/**
 * Documents that are being edited, and everything that an editor asks about them. The documents of one language are
 * one program: names that a document shares are known in the others. Texts may be anything; nothing throws.
 *
 *     const workspace = new Workspace();
 *     workspace.openDocument("file:///saxpy.ptx", text, "ptx");
 *     workspace.update("file:///saxpy.ptx", [{ start: 0, end: 0, text: "// saxpy\n" }]);
 *     for (const { start, message } of workspace.diagnostics("file:///saxpy.ptx")) console.log(start, message);
 *
 * Offsets are UTF-16 units of the document's text. A document that is not open has no findings, names or symbols.
 */
export class Workspace {
  readonly #documents = new Map<string, LanguageDocument>();

  /** Opens a document, or replaces it. */
  openDocument(uri: string, text: string, language: results.Language): void {
    this.#documents.set(uri, language === "visa" ? new VisaDocument(uri, text) : new PtxDocument(uri, text));
  }

  /** Edits a document. Each change applies to the text that the changes before it have made. */
  update(uri: string, changes: readonly results.TextEdit[]): void {
    const document = this.#documents.get(uri);
    if (document === undefined) return;
    for (const { start, end, text } of changes) {
      const from = Math.max(0, Math.min(start, end, document.length));
      document.edit({ start: from, end: Math.max(from, Math.min(Math.max(start, end), document.length)), text });
    }
  }

  /** Forgets a document. */
  closeDocument(uri: string): void {
    this.#documents.delete(uri);
  }

  /** The URIs of the open documents. */
  get uris(): readonly string[] {
    return [...this.#documents.keys()];
  }

  /** The text of a document; empty if it is not open. */
  text(uri: string): string {
    return this.#documents.get(uri)?.text ?? "";
  }

  /** The length of the text of a document, which is known without putting the text together. */
  length(uri: string): number {
    return this.#documents.get(uri)?.length ?? 0;
  }

  /** The language of a document. */
  language(uri: string): results.Language | null {
    return this.#documents.get(uri)?.language ?? null;
  }

  /**
   * Errors and warnings, in the order of the text: those of the document, and those about names that it shares with
   * other documents of its program.
   */
  diagnostics(uri: string): readonly results.Finding[] {
    const document = this.#documents.get(uri);
    if (document === undefined) return [];
    const linked = document.linkFindings(this.#others(document));
    const own = document.findings();
    return linked.length === 0 ? own : [...own, ...linked].sort((a, b) => a.start - b.start);
  }

  /** What is known about the word at an offset. */
  hover(uri: string, offset: number): results.Hover | null {
    return this.#documents.get(uri)?.hover(offset) ?? null;
  }

  /**
   * Works ahead on what `hover` tells about the registers of a page, which needs an analysis of their function: one
   * function at a time, until it returns false. For the time in which nobody asks for anything.
   */
  prepare(uri: string, page: Span): boolean {
    return this.#documents.get(uri)?.prepare(page) ?? false;
  }

  /** The ways to go on at an offset, those that fit best first. */
  completions(uri: string, offset: number): readonly results.Completion[] {
    const found = this.#documents.get(uri)?.completions(offset) ?? [];
    return [...found].sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0));
  }

  /** The other documents of the same program. */
  #others(document: LanguageDocument): readonly LanguageDocument[] {
    return [...this.#documents.values()].filter((each) => each !== document && each.language === document.language);
  }

  /** Where the name at an offset is declared: here, and in other documents that define it. */
  definition(uri: string, offset: number): readonly results.Place[] {
    const document = this.#documents.get(uri);
    const name = document?.nameAt(offset);
    if (document === undefined || name == null) return [];
    const places = document.declarations(offset).map((span) => place(uri, span));
    if (!name.shared) return places;
    const others = this.#others(document).flatMap((other) =>
      other.sharedDeclarations(name.name).map((span) => place(other.uri, span)),
    );
    return [...places, ...others];
  }

  /** All places where the name at an offset stands, in all documents that share it. */
  references(uri: string, offset: number, options: { readonly declaration?: boolean } = {}): readonly results.Place[] {
    const document = this.#documents.get(uri);
    const name = document?.nameAt(offset);
    if (document === undefined || name == null) return [];
    const found = document.uses(offset).map((span) => place(uri, span));
    if (name.shared)
      for (const other of this.#others(document))
        found.push(...other.sharedUses(name.name).map((span) => place(other.uri, span)));
    if (options.declaration !== false) return found;
    const declared = new Set(this.definition(uri, offset).map((at) => `${at.uri} ${at.start}`));
    return found.filter((at) => !declared.has(`${at.uri} ${at.start}`));
  }

  /** The places in a document where the name at an offset stands. */
  highlights(uri: string, offset: number): readonly results.Highlight[] {
    return this.#documents.get(uri)?.uses(offset) ?? [];
  }

  /** The name at an offset that can be renamed, or null. */
  renameable(uri: string, offset: number): (Span & { readonly name: string }) | null {
    const document = this.#documents.get(uri);
    const name = document?.nameAt(offset) ?? null;
    if (document === undefined || name === null || document.declarations(offset).length === 0) return null;
    return { start: name.start, end: name.end, name: name.name };
  }

  /** Gives the name at an offset another spelling, in all documents that share it. */
  rename(uri: string, offset: number, name: string): results.RenameResult {
    const document = this.#documents.get(uri);
    const found = document?.nameAt(offset);
    if (document === undefined || found == null) return { problem: "there is no name here" };
    const edits = new Map<string, readonly results.TextEdit[]>();
    const own = document.rename(offset, name);
    if (typeof own === "string") return { problem: own };
    edits.set(uri, own);
    if (!found.shared) return { edits };
    for (const other of this.#others(document)) {
      const more = other.sharedRename(found.name, name);
      if (typeof more === "string") return { problem: `${more} (in ${other.uri})` };
      if (more.length > 0) edits.set(other.uri, more);
    }
    return { edits };
  }

  /** The declarations of a document, with those inside functions unless `inside` is false. */
  symbols(uri: string, { inside = true }: { readonly inside?: boolean } = {}): readonly results.SymbolNode[] {
    return this.#documents.get(uri)?.symbols(inside) ?? [];
  }

  /** Functions and variables of all documents whose names, or names in the source language, contain a text. */
  workspaceSymbols(query: string): readonly results.FoundSymbol[] {
    return [...this.#documents.values()].flatMap((document) => document.find(query));
  }

  /** The words of a document, or of a range of it, with what they are, in the order of the text. */
  semanticTokens(uri: string, range?: Span): readonly results.SemanticToken[] {
    const document = this.#documents.get(uri);
    return document?.semanticTokens(range ?? { start: 0, end: document.length }) ?? [];
  }

  /** What can be folded. */
  foldingRanges(uri: string): readonly results.FoldingRange[] {
    return this.#documents.get(uri)?.foldingRanges() ?? [];
  }

  /** The function that is called at an offset in the arguments of a call. */
  signatureHelp(uri: string, offset: number): results.SignatureHelp | null {
    return this.#documents.get(uri)?.signatureHelp(offset) ?? null;
  }

  /** The names of parameters at calls, and the lines of the source, in a range. */
  inlayHints(uri: string, range?: Span): readonly results.InlayHint[] {
    const document = this.#documents.get(uri);
    return document?.inlayHints(range ?? { start: 0, end: document.length }) ?? [];
  }

  /** The repairs of the findings that a range touches. */
  codeActions(uri: string, range: Span): readonly results.CodeAction[] {
    return this.#documents.get(uri)?.codeActions(range) ?? [];
  }

  /** The edits that bring a document, or the lines of a range, into canonical form; none if it has syntax errors. */
  format(uri: string, range?: Span): readonly results.TextEdit[] {
    return this.#documents.get(uri)?.format(range ?? null) ?? [];
  }

  /** The function whose name is at an offset, to begin a hierarchy of calls. */
  callHierarchy(uri: string, offset: number): results.CallItem | null {
    const document = this.#documents.get(uri);
    const item = document?.callItem(offset) ?? null;
    return item && (this.#definition(document!, item.name) ?? item);
  }

  #definition(document: LanguageDocument, name: string): results.CallItem | null {
    for (const each of [document, ...this.#others(document)]) {
      const found = each.callable(name);
      if (found !== null) return found;
    }
    return null;
  }

  /** Who calls a function: directly, and through tables, lists and prototypes. */
  incomingCalls({ name, place: { uri } }: results.CallItem): readonly results.CallEdge[] {
    const document = this.#documents.get(uri);
    return document === undefined ? [] : [document, ...this.#others(document)].flatMap((each) => each.callers(name));
  }

  /** What a function calls: directly, and through tables, lists and prototypes. */
  outgoingCalls({ name, place: { uri } }: results.CallItem): readonly results.CallEdge[] {
    const document = this.#documents.get(uri);
    if (document === undefined) return [];
    return [...document.callees(name)].flatMap(([callee, calls]) => {
      const item = this.#definition(document, callee);
      return item === null ? [] : [{ item, calls }];
    });
  }

  /** The commands above kernels. */
  codeLenses(uri: string): readonly results.CodeLens[] {
    return this.#documents.get(uri)?.codeLenses() ?? [];
  }

  /** The line of the source that the instruction at an offset was compiled from. */
  sourceLine(uri: string, offset: number): results.SourceLine | null {
    return this.#documents.get(uri)?.sourceLine(offset) ?? null;
  }

  /** The instructions of all documents that were compiled from a line of a file whose path ends in `file`. */
  compiledFrom(file: string, line: number): readonly results.Place[] {
    return [...this.#documents.values()].flatMap((document) =>
      document.linesOf(file, line).map((span) => place(document.uri, span)),
    );
  }
}

const place = (uri: string, { start, end }: Span): results.Place => ({ uri, start, end });

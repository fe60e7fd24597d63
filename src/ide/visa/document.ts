import { type Diagnostic, hasErrors, SourceText, type Span } from "../../source/index.ts";
import { checkVisa } from "../../visa/check/index.ts";
import { parseVisa } from "../../visa/parser/index.ts";
import { printVisa } from "../../visa/printer/index.ts";
import type { BoundRoutine } from "../../visa/symbols.ts";
import type { VisaFile } from "../../visa/tree.ts";
import type { LanguageDocument, NameAt } from "../base/document.ts";
import { editsBetween } from "../base/format.ts";
import type {
  CallEdge,
  CallItem,
  CodeAction,
  CodeLens,
  Completion,
  Finding,
  FoldingRange,
  FoundSymbol,
  Highlight,
  Hover,
  InlayHint,
  SemanticToken,
  SignatureHelp,
  SourceLine,
  SymbolNode,
  TextEdit,
} from "../base/results.ts";

/** A file of vISA as text, with its tree and what the checker says of it. */
export interface VisaModel {
  readonly source: SourceText;
  readonly tree: VisaFile;
  readonly routines: readonly BoundRoutine[];
  readonly diagnostics: readonly Diagnostic[];
}

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

  get model(): VisaModel {
    if (this.#model === null) {
      const source = new SourceText(this.uri, this.#text);
      const { tree, diagnostics } = parseVisa(source);
      const checked = checkVisa(tree);
      const all = [...diagnostics, ...checked.diagnostics].sort((a, b) => a.span.start - b.span.start);
      this.#model = { source, tree, routines: checked.routines, diagnostics: all };
    }
    return this.#model;
  }

  edit({ start, end, text }: TextEdit): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#model = null;
  }

  findings(): readonly Finding[] {
    return this.model.diagnostics.map(({ span, severity, code, message, help, notes }) => ({
      ...span,
      severity,
      code,
      message,
      help: help ?? null,
      notes: notes.map((note) => ({
        message: note.message,
        place: note.span === undefined ? null : { uri: this.uri, start: note.span.start, end: note.span.end },
      })),
    }));
  }

  format(range: Span | null): readonly TextEdit[] {
    const { tree, source, diagnostics } = this.model;
    return hasErrors(diagnostics) ? [] : editsBetween(source.text, printVisa(tree), range);
  }

  hover(_offset: number): Hover | null {
    return null;
  }
  completions(_offset: number): readonly Completion[] {
    return [];
  }
  nameAt(_offset: number): NameAt | null {
    return null;
  }
  declarations(_offset: number): readonly Span[] {
    return [];
  }
  uses(_offset: number): readonly Highlight[] {
    return [];
  }
  rename(_offset: number, _text: string): readonly TextEdit[] | string {
    return "there is no name here";
  }
  sharedDeclarations(_name: string): readonly Span[] {
    return [];
  }
  sharedUses(_name: string): readonly Highlight[] {
    return [];
  }
  sharedRename(_name: string, _text: string): readonly TextEdit[] | string {
    return [];
  }
  symbols(): readonly SymbolNode[] {
    return [];
  }
  find(_query: string): readonly FoundSymbol[] {
    return [];
  }
  semanticTokens(_range: Span): readonly SemanticToken[] {
    return [];
  }
  foldingRanges(): readonly FoldingRange[] {
    return [];
  }
  signatureHelp(_offset: number): SignatureHelp | null {
    return null;
  }
  inlayHints(_range: Span): readonly InlayHint[] {
    return [];
  }
  codeActions(_range: Span): readonly CodeAction[] {
    return [];
  }
  callItem(_offset: number): CallItem | null {
    return null;
  }
  callers(_name: string): readonly CallEdge[] {
    return [];
  }
  callees(_name: string): ReadonlyMap<string, readonly Span[]> {
    return new Map();
  }
  callable(_name: string): CallItem | null {
    return null;
  }
  codeLenses(): readonly CodeLens[] {
    return [];
  }
  sourceLine(_offset: number): SourceLine | null {
    return null;
  }
  linesOf(_file: string, _line: number): readonly Span[] {
    return [];
  }
}

import type { Span } from "../../source/index.ts";
import type * as results from "./results.ts";

/** What can be asked about one document. All offsets are those of its text as it is now. */
export interface LanguageDocument {
  readonly uri: string;
  readonly language: results.Language;
  readonly text: string;
  /** The length of the text, which is known without putting it together. */
  readonly length: number;
  /** Replaces a range of the text. */
  edit(change: results.TextEdit): void;
  findings(): readonly results.Finding[];
  /** The findings about names that this document shares with others of its language. */
  linkFindings(others: readonly LanguageDocument[]): readonly results.Finding[];
  hover(offset: number): results.Hover | null;
  /** Works ahead, a function at a time, on what `hover` tells about a range. Returns whether there was one left. */
  prepare(range: Span): boolean;
  completions(offset: number): readonly results.Completion[];
  /** The name at an offset: where it stands, and what it means; null if there is none that is declared. */
  nameAt(offset: number): NameAt | null;
  /** The places in this document where the name at an offset is declared. */
  declarations(offset: number): readonly Span[];
  /** All places where the name at an offset stands, declarations included, in the order of the text. */
  uses(offset: number): readonly results.Highlight[];
  /** The edits that give the name at an offset another spelling; or why that is not possible. */
  rename(offset: number, text: string): readonly results.TextEdit[] | string;
  /** The same for a name that other documents know. */
  sharedDeclarations(name: string): readonly Span[];
  sharedUses(name: string): readonly results.Highlight[];
  sharedRename(name: string, text: string): readonly results.TextEdit[] | string;
  /** `inside`: with what is declared inside functions. */
  symbols(inside: boolean): readonly results.SymbolNode[];
  /** The names that other documents can see, whose names or names in the source language contain a text. */
  find(query: string): readonly results.FoundSymbol[];
  semanticTokens(range: Span): readonly results.SemanticToken[];
  foldingRanges(): readonly results.FoldingRange[];
  signatureHelp(offset: number): results.SignatureHelp | null;
  inlayHints(range: Span): readonly results.InlayHint[];
  codeActions(range: Span): readonly results.CodeAction[];
  format(range: Span | null): readonly results.TextEdit[];
  callItem(offset: number): results.CallItem | null;
  /** The functions of this document that call a function of this name. */
  callers(name: string): readonly results.CallEdge[];
  /** The names of the functions that a function of this document calls, with the places of the calls. */
  callees(name: string): ReadonlyMap<string, readonly Span[]>;
  /** The definition of a function that other documents may call. */
  callable(name: string): results.CallItem | null;
  codeLenses(): readonly results.CodeLens[];
  /** The line that the instruction at an offset was compiled from. */
  sourceLine(offset: number): results.SourceLine | null;
  /** The instructions that were compiled from a line of a file whose path ends in `file`. */
  linesOf(file: string, line: number): readonly Span[];
}

/** A name in a document and what it means. */
export interface NameAt extends Span {
  readonly name: string;
  /** Whether other documents of the program may know the name. */
  readonly shared: boolean;
}

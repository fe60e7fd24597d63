import type { Span } from "../../source/index.ts";
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
  Language,
  SemanticToken,
  SignatureHelp,
  SourceLine,
  SymbolNode,
  TextEdit,
} from "./results.ts";

/** What can be asked about one document. All offsets are those of its text as it is now. */
export interface LanguageDocument {
  readonly uri: string;
  readonly language: Language;
  readonly text: string;
  /** The length of the text, which is known without putting it together. */
  readonly length: number;
  /** Replaces a range of the text. */
  edit(change: TextEdit): void;
  findings(): readonly Finding[];
  hover(offset: number): Hover | null;
  completions(offset: number): readonly Completion[];
  /** The name at an offset: where it stands, and what it means; null if there is none that is declared. */
  nameAt(offset: number): NameAt | null;
  /** The places in this document where the name at an offset is declared. */
  declarations(offset: number): readonly Span[];
  /** All places where the name at an offset stands, declarations included, in the order of the text. */
  uses(offset: number): readonly Highlight[];
  /** The edits that give the name at an offset another spelling; or why that is not possible. */
  rename(offset: number, text: string): readonly TextEdit[] | string;
  /** The same for a name that other documents know. */
  sharedDeclarations(name: string): readonly Span[];
  sharedUses(name: string): readonly Highlight[];
  sharedRename(name: string, text: string): readonly TextEdit[] | string;
  symbols(): readonly SymbolNode[];
  /** The names that other documents can see, whose names or names in the source language contain a text. */
  find(query: string): readonly FoundSymbol[];
  semanticTokens(range: Span): readonly SemanticToken[];
  foldingRanges(): readonly FoldingRange[];
  signatureHelp(offset: number): SignatureHelp | null;
  inlayHints(range: Span): readonly InlayHint[];
  codeActions(range: Span): readonly CodeAction[];
  format(range: Span | null): readonly TextEdit[];
  callItem(offset: number): CallItem | null;
  /** The functions of this document that call a function of this name. */
  callers(name: string): readonly CallEdge[];
  /** The names of the functions that a function of this document calls, with the places of the calls. */
  callees(name: string): ReadonlyMap<string, readonly Span[]>;
  /** The definition of a function that other documents may call. */
  callable(name: string): CallItem | null;
  codeLenses(): readonly CodeLens[];
  /** The line that the instruction at an offset was compiled from. */
  sourceLine(offset: number): SourceLine | null;
  /** The instructions that were compiled from a line of a file whose path ends in `file`. */
  linesOf(file: string, line: number): readonly Span[];
}

/** A name in a document and what it means. */
export interface NameAt extends Span {
  readonly name: string;
  /** Whether other documents of the program may know the name. */
  readonly shared: boolean;
}

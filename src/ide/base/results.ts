import type { Severity, Span } from "../../source/index.ts";

/** The languages of documents: PTX, and vISA as text. */
export const languages = ["ptx", "visa"] as const;
/** A language of documents. */
export type Language = (typeof languages)[number];

/** A range of a document. Offsets are UTF-16 units, as in strings. */
export interface Place extends Span {
  readonly uri: string;
}

/** The replacement of a range by a text. */
export interface TextEdit extends Span {
  readonly text: string;
}

/** The edits of several documents, each in the order of its text and without overlaps. */
export type WorkspaceEdits = ReadonlyMap<string, readonly TextEdit[]>;

/** An error or a warning of the checker. */
export interface Finding extends Span {
  readonly severity: Severity;
  /** `lanewise explain CODE` has a page about it. */
  readonly code: string;
  /** What is wrong, and after a line break what would be right. */
  readonly message: string;
  /** What would be right. */
  readonly help: string | null;
  readonly notes: readonly { readonly message: string; readonly place: Place | null }[];
}

/** What is shown about the word at a place. */
export interface Hover extends Span {
  /** In Markdown. */
  readonly text: string;
}

/** The kinds of things that have names. */
export type SymbolKind =
  | "kernel"
  | "function"
  | "variable"
  | "register"
  | "parameter"
  | "label"
  | "prototype"
  | "targets"
  | "constant";

/** The kinds of things that can be completed. */
export type CompletionKind = SymbolKind | "instruction" | "modifier" | "directive" | "type" | "special";

/** A way to go on at the cursor. */
export interface Completion {
  readonly label: string;
  readonly kind: CompletionKind;
  /** A few words beside the label. */
  readonly detail: string;
  /** In Markdown. */
  readonly documentation: string;
  /** Replaces what is written of the word so far. */
  readonly edit: TextEdit;
  /** What to sort by. */
  readonly order: string;
}

/** A use of a name in the document. */
export interface Highlight extends Span {
  readonly write: boolean;
}

/** A declaration, with those inside it. */
export interface SymbolNode extends Span {
  readonly name: string;
  /** Such as its type, or the name in the source language. */
  readonly detail: string;
  readonly kind: SymbolKind;
  /** The place of the name. */
  readonly selection: Span;
  readonly children: readonly SymbolNode[];
}

/** A declaration found by its name. */
export interface FoundSymbol {
  readonly name: string;
  readonly detail: string;
  readonly kind: SymbolKind;
  readonly place: Place;
}

/** The kinds of words that editors colour. */
export const tokenTypes = [
  "keyword",
  "instruction",
  "modifier",
  "type",
  "function",
  "variable",
  "parameter",
  "register",
  "label",
  "special",
  "number",
  "string",
  "comment",
] as const;
/** A kind of word that editors colour. */
export type TokenType = (typeof tokenTypes)[number];

/** A coloured word. */
export interface SemanticToken extends Span {
  readonly type: TokenType;
  /** Whether the word declares the name. */
  readonly declaration: boolean;
}

/** A range that can be folded, from the end of its first line to the end of its last. */
export interface FoldingRange extends Span {
  readonly kind: "block" | "comment";
}

/** The function that is called at the cursor. */
export interface SignatureHelp {
  readonly label: string;
  /** The ranges of the parameters in the label. */
  readonly parameters: readonly Span[];
  /** The index of the parameter at the cursor; -1 if it is beyond them. */
  readonly active: number;
  /** In Markdown. */
  readonly documentation: string;
}

/** A remark that is shown between the words of the text. */
export interface InlayHint {
  readonly offset: number;
  readonly text: string;
  readonly kind: "parameter" | "source-line";
}

/** A change that repairs a finding. */
export interface CodeAction {
  readonly title: string;
  /** `fix` repairs one finding, `fix-all` all of its code in the document. */
  readonly kind: "fix" | "fix-all";
  /** The code of the finding. */
  readonly code: string;
  readonly edits: readonly TextEdit[];
}

/** A function in the hierarchy of calls. */
export interface CallItem {
  readonly name: string;
  readonly detail: string;
  readonly kind: "kernel" | "function";
  /** The whole definition. */
  readonly place: Place;
  /** The name in it. */
  readonly selection: Span;
}

/** A function that calls or is called, with the places of the calls in the caller's document. */
export interface CallEdge {
  readonly item: CallItem;
  readonly calls: readonly Span[];
}

/** A command that is shown above a kernel. */
export interface CodeLens extends Span {
  readonly title: string;
  readonly command: "run" | "debug" | "profile" | "sanitize";
  readonly kernel: string;
}

/** The line of another file that an instruction was compiled from. */
export interface SourceLine {
  /** The path as the debug information has it. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1; 0 if it is not known. */
  readonly column: number;
}

/** The result of a rename: edits, or why the name cannot be given. */
export type RenameResult = { readonly edits: WorkspaceEdits } | { readonly problem: string };

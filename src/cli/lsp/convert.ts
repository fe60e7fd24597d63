import {
  type CallHierarchyItem,
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  type Diagnostic,
  DiagnosticSeverity,
  type DocumentSymbol,
  InlayHintKind,
  type InlayHint,
  MarkupKind,
  type SemanticTokens,
  SymbolKind,
  type TextEdit,
} from "vscode-languageserver";
import type * as ide from "../../ide/index.ts";
import type { Lines } from "./lines.ts";

/** Gives the lines of a document. */
export type LinesOf = (uri: string) => Lines;

const symbolKinds: Readonly<Record<ide.SymbolKind, SymbolKind>> = {
  kernel: SymbolKind.Function,
  function: SymbolKind.Function,
  variable: SymbolKind.Variable,
  register: SymbolKind.Field,
  parameter: SymbolKind.TypeParameter,
  label: SymbolKind.Key,
  prototype: SymbolKind.Interface,
  targets: SymbolKind.Array,
  constant: SymbolKind.Constant,
};

const completionKinds: Readonly<Record<ide.CompletionKind, CompletionItemKind>> = {
  kernel: CompletionItemKind.Function,
  function: CompletionItemKind.Function,
  variable: CompletionItemKind.Variable,
  register: CompletionItemKind.Field,
  parameter: CompletionItemKind.TypeParameter,
  label: CompletionItemKind.Reference,
  prototype: CompletionItemKind.Interface,
  targets: CompletionItemKind.Enum,
  constant: CompletionItemKind.Constant,
  instruction: CompletionItemKind.Operator,
  modifier: CompletionItemKind.EnumMember,
  directive: CompletionItemKind.Keyword,
  type: CompletionItemKind.Class,
  special: CompletionItemKind.Constant,
};

/** The types of semantic tokens as the protocol names them, by ours. */
const semanticNames: Readonly<Record<ide.TokenType, string>> = {
  keyword: "keyword",
  instruction: "function",
  modifier: "modifier",
  type: "type",
  function: "function",
  variable: "variable",
  parameter: "parameter",
  register: "variable",
  label: "event",
  special: "macro",
  number: "number",
  string: "string",
  comment: "comment",
};

/** The legend of semantic tokens. */
export const legend = {
  tokenTypes: [...new Set(Object.values(semanticNames))],
  tokenModifiers: ["declaration"],
};

export function diagnosticOf(found: ide.Finding, uri: string, linesOf: LinesOf): Diagnostic {
  const notes = found.notes.flatMap(({ message, place }) =>
    place === null ? [] : [{ message, location: { uri: place.uri, range: linesOf(place.uri).range(place) } }],
  );
  const plain = found.notes.flatMap(({ message, place }) => (place === null ? [message] : []));
  const help = found.help === null ? [] : [`help: ${found.help}`];
  return {
    range: linesOf(uri).range(found),
    severity: found.severity === "error" ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code: found.code,
    source: "lanewise",
    message: [found.message, ...plain, ...help].join("\n"),
    ...(notes.length === 0 ? {} : { relatedInformation: notes }),
  };
}

export const markup = (value: string) => ({ kind: MarkupKind.Markdown, value });

export const editOf = (edit: ide.TextEdit, lines: Lines): TextEdit => ({
  range: lines.range(edit),
  newText: edit.text,
});

export function completionOf(found: ide.Completion, lines: Lines): CompletionItem {
  const { label, kind, detail, documentation, edit, order } = found;
  return {
    label,
    kind: completionKinds[kind],
    ...(detail === "" ? {} : { detail }),
    ...(documentation === "" ? {} : { documentation: markup(documentation) }),
    textEdit: editOf(edit, lines),
    filterText: edit.text,
    sortText: order,
  };
}

/** The protocol wants the name within the declaration. */
export function symbolOf(
  { name, detail, kind, start, end, selection, children }: ide.SymbolNode,
  lines: Lines,
): DocumentSymbol {
  return {
    name: name === "" ? "?" : name,
    detail,
    kind: symbolKinds[kind],
    range: lines.range({ start: Math.min(start, selection.start), end: Math.max(end, selection.end) }),
    selectionRange: lines.range(selection),
    children: children.map((child) => symbolOf(child, lines)),
  };
}

export const symbolKindOf = (kind: ide.SymbolKind): SymbolKind => symbolKinds[kind];

export function actionOf(found: ide.CodeAction, uri: string, lines: Lines, diagnostics: Diagnostic[]): CodeAction {
  const { title, kind, code, edits } = found;
  return {
    title: title[0]!.toUpperCase() + title.slice(1),
    kind: kind === "fix" ? CodeActionKind.QuickFix : `${CodeActionKind.SourceFixAll}.lanewise`,
    diagnostics: diagnostics.filter((diagnostic) => diagnostic.code === code),
    isPreferred: kind === "fix",
    edit: { changes: { [uri]: edits.map((edit) => editOf(edit, lines)) } },
  };
}

export const hintOf = ({ offset, text, kind }: ide.InlayHint, lines: Lines): InlayHint => ({
  position: lines.position(offset),
  label: text,
  ...(kind === "parameter" ? { kind: InlayHintKind.Parameter, paddingRight: true } : { paddingLeft: true }),
});

export function callItemOf(
  { name, detail, kind, place, selection }: ide.CallItem,
  linesOf: LinesOf,
): CallHierarchyItem {
  const lines = linesOf(place.uri);
  return {
    name,
    detail,
    kind: symbolKinds[kind],
    uri: place.uri,
    range: lines.range(place),
    selectionRange: lines.range(selection),
  };
}

/** Five numbers a token: lines and characters since the one before, length, type, modifiers. */
export function semanticTokensOf(tokens: readonly ide.SemanticToken[], lines: Lines): SemanticTokens {
  const data: number[] = [];
  let last = { line: 0, character: 0 };
  for (const { start, end, type, declaration } of tokens) {
    const from = lines.position(start);
    const to = lines.position(end);
    // A token is in one line; comments and strings of several are left to the grammar.
    if (from.line !== to.line || end <= start) continue;
    const line = from.line - last.line;
    const character = line === 0 ? from.character - last.character : from.character;
    data.push(line, character, end - start, legend.tokenTypes.indexOf(semanticNames[type]), declaration ? 1 : 0);
    last = from;
  }
  return { data };
}

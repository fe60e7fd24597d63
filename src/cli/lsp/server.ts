import {
  CodeActionKind,
  type Connection,
  FoldingRangeKind,
  type InitializeResult,
  type Location,
  TextDocumentSyncKind,
  type TextDocumentContentChangeEvent,
  type WorkspaceEdit,
} from "vscode-languageserver";
import type { CallItem, Language, Place } from "../../ide/index.ts";
import { Workspace } from "../../ide/index.ts";
import type { Span } from "../../source/index.ts";
import {
  actionOf,
  callItemOf,
  completionOf,
  diagnosticOf,
  editOf,
  hintOf,
  legend,
  markup,
  semanticTokensOf,
  symbolKindOf,
  symbolOf,
} from "./convert.ts";
import { Lines } from "./lines.ts";

/** What the server needs of the machine that it runs on. */
export interface Machine {
  /** Finds a file that debug information names, from the folder of a document; null if there is none. */
  findFile(path: string, document: string): string | null;
  readonly version: string;
}

const triggers = [".", "%", "[", "@", " ", ",", "("];

const capabilities: InitializeResult["capabilities"] = {
  positionEncoding: "utf-16",
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
  hoverProvider: true,
  completionProvider: { triggerCharacters: triggers },
  signatureHelpProvider: { triggerCharacters: ["(", ","] },
  definitionProvider: true,
  declarationProvider: true,
  referencesProvider: true,
  documentHighlightProvider: true,
  documentSymbolProvider: true,
  workspaceSymbolProvider: true,
  foldingRangeProvider: true,
  renameProvider: { prepareProvider: true },
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.SourceFixAll] },
  codeLensProvider: {},
  inlayHintProvider: true,
  documentFormattingProvider: true,
  documentRangeFormattingProvider: true,
  callHierarchyProvider: true,
  semanticTokensProvider: { legend, full: true, range: true },
};

/** How long to wait for further keystrokes before a document is checked, in milliseconds. */
const pause = 15;

/** How long nobody may have asked for anything before the server works ahead, in milliseconds. */
const rest = 100;

/**
 * The length from which on a document is large: what editors ask about all of it after every pause would take seconds,
 * most of it to write and read the answer. They get the words of a page, and symbols without what is inside them.
 */
const large = 2_000_000;

/** A language server: answers an editor's requests from a workspace. */
export class LanguageServer {
  readonly #connection: Connection;
  readonly #machine: Machine;
  readonly #workspace = new Workspace();
  readonly #lines = new Map<string, Lines>();
  readonly #versions = new Map<string, number>();
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  /** The page of each document that its editor shows, until all of it is known or edited. */
  readonly #pages = new Map<string, Span>();
  #ahead: NodeJS.Timeout | undefined;
  /** The diagnostics that were sent last, as text. */
  readonly #sent = new Map<string, string>();

  constructor(connection: Connection, machine: Machine) {
    this.#connection = connection;
    this.#machine = machine;
    const info = { name: "lanewise", version: machine.version };
    connection.onInitialize(() => ({ capabilities, serverInfo: info }));
    this.#documents();
    this.#names();
    this.#outlines();
    this.#edits();
    this.#calls();
  }

  /** Begins to read messages. */
  listen(): void {
    this.#connection.listen();
  }

  readonly #linesOf = (uri: string): Lines => {
    let lines = this.#lines.get(uri);
    if (lines === undefined) this.#lines.set(uri, (lines = Lines.of(this.#workspace.text(uri))));
    return lines;
  };

  #offset({
    textDocument: { uri },
    position,
  }: {
    textDocument: { uri: string };
    position: { line: number; character: number };
  }): number {
    return this.#linesOf(uri).offset(position);
  }

  readonly #location = (place: Place): Location => ({ uri: place.uri, range: this.#linesOf(place.uri).range(place) });

  // ---- Documents ---------------------------------------------------------------------------------------------------

  #documents(): void {
    const connection = this.#connection;
    connection.onDidOpenTextDocument(({ textDocument: { uri, languageId, text, version } }) => {
      this.#workspace.openDocument(uri, text, languageOf(languageId, uri));
      this.#lines.delete(uri);
      this.#changed(uri, version);
    });
    connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) => {
      for (const change of contentChanges) this.#change(uri, change);
      this.#changed(uri, version);
    });
    connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
      this.#workspace.closeDocument(uri);
      this.#lines.delete(uri);
      this.#pages.delete(uri);
      this.#sent.delete(uri);
      clearTimeout(this.#waiting.get(uri));
      this.#waiting.delete(uri);
      void connection.sendDiagnostics({ uri, diagnostics: [] });
      for (const other of this.#workspace.uris) this.#send(other, false);
    });
  }

  #change(uri: string, change: TextDocumentContentChangeEvent): void {
    const lines = this.#linesOf(uri);
    const span = "range" in change ? lines.span(change.range) : { start: 0, end: this.#workspace.length(uri) };
    this.#workspace.update(uri, [{ ...span, text: change.text }]);
    const now = lines.edited(span, change.text);
    if (now === null) this.#lines.delete(uri);
    else this.#lines.set(uri, now);
    this.#pages.delete(uri);
  }

  #changed(uri: string, version: number): void {
    this.#versions.set(uri, version);
    clearTimeout(this.#waiting.get(uri));
    this.#waiting.set(
      uri,
      setTimeout(() => this.#check(uri), pause),
    );
  }

  /** Notes that a page is shown, what is asked about which next should be known by then. */
  #shows(uri: string, page: Span): void {
    this.#pages.set(uri, page);
    clearTimeout(this.#ahead);
    this.#ahead = setTimeout(() => this.#workAhead(), rest).unref();
  }

  /** Does a bit of work for a page that is shown, and goes on after whatever has been asked meanwhile. */
  #workAhead(): void {
    const [first] = this.#pages;
    if (first === undefined) return;
    const [uri, page] = first;
    if (this.#waiting.size === 0 && !this.#workspace.prepare(uri, page)) this.#pages.delete(uri);
    this.#ahead = setTimeout(() => this.#workAhead(), pause).unref();
  }

  #check(uri: string): void {
    this.#waiting.delete(uri);
    this.#send(uri, true);
    // What this document declares may be right or wrong in others.
    for (const other of this.#workspace.uris) if (other !== uri && !this.#waiting.has(other)) this.#send(other, false);
  }

  /** Sends the diagnostics of a document; unless `always`, only if they are other ones than were sent last. */
  #send(uri: string, always: boolean): void {
    const diagnostics = this.#workspace.diagnostics(uri).map((found) => diagnosticOf(found, uri, this.#linesOf));
    const text = JSON.stringify(diagnostics);
    if (!always && this.#sent.get(uri) === text) return;
    this.#sent.set(uri, text);
    const version = this.#versions.get(uri);
    void this.#connection.sendDiagnostics({ uri, diagnostics, ...(version === undefined ? {} : { version }) });
  }

  // ---- Names -------------------------------------------------------------------------------------------------------

  #names(): void {
    const connection = this.#connection;
    const workspace = this.#workspace;
    connection.onHover((params) => {
      const { uri } = params.textDocument;
      const hover = workspace.hover(uri, this.#offset(params));
      return hover === null ? null : { contents: markup(hover.text), range: this.#linesOf(uri).range(hover) };
    });
    connection.onCompletion((params) => {
      const { uri } = params.textDocument;
      const lines = this.#linesOf(uri);
      return workspace.completions(uri, this.#offset(params)).map((found) => completionOf(found, lines));
    });
    connection.onSignatureHelp((params) => {
      const help = workspace.signatureHelp(params.textDocument.uri, this.#offset(params));
      if (help === null) return null;
      const parameters = help.parameters.map(({ start, end }) => ({ label: [start, end] as [number, number] }));
      const signature = { label: help.label, documentation: markup(help.documentation), parameters };
      const activeParameter = help.active < 0 ? parameters.length : help.active;
      return { signatures: [signature], activeSignature: 0, activeParameter };
    });
    const definition = (params: Parameters<Parameters<Connection["onDefinition"]>[0]>[0]): Location[] => {
      const { uri } = params.textDocument;
      const found = workspace.definition(uri, this.#offset(params)).map(this.#location);
      return found.length > 0 ? found : this.#sourceLocation(uri, this.#offset(params));
    };
    connection.onDefinition(definition);
    connection.onDeclaration(definition);
    connection.onReferences((params) => {
      const { includeDeclaration: declaration } = params.context;
      return workspace.references(params.textDocument.uri, this.#offset(params), { declaration }).map(this.#location);
    });
    connection.onDocumentHighlight((params) => {
      const { uri } = params.textDocument;
      const lines = this.#linesOf(uri);
      const found = workspace.highlights(uri, this.#offset(params));
      return found.map((each) => ({ range: lines.range(each), kind: each.write ? 3 : 2 }));
    });
    connection.onRequest("lanewise/sourceLine", (params: Parameters<typeof definition>[0]) =>
      this.#sourceLocation(params.textDocument.uri, this.#offset(params)),
    );
    connection.onRequest("lanewise/compiledFrom", ({ file, line }: { file: string; line: number }) =>
      workspace.compiledFrom(file.replace(/^.*[\\/]/, ""), line).map(this.#location),
    );
  }

  /** The line that an instruction was compiled from, in its file. */
  #sourceLocation(uri: string, offset: number): Location[] {
    const source = this.#workspace.sourceLine(uri, offset);
    const found = source && this.#machine.findFile(source.file, uri);
    if (source === null || found === null) return [];
    const start = { line: source.line - 1, character: Math.max(0, source.column - 1) };
    return [{ uri: found, range: { start, end: start } }];
  }

  // ---- Outlines ----------------------------------------------------------------------------------------------------

  #outlines(): void {
    const connection = this.#connection;
    const workspace = this.#workspace;
    const isLarge = (uri: string): boolean => workspace.length(uri) >= large;
    connection.onDocumentSymbol(({ textDocument: { uri } }) => {
      const symbols = workspace.symbols(uri, isLarge(uri) ? { inside: false } : {});
      return symbols.map((symbol) => symbolOf(symbol, this.#linesOf(uri)));
    });
    connection.onWorkspaceSymbol(({ query }) =>
      workspace.workspaceSymbols(query).map(({ name, detail, kind, place }) => ({
        name,
        kind: symbolKindOf(kind),
        location: this.#location(place),
        ...(detail === "" ? {} : { containerName: detail }),
      })),
    );
    connection.onFoldingRanges(({ textDocument: { uri } }) => {
      const lines = this.#linesOf(uri);
      return workspace.foldingRanges(uri).flatMap(({ kind, ...span }) => {
        const { start, end } = lines.range(span);
        const range = { startLine: start.line, endLine: kind === "block" ? end.line - 1 : end.line };
        if (range.endLine <= range.startLine) return [];
        return [kind === "comment" ? { ...range, kind: FoldingRangeKind.Comment } : range];
      });
    });
    connection.languages.semanticTokens.on(({ textDocument: { uri } }) =>
      isLarge(uri) ? null : semanticTokensOf(workspace.semanticTokens(uri), this.#linesOf(uri)),
    );
    connection.languages.semanticTokens.onRange(({ textDocument: { uri }, range }) => {
      const lines = this.#linesOf(uri);
      const page = lines.span(range);
      this.#shows(uri, page);
      return semanticTokensOf(workspace.semanticTokens(uri, page), lines);
    });
    connection.languages.inlayHint.on(({ textDocument: { uri }, range }) => {
      const lines = this.#linesOf(uri);
      const page = lines.span(range);
      this.#shows(uri, page);
      return workspace.inlayHints(uri, page).map((hint) => hintOf(hint, lines));
    });
    connection.onCodeLens(({ textDocument: { uri } }) => {
      const lines = this.#linesOf(uri);
      return workspace.codeLenses(uri).map(({ title, command, kernel, ...span }) => ({
        range: lines.range(span),
        command: { title, command: `lanewise.${command}`, arguments: [uri, kernel] },
      }));
    });
  }

  // ---- Edits -------------------------------------------------------------------------------------------------------

  #edits(): void {
    const connection = this.#connection;
    const workspace = this.#workspace;
    connection.onPrepareRename((params) => {
      const { uri } = params.textDocument;
      const name = workspace.renameable(uri, this.#offset(params));
      return name === null ? null : { range: this.#linesOf(uri).range(name), placeholder: name.name };
    });
    connection.onRenameRequest((params) => {
      const renamed = workspace.rename(params.textDocument.uri, this.#offset(params), params.newName);
      if ("problem" in renamed) throw new Error(renamed.problem);
      const changes: NonNullable<WorkspaceEdit["changes"]> = {};
      for (const [uri, edits] of renamed.edits) changes[uri] = edits.map((edit) => editOf(edit, this.#linesOf(uri)));
      return { changes };
    });
    connection.onCodeAction(({ textDocument: { uri }, range, context: { diagnostics, only } }) => {
      const lines = this.#linesOf(uri);
      const actions = workspace
        .codeActions(uri, lines.span(range))
        .map((each) => actionOf(each, uri, lines, diagnostics));
      return actions.filter(({ kind }) => only === undefined || only.some((wanted) => kind!.startsWith(wanted)));
    });
    const format = (uri: string, range?: Parameters<Lines["span"]>[0]) => {
      const lines = this.#linesOf(uri);
      const edits = workspace.format(uri, range === undefined ? undefined : lines.span(range));
      return edits.map((edit) => editOf(edit, lines));
    };
    connection.onDocumentFormatting(({ textDocument: { uri } }) => format(uri));
    connection.onDocumentRangeFormatting(({ textDocument: { uri }, range }) => format(uri, range));
  }

  // ---- The hierarchy of calls --------------------------------------------------------------------------------------

  #calls(): void {
    const { languages } = this.#connection;
    const workspace = this.#workspace;
    const item = (found: CallItem) => callItemOf(found, this.#linesOf);
    const at = ({
      uri,
      selectionRange,
    }: {
      uri: string;
      selectionRange: { start: { line: number; character: number } };
    }) => workspace.callHierarchy(uri, this.#linesOf(uri).offset(selectionRange.start));
    languages.callHierarchy.onPrepare((params) => {
      const found = workspace.callHierarchy(params.textDocument.uri, this.#offset(params));
      return found === null ? null : [item(found)];
    });
    languages.callHierarchy.onIncomingCalls((params) => {
      const found = at(params.item);
      return (found === null ? [] : workspace.incomingCalls(found)).map((edge) => ({
        from: item(edge.item),
        fromRanges: edge.calls.map((call) => this.#linesOf(edge.item.place.uri).range(call)),
      }));
    });
    languages.callHierarchy.onOutgoingCalls((params) => {
      const found = at(params.item);
      return (found === null ? [] : workspace.outgoingCalls(found)).map((edge) => ({
        to: item(edge.item),
        fromRanges: edge.calls.map((call) => this.#linesOf(params.item.uri).range(call)),
      }));
    });
  }
}

const languageOf = (id: string, uri: string): Language =>
  id === "visa" || /\.(visaasm|isaasm)$/i.test(uri) ? "visa" : "ptx";

import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import {
  CallHierarchyIncomingCallsRequest,
  CallHierarchyPrepareRequest,
  CodeActionRequest,
  CodeLensRequest,
  CompletionRequest,
  createConnection,
  createProtocolConnection,
  DefinitionRequest,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentFormattingRequest,
  DocumentSymbolRequest,
  FoldingRangeRequest,
  HoverRequest,
  InitializeRequest,
  InlayHintRequest,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  PublishDiagnosticsNotification,
  ReferencesRequest,
  RenameRequest,
  SemanticTokensRangeRequest,
  SemanticTokensRequest,
  SignatureHelpRequest,
  StreamMessageReader,
  StreamMessageWriter,
  WorkspaceSymbolRequest,
} from "vscode-languageserver/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LanguageServer } from "../../src/cli/lsp/server.ts";

/* A client of the protocol's library talks to the server: its types check what is asked, its framing what is sent. */

const uri = "file:///program.ptx";
const text = readFileSync(new URL("../../examples/bugs/wrong-prototype.ptx", import.meta.url), "utf8");
const found: PublishDiagnosticsParams[] = [];
const patience = { timeout: 20_000 };
let client: ProtocolConnection;

/** The position of the nth occurrence of a word, and some characters on. */
function at(word: string, nth = 0, on = 0): { line: number; character: number } {
  let offset = -1;
  for (let i = 0; i <= nth; i++) offset = text.indexOf(word, offset + 1);
  const before = text.slice(0, offset).split("\n");
  return { line: before.length - 1, character: before.at(-1)!.length + on };
}

const here = (word: string, nth = 0, on = 0) => ({ textDocument: { uri }, position: at(word, nth, on) });

beforeAll(async () => {
  const [up, down] = [new PassThrough(), new PassThrough()];
  const connection = createConnection(new StreamMessageReader(up), new StreamMessageWriter(down));
  new LanguageServer(connection, {
    findFile: (file) => (file.endsWith("scale.cu") ? "file:///src/scale.cu" : null),
    version: "0",
  }).listen();
  client = createProtocolConnection(new StreamMessageReader(down), new StreamMessageWriter(up));
  client.onNotification(PublishDiagnosticsNotification.type, (params) => void found.push(params));
  client.listen();
  const { capabilities } = await client.sendRequest(InitializeRequest.type, {
    processId: null,
    rootUri: null,
    capabilities: {},
  });
  expect(capabilities.hoverProvider).toBe(true);
  const textDocument = { uri, languageId: "ptx", version: 1, text };
  await client.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
});

afterAll(() => client.dispose());

/** The diagnostics of a version of the document, once they have come. */
const diagnosticsOf = (version: number) =>
  expect.poll(() => found.find((each) => each.uri === uri && each.version === version)?.diagnostics, patience);

test("diagnostics come after the document is opened, and after each change", async () => {
  await diagnosticsOf(1).toEqual([]);
  const range = { start: at("shl.b32"), end: at("shl.b32", 0, 3) };
  const edit = (version: number, change: object) =>
    client.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [change as { text: string }],
    });
  await edit(2, { range, text: "shlx" });
  await diagnosticsOf(2).toMatchObject([
    { code: "unknown-instruction", severity: 1, source: "lanewise", range: { start: at("shl.b32") } },
  ]);
  const actions = await client.sendRequest(CodeActionRequest.type, {
    textDocument: { uri },
    range,
    context: { diagnostics: [] },
  });
  expect(actions?.map(({ title }) => title)).toContain("Change to 'shl'");
  const longer = { start: range.start, end: at("shl.b32", 0, 4) };
  await edit(3, { range: longer, text: "shl" });
  await diagnosticsOf(3).toEqual([]);
});

test("what one file declares is compared with what another one defines, in whichever one types", async () => {
  const [caller, callee] = ["file:///caller.ptx", "file:///callee.ptx"];
  const head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  const open = (at: string, code: string) =>
    client.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: at, languageId: "ptx", version: 1, text: head + code },
    });
  const last = (at: string) => expect.poll(() => found.findLast((each) => each.uri === at)?.diagnostics, patience);
  await open(caller, ".extern .func f(.param .b64 x);\n");
  await last(caller).toEqual([]);
  await open(callee, ".visible .func f(.param .b32 x) { ret; }\n");
  await last(caller).toMatchObject([
    { code: "prototype-mismatch", relatedInformation: [{ location: { uri: callee } }] },
  ]);
  for (const at of [callee, caller])
    await client.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri: at } });
});

test("hover, definition and references of a function", async () => {
  const hover = await client.sendRequest(HoverRequest.type, here("twice", 1));
  expect(hover?.contents).toMatchObject({ kind: "markdown" });
  expect(JSON.stringify(hover?.contents)).toContain(".func (.param .u32 result) twice");
  const definition = await client.sendRequest(DefinitionRequest.type, here("twice", 1));
  expect(definition).toEqual([{ uri, range: { start: at("twice"), end: at("twice", 0, 5) } }]);
  const context = { includeDeclaration: false };
  const references = await client.sendRequest(ReferencesRequest.type, { ...here("twice"), context });
  expect(references).toHaveLength(1);
});

test("a rename is a set of edits, or an error that says why", async () => {
  const { changes } = (await client.sendRequest(RenameRequest.type, { ...here("%t", 0), newName: "%lane" }))!;
  expect(changes?.[uri]?.length).toBeGreaterThan(3);
  await expect(client.sendRequest(RenameRequest.type, { ...here("%t", 0), newName: "%i" })).rejects.toThrow(/already/);
});

test("completion of modifiers and the help for a signature", async () => {
  const items = await client.sendRequest(CompletionRequest.type, here("shl.b32", 0, 4));
  const labels = (Array.isArray(items) ? items : (items?.items ?? [])).map(({ label }) => label);
  expect(labels).toEqual([".b16", ".b32", ".b64"]);
  expect(await client.sendRequest(SignatureHelpRequest.type, here("shl.b32", 0, 4))).toBeNull();
});

test("outlines: symbols, folding, colours, hints, lenses, calls", async () => {
  const textDocument = { uri };
  const symbols = await client.sendRequest(DocumentSymbolRequest.type, { textDocument });
  expect(symbols?.map(({ name }) => name)).toEqual(["twice", "square", "operations", "apply"]);
  const named = await client.sendRequest(WorkspaceSymbolRequest.type, { query: "squ" });
  expect(named?.map(({ name }) => name)).toEqual(["square"]);
  expect((await client.sendRequest(FoldingRangeRequest.type, { textDocument }))?.length).toBeGreaterThan(3);
  const colours = await client.sendRequest(SemanticTokensRequest.type, { textDocument });
  expect((colours?.data.length ?? 0) % 5).toBe(0);
  expect(colours?.data.length).toBeGreaterThan(500);
  const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  expect(await client.sendRequest(InlayHintRequest.type, { textDocument, range })).toEqual([]);
  const lenses = await client.sendRequest(CodeLensRequest.type, { textDocument });
  expect(lenses?.map(({ command }) => command?.command)).toEqual([
    "lanewise.run",
    "lanewise.debug",
    "lanewise.profile",
    "lanewise.sanitize",
  ]);
  const [item] = (await client.sendRequest(CallHierarchyPrepareRequest.type, here("square")))!;
  const callers = await client.sendRequest(CallHierarchyIncomingCallsRequest.type, { item: item! });
  // The call goes through a prototype, and the function's address is in a table.
  expect(callers?.map(({ from }) => from.name)).toEqual(["apply"]);
  const options = { tabSize: 4, insertSpaces: true };
  const edits = await client.sendRequest(DocumentFormattingRequest.type, { textDocument, options });
  expect(edits?.length).toBeGreaterThan(0);
});

/* A kernel as nvcc writes it: `.loc file line column` holds for the instructions after it (manual, 11.5.3). */
const compiled = {
  uri: "file:///scale.ptx",
  text: `.version 8.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 x)
{
    .reg .b32 %v;
    .reg .b64 %p;
    .loc 1 3 5
    ld.param.u64 %p, [x];
    ld.global.u32 %v, [%p];
    .loc 1 4 17
    addd.u32 %v, %v, %v;
    st.global.u32 [%p], %v;
    retn;
}
.file 1 "/home/me/scale.cu"
`,
};

test("from an instruction to its line of CUDA, and back", async () => {
  const { uri: own, text: program } = compiled;
  await client.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri: own, languageId: "ptx", version: 1, text: program },
  });
  const lineOf = (line: number) =>
    client.sendRequest("lanewise/sourceLine", { textDocument: { uri: own }, position: { line, character: 6 } });
  const cuda = (line: number, character: number) => {
    const start = { line, character };
    return [{ uri: "file:///src/scale.cu", range: { start, end: start } }];
  };
  // Lines and characters of the protocol count from 0.
  expect(await lineOf(9)).toEqual(cuda(2, 4));
  expect(await lineOf(12)).toEqual(cuda(3, 16));
  const back = (await client.sendRequest("lanewise/compiledFrom", { file: "/src/scale.cu", line: 3 })) as {
    range: { start: { line: number } };
  }[];
  expect(back.map(({ range }) => range.start.line)).toEqual([8, 9]);
});

test("all repairs of a file at once", async () => {
  const { uri: own, text: program } = compiled;
  const at = { line: 11, character: 6 };
  const actions = await client.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: own },
    range: { start: at, end: at },
    context: { diagnostics: [] },
  });
  const edits = actions?.flatMap((action) =>
    "edit" in action && /all/i.test(action.title) ? (action.edit?.changes?.[own] ?? []) : [],
  );
  const lines = program.split("\n");
  const repaired = edits?.map(({ range: { start, end }, newText }) => {
    const line = lines[start.line]!;
    return line.slice(0, start.character) + newText + line.slice(end.character);
  });
  expect(repaired).toEqual(["    add.u32 %v, %v, %v;", "    ret;"]);
});

test("requests about documents that are not open, and positions beyond the text, are answered", async () => {
  const textDocument = { uri: "file:///none" };
  const position = { line: 9999, character: 9999 };
  expect(await client.sendRequest(HoverRequest.type, { textDocument, position })).toBeNull();
  expect(await client.sendRequest(HoverRequest.type, { textDocument: { uri }, position })).toBeNull();
  expect(await client.sendRequest(DocumentSymbolRequest.type, { textDocument })).toEqual([]);
});

test("a document of two megabytes is asked about page by page", async () => {
  const large = "file:///large.ptx";
  const entry = (n: number): string =>
    `.visible .entry k${n}() { .reg .u32 %r1; mov.u32 %r1, 1; ret; } // ${"-".repeat(900)}\n`;
  const lines = [".version 8.0", ".target sm_90", ".address_size 64"];
  const whole = `${lines.join("\n")}\n${Array.from({ length: 2100 }, (_, n) => entry(n)).join("")}`;
  const textDocument = { uri: large };
  await client.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri: large, languageId: "ptx", version: 1, text: whole },
  });
  expect(await client.sendRequest(SemanticTokensRequest.type, { textDocument })).toBeNull();
  const range = { start: { line: 3, character: 0 }, end: { line: 4, character: 0 } };
  const page = await client.sendRequest(SemanticTokensRangeRequest.type, { textDocument, range });
  expect(page!.data.length).toBeGreaterThan(20);
  const symbols = await client.sendRequest(DocumentSymbolRequest.type, { textDocument });
  expect(symbols).toHaveLength(2100);
  expect(symbols![0]).toMatchObject({ name: "k0", children: [] });
  const end = { line: 4, character: 0 };
  await client.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri: large, version: 2 },
    contentChanges: [{ range: { start: end, end }, text: "ad.u32;\n" }],
  });
  await expect
    .poll(() => found.find(({ uri: of, version }) => of === large && version === 2)?.diagnostics, patience)
    .toEqual([expect.objectContaining({ range: { start: end, end: { line: 4, character: 2 } } })]);
  await client.sendNotification(DidCloseTextDocumentNotification.type, { textDocument });
});

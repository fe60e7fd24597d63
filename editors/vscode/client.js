// Starts `lanewise lsp` for documents of PTX and vISA, and the commands that go with it.
"use strict";
const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

/** The command line of Lanewise: the one of the settings, or the one that the extension brings along. */
function commandLine(context, scope) {
  const words = vscode.workspace.getConfiguration("lanewise", scope).get("command");
  if (Array.isArray(words) && words.length > 0) return { command: words[0], args: words.slice(1), env: {} };
  const main = context.asAbsolutePath(path.join("server", "dist", "cli", "main.js"));
  // The editor's own program is a Node, if it is told so.
  return { command: process.execPath, args: [main], env: { ELECTRON_RUN_AS_NODE: "1" } };
}

/** Starts the language server, and starts it again when the settings change. */
function startLanguageClient(context) {
  let client;
  const start = async () => {
    await client?.stop();
    client = undefined;
    if (!vscode.workspace.getConfiguration("lanewise").get("server.enabled", true)) return;
    const { command, args, env } = commandLine(context);
    const run = { command, args: [...args, "lsp"], transport: TransportKind.stdio, options: { env: { ...process.env, ...env } } };
    const documentSelector = [{ language: "ptx" }, { language: "visa" }];
    client = new LanguageClient("lanewise", "Lanewise", { run, debug: run }, { documentSelector });
    await client.start();
  };
  const show = (error) => void vscode.window.showErrorMessage(`Lanewise: ${error.message}`);
  const started = start().catch(show);
  return {
    commands: [
      vscode.commands.registerCommand("lanewise.restart", () => start().catch(show)),
      vscode.commands.registerCommand("lanewise.toSource", () => started.then(() => toSource(client)).catch(show)),
      vscode.commands.registerCommand("lanewise.toAssembly", () => started.then(() => toAssembly(client)).catch(show)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("lanewise.command") || event.affectsConfiguration("lanewise.server"))
          void start().catch(show);
      }),
      { dispose: () => void client?.stop() },
    ],
    commandLine: (scope) => commandLine(context, scope),
  };
}

/** Shows a place, or lets one of several be chosen. */
async function showPlaces(client, locations, none) {
  const places = locations.map((each) => client.protocol2CodeConverter.asLocation(each));
  if (places.length === 0) return void vscode.window.showInformationMessage(none);
  const editor = vscode.window.activeTextEditor;
  if (places.length === 1 || editor === undefined)
    return vscode.window.showTextDocument(places[0].uri, { selection: places[0].range, viewColumn: vscode.ViewColumn.Beside });
  const { uri } = editor.document;
  return vscode.commands.executeCommand("editor.action.peekLocations", uri, editor.selection.active, places, "peek");
}

/** From an instruction to the line that it was compiled from. */
async function toSource(client) {
  const editor = vscode.window.activeTextEditor;
  if (client === undefined || editor === undefined) return;
  const { uri } = editor.document;
  const position = client.code2ProtocolConverter.asPosition(editor.selection.active);
  const found = await client.sendRequest("lanewise/sourceLine", { textDocument: { uri: uri.toString() }, position });
  await showPlaces(client, found, "The module does not say what this was compiled from, or the file is not there.");
}

/** From a line of the source to its instructions, in the documents that are open. */
async function toAssembly(client) {
  const editor = vscode.window.activeTextEditor;
  if (client === undefined || editor === undefined) return;
  const line = editor.selection.active.line + 1;
  const found = await client.sendRequest("lanewise/compiledFrom", { file: editor.document.fileName, line });
  await showPlaces(client, found, "No open module has code of this line.");
}

exports.startLanguageClient = startLanguageClient;

import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  createConnection,
  ProposedFeatures,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";
import { version } from "../../node/version.ts";
import { LanguageServer } from "../lsp/server.ts";
import { type Command, exitStatus } from "../options/command.ts";

/** Finds a file that debug information names: as it is, or by its name in the folder of the document. */
function findFile(path: string, document: string): string | null {
  const folder = document.startsWith("file:") ? dirname(fileURLToPath(document)) : process.cwd();
  const name = path.replace(/^.*[\\/]/, "");
  const places = [isAbsolute(path) ? path : join(folder, path), join(folder, name)];
  const found = places.find((place) => existsSync(place));
  return found === undefined ? null : pathToFileURL(found).href;
}

export const lsp: Command = {
  name: "lsp",
  summary: "serve an editor: the Language Server Protocol on stdin and stdout",
  usage: ["lsp"],
  options: [{ name: "stdio", help: "what it does anyway: some editors say it" }],
  common: [],
  details:
    "Diagnostics while typing, hover, definitions, references, rename, completion, symbols, colours, hints, fixes, formatting, and the hierarchy of calls, for .ptx, .visaasm and .isaasm. docs/editor.md says how editors start it; editors/vscode has an extension.",
  async run() {
    const connection = createConnection(
      ProposedFeatures.all,
      new StreamMessageReader(process.stdin),
      new StreamMessageWriter(process.stdout),
    );
    new LanguageServer(connection, { findFile, version: version() }).listen();
    await new Promise<void>((resolve) => connection.onExit(resolve));
    return exitStatus.ok;
  },
};

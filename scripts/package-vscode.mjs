// Makes the extension for Visual Studio Code: `npm run package:vscode` builds dist/ and calls this, which writes
// editors/vscode/lanewise.vsix with the client, the language server and the debug adapter in it. The packager of
// Visual Studio Code has 120 MB of dependencies, so that it is fetched only here.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const packager = "@vscode/vsce@3.9.2";

/** What the extension consists of besides its code. */
const parts = [
  "package.json",
  "README.md",
  "LICENSE",
  "icon.png",
  "language-configuration.json",
  "snippets",
  "syntaxes",
  "walkthrough",
];

/** Writes everything that the extension consists of into a folder. `root` is the project's. */
export async function stageExtension(root, folder) {
  const home = join(root, "editors/vscode");
  for (const part of parts) cpSync(join(home, part), join(folder, part), { recursive: true });
  const bundle = await rolldown({
    input: join(home, "extension.js"),
    platform: "node",
    external: ["vscode"],
    logLevel: "warn",
  });
  await bundle.write({ file: join(folder, "extension.js"), format: "cjs", minify: true });
  const server = join(folder, "server");
  mkdirSync(server);
  cpSync(join(root, "dist/cli"), join(server, "dist/cli"), { recursive: true });
  // The native parts of `lanewise exec` are for one kind of machine; the command says that it lacks them.
  const { name, version, type, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(server, "package.json"), JSON.stringify({ name, version, type, license }));
  cpSync(join(root, "dist/build-id"), join(server, "dist/build-id"));
  const own = join(root, "node_modules/vscode-languageclient/License.txt");
  cpSync(own, join(folder, "LICENSE-vscode-languageclient.txt"));
  writeFileSync(join(folder, ".vscodeignore"), "");
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const folder = mkdtempSync(join(tmpdir(), "lanewise-vscode-"));
  try {
    await stageExtension(root, folder);
    const out = resolve(process.argv[2] ?? join(root, "editors/vscode/lanewise.vsix"));
    const words = ["--yes", packager, "package", "--no-dependencies", "--allow-missing-repository", "--out", out];
    execFileSync("npx", words, { cwd: folder, stdio: "inherit" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

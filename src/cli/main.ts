#!/usr/bin/env node
// Loads the command line with the code that V8 compiled for it before: compiling is half of what starting takes.
import * as nodeModule from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../node/cache-folder.ts";
import { CodeFolder } from "../node/code-folder.ts";
import { delayOptimization } from "../node/delayed-optimization.ts";
import { makePrivateFolder, whyUnsafe } from "../node/folder-safety.ts";
import { StoredCode } from "../node/stored-code.ts";

/** The command line, in the files beside this one. */
interface CommandLine {
  run(words: readonly string[]): Promise<void>;
}

/** Commands that answer until they are told to end, and the one that measures how fast a process becomes. */
const lasting: ReadonlySet<string> = new Set(["exec", "debug", "lsp", "dap", "bench"]);

/** The folder for compiled code; null if none is to be kept. */
function folderForCode(): string | null {
  const folder = cacheFolder();
  if (folder === null || process.argv.includes("--no-cache")) return null;
  const path = join(folder, "node");
  // The folder holds code that runs. What is wrong with it is said where compiled kernels are kept.
  makePrivateFolder(path);
  return whyUnsafe(folder) === null && whyUnsafe(path) === null ? path : null;
}

function load(): CommandLine {
  const file = fileURLToPath(new URL("./command-line.cjs", import.meta.url));
  const folder = folderForCode();
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  if (folder !== null && enableCompileCache === undefined) {
    // Each command needs other functions of the same files.
    const command = /^[a-z]{1,16}$/.exec(process.argv[2] ?? "")?.[0] ?? "other";
    const code = new StoredCode(join(file, ".."), new CodeFolder(join(folder, command)));
    process.once("exit", () => code.save());
    return code.load("command-line.cjs") as CommandLine;
  }
  if (folder !== null) enableCompileCache?.(folder);
  return nodeModule.createRequire(file)(file) as CommandLine;
}

if (!lasting.has(process.argv[2] ?? "")) delayOptimization();
void load().run(process.argv.slice(2));

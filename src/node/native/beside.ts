// What a process runs that makes machine code for another one: `beside.mjs FOLDER PARENT SECONDS`. The folder has a
// module in it (`files`), and gets a library, or why there is none. PARENT: the other process.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CCompiler } from "./c-compiler.ts";
import { cTextOf } from "./c-text.ts";
import { files } from "./compilation-beside.ts";

/** Milliseconds between looks whether the other process still runs. */
const lookMs = 250;

const [folder, parent, seconds] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])];

async function libraryOf(module: Uint8Array, signal: AbortSignal): Promise<Uint8Array | string> {
  const compiler = CCompiler.find();
  if (typeof compiler === "string") return compiler;
  const c = cTextOf(module, compiler, seconds);
  return typeof c === "string" ? c : compiler.libraryLater(c.text, seconds, signal);
}

/** Who waits gets an answer, also where this program is wrong. */
const defect = (error: unknown): string => `machine code cannot be made: ${String(error)}`;

/** Answers with a file that is whole as soon as it is there. */
function answer(library: Uint8Array | string): void {
  const name = typeof library === "string" ? files.why : files.library;
  const unfinished = join(folder, `${name}.part`);
  writeFileSync(unfinished, library);
  renameSync(unfinished, join(folder, name));
}

const abort = new AbortController();
const look = setInterval(() => {
  if (process.ppid !== parent) abort.abort();
}, lookMs);
const library = await libraryOf(readFileSync(join(folder, files.module)), abort.signal).catch(defect);
clearInterval(look);
if (process.ppid === parent) answer(library);
else rmSync(folder, { recursive: true, force: true });

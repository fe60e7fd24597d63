// What a process runs that makes machine code for another one: `beside.mjs PARENT SECONDS`. Its input is a file with a
// module; its output becomes one with a library, or with why there is none. PARENT: the other process.
import { fstatSync } from "node:fs";
import { CCompiler } from "./c-compiler.ts";
import { cTextOf } from "./c-text.ts";
import { answers, readFrom, writeAll } from "./compilation-beside.ts";

/** Milliseconds between looks whether the other process still runs. */
const lookMs = 250;

const [input, output] = [0, 1];
const [parent, seconds] = [Number(process.argv[2]), Number(process.argv[3])];

async function libraryOf(module: Uint8Array, signal: AbortSignal): Promise<Uint8Array | string> {
  const compiler = CCompiler.find();
  if (typeof compiler === "string") return compiler;
  const c = cTextOf(module, compiler, seconds);
  return typeof c === "string" ? c : compiler.libraryLater(c.text, seconds, signal);
}

/** Who waits gets an answer, also where this program is wrong. */
const defect = (error: unknown): string => `machine code cannot be made: ${String(error)}`;

/** The first byte comes last: then the answer is whole. */
function answer(library: Uint8Array | string): void {
  const [kind, bytes] =
    typeof library === "string" ? [answers.why, new TextEncoder().encode(library)] : [answers.library, library];
  writeAll(output, bytes, 1);
  writeAll(output, Uint8Array.of(kind), 0);
}

const abort = new AbortController();
const look = setInterval(() => {
  if (process.ppid !== parent) abort.abort();
}, lookMs);
const module = readFrom(input, 0, fstatSync(input).size);
const library = await libraryOf(module, abort.signal).catch(defect);
clearInterval(look);
answer(library);

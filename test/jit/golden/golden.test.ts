import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { readsOf, writesOf } from "../../../src/ir/flow/index.ts";
import type { Instruction } from "../../../src/ir/index.ts";
import type { CompiledKernel } from "../../../src/jit/abi/compiled-kernel.ts";
import type { Quads } from "../../../src/jit/abi/launch-shape.ts";
import { Chunk } from "../../../src/jit/compile/emit/chunk.ts";
import { JitProgram } from "../../../src/jit/run/jit-program.ts";
import type { Dim3 } from "../../../src/machine/reports/report.ts";
import { loadProgram } from "../../../src/program/program.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { DeviceCore } from "../../../src/runtime/device/device-core.ts";
import { SourceText } from "../../../src/source/index.ts";
import { FunctionWriter, ModuleWriter } from "../../../src/wasm/index.ts";
import { decodeModule } from "./decode.ts";
import { type Line, statementsOf } from "./listing.ts";

/*
 * The code that is written for short kernels, as listings that people read: `npx vitest run test/jit/golden --update`
 * writes them. docs/jit.md says how to read one.
 *
 * The comment at the start of a kernel says what to look at. Its line `// show:` says what of the code is listed:
 *
 *     // show: function=run version=2 quads=1 block=64,1,1
 *
 * Code for the lines between `// [` and `// ]` is written several times: for chunks that run without any test, for
 * lanes that go the same way, for any lanes. `version` is one of these in the order in which they are written, or
 * several (`1-2`) with what is between them. `quads`: fours of lanes in a chunk. `locals`: the most locals, as if hosts
 * took no more. `most`: of assignments and stores that follow each other, how many are listed.
 */

/** Where code for an instruction begins in what has been written of a function. */
interface Mark {
  readonly at: number;
  readonly line: number;
  /** By local, the register that the instruction reads or writes there. */
  readonly names: ReadonlyMap<number, string>;
}

interface Shown {
  readonly function: string;
  readonly versions: readonly [first: number, last: number];
  readonly quads: Quads;
  readonly block: Dim3;
  readonly locals: number | null;
  readonly most: number;
}

function shownOf(text: string): Shown {
  const given = new Map(
    /^\/\/ show: (.*)$/m
      .exec(text)![1]!
      .split(" ")
      .map((setting) => setting.split("=") as [string, string]),
  );
  const version = given.get("version") ?? "1";
  const locals = given.get("locals");
  const most = given.get("most");
  return {
    locals: locals === undefined ? null : Number(locals),
    most: most === undefined ? Number.POSITIVE_INFINITY : Number(most),
    function: given.get("function") ?? "run",
    versions: [Number(/^\d+/.exec(version)![0]), Number(/\d+$/.exec(version)![0])],
    quads: Number(given.get("quads") ?? 1) as Quads,
    block: (given.get("block") ?? "64,1,1").split(",").map(Number) as unknown as Dim3,
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** Compiles the kernel `k` of a text, and notes what is written for which of its lines. */
function compiled(source: SourceText, { quads, block, locals }: Shown) {
  const functions: { readonly name: string; readonly marks: Mark[] }[] = [];
  const marksOf = new Map<FunctionWriter, Mark[]>();
  const imports: string[] = [];
  const { function: begin, importFunction } = ModuleWriter.prototype;
  vi.spyOn(ModuleWriter.prototype, "function").mockImplementation(function (this: ModuleWriter, name, ...types) {
    const writer = begin.call(this, name, ...types);
    const marks: Mark[] = [];
    functions.push({ name, marks });
    marksOf.set(writer, marks);
    return writer;
  });
  vi.spyOn(ModuleWriter.prototype, "importFunction").mockImplementation(function (this: ModuleWriter, name, ...types) {
    importFunction.call(this, name, ...types);
    if (!imports.includes(name)) imports.push(name);
  });
  if (locals !== null) {
    const { keepIn } = FunctionWriter.prototype;
    vi.spyOn(FunctionWriter.prototype, "keepIn").mockImplementation(function (this: FunctionWriter, memory) {
      keepIn.call(this, { ...memory, mostLocals: locals, bytes: 2 ** 16 });
    });
  }
  const { begin: beginInstruction } = Chunk.prototype;
  vi.spyOn(Chunk.prototype, "begin").mockImplementation(function (this: Chunk, instruction = {}) {
    beginInstruction.call(this, instruction);
    if ("span" in instruction) marksOf.get(this.writer)!.push(markOf(this, instruction as Instruction, source));
  });
  const { module, diagnostics } = compile([source], {});
  if (module === null) throw new Error(diagnostics.map((d) => d.message).join("\n"));
  const jit = new JitProgram(loadProgram(new DeviceCore().memory, module), quads);
  const kernel = jit.compiled("k", block, { fusedMadd: true, laneSelect: false });
  if (typeof kernel === "string") throw new Error(kernel);
  return { kernel, functions, names: [...imports, ...functions.map(({ name }) => name)] };
}

function markOf(chunk: Chunk, instruction: Instruction, source: SourceText): Mark {
  const names = new Map<number, string>();
  const name = (register: number): void => {
    const { registers } = chunk.function;
    const { name: declared } = registers[register]!;
    // A register that holds values with nothing in common has been split: its parts are numbered.
    const before = registers.slice(0, register).filter((other) => other.name === declared).length;
    const { kind } = chunk.analysis.register(register);
    const locals = chunk.locals(register);
    locals.forEach((local, part) => {
      const parts = kind === "indexed" ? (part === 0 ? ".base" : ".index") : locals.length > 1 ? `.${part}` : "";
      names.set(local, `${declared}${before === 0 ? "" : `'${before + 1}`}${kind === "affine" ? ".first" : parts}`);
    });
  };
  readsOf(instruction, { register: name });
  writesOf(instruction, name);
  return { at: chunk.writer.size, line: source.position(instruction.span.start).line, names };
}

interface Version {
  readonly start: number;
  end: number;
}

/** The stretches of code that are written for lines between two, each time anew. */
function versionsOf(marks: readonly Mark[], from: number, to: number): readonly Version[] {
  const found: Version[] = [];
  let last = to;
  marks.forEach(({ at, line }, i) => {
    const isInside = line > from && line < to;
    if (isInside) {
      if (last === to || line < last) found.push({ start: at, end: at });
      found.at(-1)!.end = marks[i + 1]?.at ?? Number.POSITIVE_INFINITY;
    }
    last = isInside ? line : to;
  });
  return found;
}

function listing(path: string, text: string): string {
  const source = new SourceText(path, text);
  const shown = shownOf(text);
  const { kernel, names, functions } = compiled(source, shown);
  const found = functions.find(({ name }) => name === shown.function);
  if (found === undefined) throw new Error(`${path}: there are ${names.join(", ")}`);
  const written = decodeModule(kernel.bytes)[names.indexOf(shown.function)]!;
  const statements = statementsOf(written, (callee) => names[callee]!);
  const lines = text.split("\n");
  const [from, to] = ["// [", "// ]"].map((bracket) => lines.findIndex((line) => line.trim() === bracket) + 1);
  const within = ({ start, end }: Version): readonly Line[] => statements.filter(({ at }) => at >= start && at < end);
  const versions = versionsOf(found.marks, from!, to!).filter((version) => within(version).length > 0);
  const [first, last] = shown.versions.map((version) => versions[version - 1]);
  if (first === undefined || last === undefined) throw new Error(`${path}: there are ${versions.length} versions`);
  const inside = endingWith(within({ start: first.start, end: last.end }), found.marks);
  const which = `version ${[...new Set(shown.versions)].join(" to ")} of ${versions.length}`;
  const head = `${shown.function} of ${path}, ${kernel.lanes} lanes, blocks of ${shown.block.join(" x ")}: ${which}`;
  return `${head}\n${abridged(interleaved(inside, found.marks, lines, kernel), shown.most).join("\n")}\n`;
}

const markBefore = (marks: readonly Mark[], at: number): number => marks.findLastIndex((mark) => mark.at <= at);

/** Leaves out what follows the block of the last instruction. */
function endingWith(statements: readonly Line[], marks: readonly Mark[]): readonly Line[] {
  const last = markBefore(marks, statements.at(-1)!.at);
  const first = statements.findIndex(({ at }) => markBefore(marks, at) === last);
  const end = statements.findIndex(({ depth }, i) => i > first && depth < statements[first]!.depth);
  return end < 0 ? statements : statements.slice(0, end);
}

/** Statements under the lines of PTX for which they have been written. */
function interleaved(
  statements: readonly Line[],
  marks: readonly Mark[],
  lines: readonly string[],
  { layout }: CompiledKernel,
): string[] {
  const words = new Map(Object.entries(layout.words).map(([name, at]) => [at, name]));
  /** Locals that are no register's, in their order in the listing. */
  const others = new Map<string, string>();
  const nameOf = (local: string, mark: number): string => {
    if (local === "0") return "context";
    for (let i = mark; i >= 0; i--) {
      const name = marks[i]!.names.get(Number(local));
      if (name !== undefined) return name;
    }
    if (!others.has(local)) others.set(local, `v${others.size}`);
    return others.get(local)!;
  };
  const out: string[] = [];
  const depth = Math.min(...statements.map((s) => s.depth));
  let current = 0;
  for (const { at, text, depth: inner } of statements) {
    const mark = markBefore(marks, at);
    const { line } = marks[mark]!;
    if (line !== current) out.push("", lines[line - 1]!.trim());
    current = line;
    const named = text
      .replace(/\$(\d+)\$/g, (_, local: string) => nameOf(local, mark))
      .replace(/@(\d+)@/g, (_, offset: string) => words.get(Number(offset)) ?? offset);
    out.push(`${"  ".repeat(inner - depth + 2)}${named}`);
  }
  return out;
}

/**
 * Leaves out all but the first of assignments and stores that follow each other, and the ends of long lines, if
 * anything is to be left out.
 */
function abridged(lines: readonly string[], most: number): readonly string[] {
  if (most === Number.POSITIVE_INFINITY) return lines;
  const out: string[] = [];
  let run = 0;
  const end = (): void => {
    if (run > most) out.push(`${/^ */.exec(out.at(-1)!)![0]}... and ${run - most} more`);
    run = 0;
  };
  for (const line of lines) {
    const isPlain = /^ +(\S+ = (?!call|f\d|library)|v128\.store|i32\.store)/.test(line);
    if (!isPlain) end();
    else if (++run > most) continue;
    out.push(line.length > 120 ? `${line.slice(0, 117)}...` : line);
  }
  end();
  return out;
}

const folder = new URL("./", import.meta.url);

const kernels = readdirSync(folder).filter((name) => name.endsWith(".ptx"));

test.each(kernels)("%s", async (name) => {
  const text = readFileSync(new URL(name, folder), "utf8");
  await expect(listing(name, text)).toMatchFileSnapshot(name.replace(".ptx", ".txt"));
});

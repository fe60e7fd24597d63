import { type IrFunction, originOf } from "../ir/index.ts";
import { matchName, nameHints } from "../names/index.ts";
import { nearest } from "../source/index.ts";
import { afterPrologue, sourceName } from "./source/function-debug.ts";

/** An instruction of a function. */
export interface Location {
  /** The function. */
  readonly ir: IrFunction;
  /** Index in `ir.instructions`. */
  readonly index: number;
}

/** A request to the debugger that cannot be fulfilled. The message says why, and where possible what to do instead. */
export class DebuggerError extends Error {
  override readonly name = "DebuggerError";
}

const lineOf = ({ source, instructions }: IrFunction, index: number): number =>
  source.position(instructions[index]!.span.start).line;

/** Whether one path is the end of the other: users write shorter paths than compilers do. */
const samePath = (whole: string, given: string): boolean => {
  const plain = (path: string): string => path.replace(/\\/g, "/").replace(/^\.\//, "");
  const [a, b] = [plain(whole), plain(given)];
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
};

/**
 * Returns the first instruction of each run of instructions on a line of assembly, in every function. If no instruction
 * is on that line, the next line that has one is used.
 */
function atAssemblyLine(functions: readonly IrFunction[], path: string | null, line: number): Location[] {
  const within = functions.filter(({ source }) => path === null || samePath(source.path, path));
  let best: { line: number; found: Location[] } | null = null;
  for (const ir of within) {
    for (const index of ir.instructions.keys()) {
      const at = lineOf(ir, index);
      if (at < line || (best !== null && at > best.line)) continue;
      if (index > 0 && lineOf(ir, index - 1) === at) continue;
      if (best === null || at < best.line) best = { line: at, found: [] };
      best.found.push({ ir, index });
    }
  }
  return best?.found ?? [];
}

/**
 * The same for a line of the source that the assembly was generated from. Instructions of functions that were inlined
 * belong to the line of the call too.
 */
function atOriginLine(functions: readonly IrFunction[], path: string, line: number): Location[] {
  let best: { line: number; found: Location[] } | null = null;
  for (const ir of functions) {
    const files = new Set([...ir.files.values()].filter((file) => samePath(file, path)));
    if (files.size === 0) continue;
    let before: ReadonlySet<number> = new Set();
    for (const [index, instruction] of ir.instructions.entries()) {
      const origin = originOf(ir, instruction) ?? [];
      const lines = new Set(origin.flatMap((at) => (files.has(at.path) ? [at.line] : [])));
      for (const at of lines) {
        if (at < line || before.has(at) || (best !== null && at > best.line)) continue;
        if (best === null || at < best.line) best = { line: at, found: [] };
        best.found.push({ ir, index });
      }
      before = lines;
    }
  }
  return best?.found ?? [];
}

/** Returns the file named by `.loc` that a path refers to; null if the path refers to assembly, or to no file. */
export function originFile(functions: readonly IrFunction[], path: string): string | null {
  if (functions.some(({ source }) => samePath(source.path, path))) return null;
  return functions.flatMap(({ files }) => [...files.values()]).find((file) => samePath(file, path)) ?? null;
}

/**
 * Returns the instructions at a line, or at the next one that has any. The path refers to a file of the program or,
 * failing that, to one of the source that it was generated from.
 */
export function atLine(functions: readonly IrFunction[], path: string, line: number): readonly Location[] {
  const assembly = atAssemblyLine(functions, path, line);
  return assembly.length > 0 ? assembly : atOriginLine(functions, path, line);
}

/** Finds functions by name. Of a name in C++ there may be several: overloads, and those of a template. */
function functionsNamed(functions: readonly IrFunction[], name: string): readonly IrFunction[] {
  const own = functions.filter((f) => !f.external);
  const found = matchName(
    name,
    own.map((f) => f.name),
  );
  if (found.length > 0) return own.filter((f) => found.includes(f.name));
  const bySource = own.filter((f) => sourceName(f) === name);
  if (bySource.length > 0) return bySource;
  const meant = nearest(
    name,
    own.flatMap((f) => nameHints(f.name)),
  );
  throw new DebuggerError(`there is no function ${name}${meant === null ? "" : `; did you mean ${meant}?`}`);
}

/**
 * Finds the instructions that a place stands for: `LINE` (of the file `here`, or of any file if that is null),
 * `FILE:LINE`, `FUNCTION` (of C++ also as in the source, `reduce` or `scale<float>`), or `FUNCTION+N` (its N-th
 * instruction, counted from 0). At least one is returned.
 *
 * @throws DebuggerError if there is no instruction there, or no such function
 */
export function findLocations(
  functions: readonly IrFunction[],
  text: string,
  here: string | null,
): readonly Location[] {
  const [, path = here, line] = /^(?:(.+):)?(\d+)$/.exec(text) ?? [];
  if (line !== undefined) {
    const found = path === null ? atAssemblyLine(functions, null, Number(line)) : atLine(functions, path, Number(line));
    if (found.length > 0) return found;
    throw new DebuggerError(`there is no instruction at line ${line}${path ? ` of ${path}` : ""} or after it`);
  }
  const [, name = text, offset = "0"] = /^(.+)\+(\d+)$/.exec(text) ?? [];
  return functionsNamed(functions, name).map((ir) => {
    // Where a function of the source begins, its parameters are loaded already.
    const index = name === text ? afterPrologue(ir) : Number(offset);
    if (index < ir.instructions.length) return { ir, index };
    throw new DebuggerError(`${name} has ${ir.instructions.length} instructions, counted from 0`);
  });
}

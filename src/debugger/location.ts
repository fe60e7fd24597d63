import type { IrFunction } from "../ir/index.ts";
import { nearest } from "../source/index.ts";

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

/** The same for a line of the source that the assembly was generated from. */
function atOriginLine(functions: readonly IrFunction[], path: string, line: number): Location[] {
  let best: { line: number; found: Location[] } | null = null;
  for (const ir of functions) {
    for (const [index, { location }] of ir.instructions.entries()) {
      if (location === null || location.line < line || (best !== null && location.line > best.line)) continue;
      const file = ir.files.get(location.file);
      if (file === undefined || !samePath(file, path)) continue;
      const before = ir.instructions[index - 1]?.location;
      if (before?.line === location.line && before.file === location.file) continue;
      if (best === null || location.line < best.line) best = { line: location.line, found: [] };
      best.found.push({ ir, index });
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

/**
 * Finds the instructions that a place stands for: `LINE` (of the file `here`, or of any file if that is null),
 * `FILE:LINE`, `FUNCTION`, or `FUNCTION+N` (its N-th instruction, counted from 0). At least one is returned.
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
  const ir = functions.find((f) => f.name === name && !f.external);
  if (ir === undefined) {
    const meant = nearest(
      name,
      functions.filter((f) => !f.external).map((f) => f.name),
    );
    throw new DebuggerError(`there is no function ${name}${meant === null ? "" : `; did you mean ${meant}?`}`);
  }
  const index = Number(offset);
  if (index < ir.instructions.length) return [{ ir, index }];
  throw new DebuggerError(`${name} has ${ir.instructions.length} instructions, counted from 0`);
}

import { displayName } from "../names/index.ts";
import type { SourceText, Span } from "./source-text.ts";

/** A position in the source that a program was compiled from, such as a `.cu` file. */
export interface OriginPlace {
  /** The file as the program names it. */
  readonly path: string;
  /** Counted from 1; 0 if the compiler made the code without a line for it. */
  readonly line: number;
  /** Counted from 1; 0 if it is not known. */
  readonly column: number;
  /** The function that the position is in, as the linker knows it; null if the program does not say. */
  readonly function: string | null;
}

/**
 * The positions that an instruction was compiled from, the innermost first: each function but the last was inlined at
 * the position that follows.
 */
export type Origin = readonly OriginPlace[];

const systemFolders = [
  /^\/usr\/(local\/)?(include|lib|lib64|share)\//,
  /^\/opt\/cuda\//,
  /(^|\/)(usr\/local|opt)\/cuda(-[\d.]+)?\//,
  /(^|\/)cuda-\d+(\.\d+)*\/(.*\/)?include\//,
  /(^|\/)targets\/[\w-]+\/include\//,
  /(^|\/)NVIDIA GPU Computing Toolkit\//i,
  /(^|\/)(site|dist)-packages\/(nvidia|triton|numba|numba_cuda)\//,
  /(^|\/)lib(64)?\/(clang|gcc)\//,
  /(^|\/)triton\/(language|experimental)\//,
];

/** Whether a file belongs to a compiler or its libraries: readers rarely look for a mistake there. */
export const isSystemPath = (path: string): boolean => {
  const plain = path.replaceAll("\\", "/");
  return systemFolders.some((folder) => folder.test(plain));
};

/**
 * Returns the index of the position that stands for an origin: the innermost one in a file of the user. Failing that,
 * it is the innermost one that has a line; -1 if none has.
 */
export function headOf(origin: Origin): number {
  const own = origin.findIndex(({ path, line }) => line > 0 && !isSystemPath(path));
  return own >= 0 ? own : origin.findIndex(({ line }) => line > 0);
}

/** An origin as documents for machines have it: the position that stands for it, and those around. */
export interface JsonOrigin extends OriginPlace {
  /** Where the function was inlined, where the function around it was inlined, and so on. */
  readonly inlinedAt: readonly OriginPlace[];
  /** Positions in functions of libraries that were inlined here, the innermost first; absent if there are none. */
  readonly inner?: readonly OriginPlace[];
}

/** Converts an origin; null if it has no line. */
export function originToJson(origin: Origin | null): JsonOrigin | null {
  const head = origin === null ? -1 : headOf(origin);
  if (origin === null || head < 0) return null;
  return {
    ...origin[head]!,
    inlinedAt: origin.slice(head + 1),
    ...(head === 0 ? {} : { inner: origin.slice(0, head) }),
  };
}

/** Returns "reduce.cu:12:5", or without a column if that is not known. */
export const originPlaceText = ({ path, line, column }: OriginPlace): string =>
  `${path}:${line}${column > 0 ? `:${column}` : ""}`;

const fileName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);

/**
 * Describes the inlined functions of an origin, one line for each: those of libraries, and then where the functions
 * were inlined, outwards.
 */
export function inliningText(origin: Origin, show = originPlaceText): string[] {
  const head = headOf(origin);
  const nameOf = (i: number): string => {
    const name = origin[i]!.function;
    return name === null ? "a function" : `\`${displayName(name)}\``;
  };
  return origin.flatMap((place, i) => {
    if (head < 0 || i === head || place.line === 0) return [];
    if (i < head) return [`inside ${nameOf(i)}, at ${originPlaceText({ ...place, path: fileName(place.path) })}`];
    return [`${nameOf(i - 1)} is inlined into ${nameOf(i)} at ${show(place)}`];
  });
}

/** Returns the text of a file that a program names, or null. `program` is the path of the program's own text. */
export type ReadOrigin = (path: string, program: string) => SourceText | null;

/**
 * Whether a column may be taken at its word. nvcc counts columns after macros have been replaced, such as `__device__`:
 * they are wrong after one, and often in the middle of a word.
 */
const isReliable = (text: string, column: number): boolean =>
  column > 0 && !/\b__\w+__\b/.test(text.slice(0, column - 1)) && !/\w\w/.test(text.slice(column - 2, column));

/** Returns the part of a text that a position means: the word there or, without a column, the line without blanks. */
export function spanAt(source: SourceText, { line, column }: { readonly line: number; readonly column: number }): Span {
  const start = source.lineStarts[line - 1] ?? source.text.length;
  const text = source.line(line);
  const word = isReliable(text, column) ? /^(?:\w+|\S)/.exec(text.slice(column - 1)) : null;
  if (word !== null) return { start: start + column - 1, end: start + column - 1 + word[0].length };
  const blanks = text.length - text.trimStart().length;
  return { start: start + blanks, end: start + Math.max(blanks, text.trimEnd().length) };
}

import { parseRuns, type Run } from "../../ptx/parser/module.ts";
import type { Comment } from "../../ptx/tree/leaves.ts";
import type { Item } from "../../ptx/tree/module.ts";
import { type Diagnostic, SourceText, type Span } from "../../source/index.ts";
import type { TextEdit } from "../base/results.ts";

/**
 * A run of directives at module scope that is parsed by itself. The spans of its nodes are offsets of `source`, in
 * which it begins at `base`; in the document it begins at `start`.
 */
export interface Part {
  readonly source: SourceText;
  readonly base: number;
  readonly length: number;
  start: number;
  readonly items: readonly Item[];
  readonly comments: readonly Comment[];
  readonly syntax: readonly Diagnostic[];
  /** How many characters from the beginning on matter to the parser; it looks a little beyond the part. */
  readonly reach: number;
}

/** Converts a span of a part to one of the document. */
export const toDocument = ({ start, base }: Part, span: Span): { readonly start: number; readonly end: number } => ({
  start: span.start - base + start,
  end: span.end - base + start,
});

/** The text after an edited piece. */
interface Tail {
  readonly text: string;
  /** The indices of the parts in it, by the offsets where they begin. */
  readonly starts: ReadonlyMap<number, number>;
  /** The index of the first part that is not in it. */
  readonly end: number;
}

const never = (): boolean => false;

/** How much text after an edited part is parsed at first, to see where the parts that are known go on. */
const firstTail = 1 << 14;

/** A text in parts. After an edit only the parts that it touches, or that have looked at it, are parsed again. */
export class PartedText {
  readonly #path: string;
  #text: string | null;
  #length: number;
  #parts: Part[];
  /** Whether the text has too many tokens or findings for its parts to be independent. */
  #whole: boolean;
  #lines: Uint32Array | null = null;
  /** What an edit made part of something before it, as where a comment is opened. The next one often undoes that. */
  #swallowed: { readonly parts: readonly Part[]; readonly text: string } | null = null;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    this.#length = text.length;
    const { parts, whole } = this.#parse(text, never);
    this.#parts = parts;
    this.#whole = whole;
  }

  get text(): string {
    this.#text ??= this.#parts.map(textOf).join("");
    return this.#text;
  }

  get length(): number {
    return this.#length;
  }

  /** The text before an offset, at most so many characters. */
  before(offset: number, most: number): string {
    let text = "";
    for (let i = lastIndex(this.#parts, ({ start }) => start < offset); i >= 0 && text.length < most; i--) {
      const { source, base, start, length } = this.#parts[i]!;
      text = source.text.slice(base, base + Math.min(length, offset - start)) + text;
    }
    return text.slice(-most);
  }

  /** In the order of the text. */
  get parts(): readonly Part[] {
    return this.#parts;
  }

  edit({ start, end, text }: TextEdit): void {
    this.#lines = null;
    if (this.#whole || this.#parts.length === 0) {
      const now = this.text.slice(0, start) + text + this.text.slice(end);
      this.#replaceAll(now);
      return;
    }
    const parts = this.#parts;
    const first = this.#firstTouched(start);
    let last = Math.max(
      first,
      lastIndex(parts, (part) => part.start <= end),
    );
    this.#text = null;
    this.#length += text.length - (end - start);
    const from = parts[first]!.start;
    const old = parts
      .slice(first, last + 1)
      .map(textOf)
      .join("");
    let piece = old.slice(0, start - from) + text + old.slice(end - from);
    const back = this.#swallowed;
    if (back !== null && piece.length >= back.text.length && piece.endsWith(back.text)) {
      piece = piece.slice(0, piece.length - back.text.length);
      parts.splice(last + 1, 0, ...back.parts);
    }
    for (let tail = firstTail; ; tail *= 4) {
      const next = this.#tail(last + 1, tail);
      const {
        parts: fresh,
        whole,
        end: reached,
      } = this.#parse(piece + next.text, (at) => next.starts.has(at - piece.length));
      if (whole) {
        this.#replaceAll(this.#joined(first, piece, last + 1));
        return;
      }
      // The parser must not have looked beyond the text at hand, unless that is all.
      const end = fresh.at(-1)!;
      const isWhole = next.end === parts.length;
      if (!isWhole && end.base + end.reach >= piece.length + next.text.length) continue;
      last =
        isWhole && reached === piece.length + next.text.length
          ? parts.length - 1
          : next.starts.get(reached - piece.length)! - 1;
      const gone = parts.slice(first + 1, last + 1);
      if (gone.length > fresh.length) this.#swallowed = { parts: gone, text: gone.map(textOf).join("") };
      parts.splice(first, last + 1 - first, ...fresh);
      let at = from;
      for (let i = first; i < parts.length; i++) {
        parts[i]!.start = at;
        at += parts[i]!.length;
      }
      return;
    }
  }

  #replaceAll(text: string): void {
    this.#text = text;
    this.#length = text.length;
    this.#swallowed = null;
    const { parts, whole } = this.#parse(text, never);
    this.#parts = parts;
    this.#whole = whole;
  }

  #joined(first: number, piece: string, after: number): string {
    return this.#parts.slice(0, first).map(textOf).join("") + piece + this.#parts.slice(after).map(textOf).join("");
  }

  /** The first part that an edit at an offset may change: the one around it, or one that has looked ahead to it. */
  #firstTouched(offset: number): number {
    let at = lastIndex(this.#parts, ({ start }) => start <= offset);
    // The parts before reach over the one after them, or a few if these are very short.
    for (let i = at - 1; i >= Math.max(0, at - 8); i--) {
      const { start, reach } = this.#parts[i]!;
      if (start + reach >= offset) at = i;
    }
    return Math.max(0, at);
  }

  /** The text of the parts from one on, at least so many characters if there are so many; and where they begin. */
  #tail(first: number, least: number): Tail {
    const texts: string[] = [];
    const starts = new Map<number, number>();
    let end = first;
    let length = 0;
    while (end < this.#parts.length && length < least) {
      const part = this.#parts[end]!;
      starts.set(length, end++);
      texts.push(textOf(part));
      length += part.length;
    }
    return { text: texts.join(""), starts, end };
  }

  /** Parses a text until a part ends where that is enough. */
  #parse(
    text: string,
    isEnough: (end: number) => boolean,
  ): { readonly parts: Part[]; readonly whole: boolean; readonly end: number } {
    const { runs, cut } = parseRuns(new SourceText(this.#path, text), isEnough);
    const found = runs.reduce((sum, { diagnostics }) => sum + diagnostics.length, 0);
    return { parts: runs.map((run) => this.#part(run, text)), whole: cut || found >= 5000, end: runs.at(-1)!.end };
  }

  #part({ start, end, items, comments, diagnostics, seen }: Run, text: string): Part {
    // Each part has a source of its own, by which its diagnostics are told from those of others.
    const source = new SourceText(this.#path, text);
    const own = (found: Diagnostic): Diagnostic => ({
      ...found,
      source,
      notes: found.notes.map((note) => (note.span === undefined ? note : { ...note, source })),
    });
    return {
      source,
      base: start,
      length: end - start,
      start,
      items,
      comments,
      syntax: diagnostics.map(own),
      reach: seen - start,
    };
  }

  /** The line of an offset, from 1. */
  line(offset: number): number {
    this.#lines ??= this.#countLines();
    const at = Math.max(
      0,
      lastIndex(this.#parts, ({ start }) => start <= offset),
    );
    const part = this.#parts[at];
    if (part === undefined) return 1;
    return 1 + this.#lines[at]! + newlines(part.source.text, part.base, part.base + offset - part.start);
  }

  /** The number of lines before each part. */
  #countLines(): Uint32Array {
    const counts = new Uint32Array(this.#parts.length + 1);
    for (const [i, part] of this.#parts.entries()) counts[i + 1] = counts[i]! + this.#linesIn(part);
    return counts;
  }

  readonly #known = new WeakMap<Part, number>();

  #linesIn(part: Part): number {
    let lines = this.#known.get(part);
    if (lines === undefined) {
      lines = newlines(part.source.text, part.base, part.base + part.length);
      this.#known.set(part, lines);
    }
    return lines;
  }
}

const textOf = ({ source, base, length }: Part): string => source.text.slice(base, base + length);

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The index of the last element for which a condition holds that holds for a first part of the list; -1 if none. */
function lastIndex<T>(list: readonly T[], holds: (element: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The last element of a list for which a condition holds that holds for a first part of the list. */
export const lastFrom = <T>(list: readonly T[], holds: (element: T) => boolean): T | undefined =>
  list[lastIndex(list, holds)];

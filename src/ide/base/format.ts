import type { Span } from "../../source/index.ts";
import type { TextEdit } from "./results.ts";

/**
 * The edits, line by line, that turn one text into another; only those that touch a range, if one is given. Lines that
 * agree at the beginning and the end are left alone, and so is what agrees between them.
 */
export function editsBetween(before: string, after: string, range: Span | null): readonly TextEdit[] {
  const old = linesOf(before);
  const fresh = linesOf(after);
  const edits: TextEdit[] = [];
  let offset = 0;
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      offset += old[i]!.length;
      i++;
      j++;
      continue;
    }
    const [removed, added] = nextCommon(old, i, fresh, j);
    const end = offset + length(old, i, i + removed);
    const text = fresh.slice(j, j + added).join("");
    const last = edits.at(-1);
    if (last?.end === offset) edits[edits.length - 1] = { start: last.start, end, text: last.text + text };
    else edits.push({ start: offset, end, text });
    offset = end;
    i += removed;
    j += added;
  }
  return range === null ? edits : edits.filter(({ start, end }) => end >= range.start && start <= range.end);
}

const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const length = (lines: readonly string[], from: number, to: number): number => {
  let sum = 0;
  for (let i = from; i < to; i++) sum += lines[i]!.length;
  return sum;
};

/** The farthest that equal lines are looked for. */
const window = 64;

/** How many lines to remove and to add until the texts agree again. Two lines with equal words are replaced alone. */
function nextCommon(old: readonly string[], i: number, fresh: readonly string[], j: number): readonly [number, number] {
  if (i < old.length && j < fresh.length && sameWords(old[i]!, fresh[j]!)) return [1, 1];
  for (let distance = 1; distance < window; distance++) {
    for (let removed = 0; removed <= distance; removed++) {
      const added = distance - removed;
      const [a, b] = [old[i + removed], fresh[j + added]];
      if (a !== undefined && b !== undefined && sameWords(a, b) && a.trim() !== "") return [removed, added];
    }
  }
  return [Math.min(old.length - i, 1), Math.min(fresh.length - j, 1)];
}

const sameWords = (a: string, b: string): boolean => a.replace(/\s+/g, "") === b.replace(/\s+/g, "");

import { stripVTControlCharacters } from "node:util";

/** Colours take no room. */
const width = (text: string): number => stripVTControlCharacters(text).length;

/**
 * Lays out a table: a line for the titles, and one for each row. Columns whose cells are all empty are left out; those
 * of `right` are aligned to the right.
 */
export function alignColumns(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): readonly string[] {
  const used = titles.map((_, i) => rows.some((row) => row[i] !== ""));
  const all = [titles, ...rows];
  const widths = titles.map((_, i) => Math.max(...all.map((row) => width(row[i]!))));
  return all.map((row) =>
    row
      .flatMap((cell, i) => {
        if (!used[i]) return [];
        const room = " ".repeat(widths[i]! - width(cell));
        return [right.includes(i) ? room + cell : cell + room];
      })
      .join("  ")
      .trimEnd(),
  );
}

import { type Glyph, glyph } from "./glyphs.ts";
import type { SourceText, Span } from "./source-text.ts";
import { plainStyle, type Role, type Style } from "./style.ts";

export interface FrameOptions {
  readonly style?: Style | undefined;
  /** Columns of the whole frame; longer lines are cut around the span. Default 120. */
  readonly width?: number | undefined;
  /** The mark's colour. Default "error". */
  readonly role?: Role | undefined;
}

const ellipsis = "…";
const numberColumns = 5;

/** The left margin of a frame: a line number, or nothing. */
export const gutter = (style: Style, label = "", bar = "|"): string =>
  style("gutter", `${label.padStart(numberColumns)} ${bar} `);

interface Cell extends Glyph {
  /** Where it begins in the line, in UTF-16 units. */
  readonly unit: number;
  /** Where it begins on the screen, in columns. */
  readonly at: number;
  readonly marked: boolean;
}

/** Only a neighbourhood of the span is looked at: a line may be megabytes long. */
function cellsOf(line: string, start: number, end: number, reach: number): { cells: Cell[]; cutLeft: boolean } {
  const from = Math.max(0, start - reach);
  const to = Math.min(line.length, start + 2 * reach);
  const cells: Cell[] = [];
  let column = 0;
  let unit = from;
  for (const character of line.slice(from, to)) {
    const shown = glyph(character, column);
    cells.push({ ...shown, unit, at: column, marked: unit + character.length > start && unit < end });
    column += shown.columns;
    unit += character.length;
  }
  return { cells, cutLeft: from > 0 };
}

/** The first column to show, so that as much as possible of the marked part and of what surrounds it is seen. */
function firstColumn(total: number, room: number, markStart: number, markEnd: number): number {
  const context = Math.max(0, room - (markEnd - markStart)) >> 1;
  return Math.max(0, Math.min(markStart - context, total - room));
}

/**
 * The line of source in which a span begins, with the span underlined: two lines of text. A span that ends on another line
 * is marked to the end of its first, and says where it ends. An empty span is shown as one caret.
 */
export function renderFrame(source: SourceText, span: Span, options: FrameOptions = {}): string[] {
  const { style = plainStyle, width = 120, role = "error" } = options;
  const start = source.position(span.start);
  const end = source.position(Math.max(span.start, span.end));
  const line = source.line(start.line);
  const startUnit = Math.min(start.column - 1, line.length);
  const endUnit = end.line === start.line ? Math.min(end.column - 1, line.length) : line.length;
  const room = Math.max(20, width - numberColumns - 3);

  const { cells, cutLeft } = cellsOf(line, startUnit, endUnit, 2 * room);
  const last = cells.at(-1);
  const total = last ? last.at + last.columns : 0;
  const markStart = cells.find((c) => c.marked)?.at ?? cells.find((c) => c.unit >= startUnit)?.at ?? total;
  const lastMarked = cells.findLast((c) => c.marked);
  const markEnd = lastMarked ? lastMarked.at + lastMarked.columns : markStart + 1;

  const left = total <= room && !cutLeft ? 0 : firstColumn(total, room - 2, markStart, markEnd);
  const right = left + room - (left > 0 || cutLeft ? 1 : 0);
  const before = left > 0 || cutLeft ? ellipsis : "";
  const after = total > right ? ellipsis : "";
  const shown = cells.filter((c) => c.at >= left && c.at + c.columns <= right - after.length);
  const text = before + shown.map((c) => c.text).join("") + after;

  const indent = before.length + markStart - left;
  const carets = Math.max(1, Math.min(markEnd, right - after.length) - markStart);
  const mark = style(role, (role === "note" ? "-" : "^").repeat(carets));
  const more = end.line > start.line ? style("faint", ` to line ${end.line}`) : "";
  return [
    (gutter(style, String(start.line)) + text).trimEnd(),
    gutter(style) + " ".repeat(Math.max(0, indent)) + mark + more,
  ];
}

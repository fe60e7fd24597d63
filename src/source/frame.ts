import { type Glyph, glyph } from "./glyphs.ts";
import type { SourceText, Span } from "./source-text.ts";
import { plainStyle, type Role, type Style } from "./style.ts";

/** How a code frame is drawn. */
export interface FrameOptions {
  /** How each role of text is coloured. Default: `plainStyle`, no colours. */
  readonly style?: Style | undefined;
  /**
   * Width of the whole frame in terminal columns; longer lines are cut around the span. Default: 120. Less than 28
   * counts as 28.
   */
  readonly width?: number | undefined;
  /** The role of the underline, which also determines its character: "-" for a note, else "^". Default: "error". */
  readonly role?: Role | undefined;
}

const ellipsis = "…";
const numberColumns = 5;

/** Returns the left margin of a frame: a line number or another label, right-aligned, and a bar. */
export const gutter = (style: Style, label = "", bar = "|"): string =>
  style("gutter", `${label.padStart(numberColumns)} ${bar} `);

interface Cell extends Glyph {
  /** Offset in the line, in UTF-16 units. */
  readonly unit: number;
  /** First terminal column. */
  readonly at: number;
  readonly marked: boolean;
}

/**
 * Lays out the characters within `reach` of the span. The rest of the line is not visited: it may be megabytes long.
 */
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

/** Returns the first column to show, so that as much as possible of the marked part and its surroundings is visible. */
function firstColumn(total: number, room: number, markStart: number, markEnd: number): number {
  const context = Math.max(0, room - (markEnd - markStart)) >> 1;
  return Math.max(0, Math.min(markStart - context, total - room));
}

/**
 * Returns two lines of text: the source line in which `span` begins, and an underline below the span. If the span
 * continues past that line, the underline extends to the line's end and the text says on which line it ends. An empty
 * span is marked with a single caret. Never throws; offsets outside the text are clamped.
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

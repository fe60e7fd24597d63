import type { Diagnostic, Note } from "./diagnostic.ts";
import { type FrameOptions, gutter, renderFrame } from "./frame.ts";
import { printable } from "./glyphs.ts";
import type { SourceText, Span } from "./source-text.ts";
import { plainStyle, type Role, type Style } from "./style.ts";

/** How messages are rendered for people. */
export interface RenderOptions {
  /** How each role of text is coloured. Default: `plainStyle`, no colours. */
  readonly style?: Style | undefined;
  /** Width of the terminal in columns. Default: 120. */
  readonly width?: number | undefined;
}

/** Returns "path:line:column" for the start of a span, a form that editors and terminals turn into links. */
export function renderPlace(source: SourceText, span: Span): string {
  const { line, column } = source.position(span.start);
  return `${printable(source.path)}:${line}:${column}`;
}

/** Returns a note or help line below a code frame. Further lines of `text` are aligned with the first. */
export function renderRemark(role: Role & ("note" | "help"), text: string, style: Style = plainStyle): string {
  const [first = "", ...rest] = printable(text).split("\n");
  const margin = " ".repeat(role.length + 10);
  const begin = `${gutter(style, "", "=")}${style(role, `${role}:`)} `;
  return [begin + first, ...rest.map((line) => margin + line)].join("\n");
}

/**
 * Returns the first line of a message (place, role, text and, unless null, the code) and the code frame of its place.
 */
export function renderHeading(
  role: Role & ("error" | "warning" | "note"),
  message: string,
  code: string | null,
  place: { readonly source: SourceText; readonly span: Span },
  options: RenderOptions = {},
): string[] {
  const { style = plainStyle } = options;
  const where = style("strong", `${renderPlace(place.source, place.span)}:`);
  const suffix = code === null ? "" : style("faint", ` [${code}]`);
  const frame: FrameOptions = { ...options, role };
  return [
    `${where} ${style(role, `${role}:`)} ${style("strong", printable(message))}${suffix}`,
    ...renderFrame(place.source, place.span, frame),
  ];
}

const renderNote = (note: Note, owner: SourceText, options: RenderOptions): string[] =>
  note.span === undefined
    ? [renderRemark("note", note.message, options.style)]
    : renderHeading("note", note.message, null, { source: note.source ?? owner, span: note.span }, options);

/**
 * Renders a diagnostic for people: place, severity, message and code; the source line with the span underlined; the
 * help; and the notes, each with a code frame if it has a place.
 *
 *     a.ptx:7:9: error: `.sat` is not available for `add.u32` [unknown-modifier]
 *         7 |     add.sat.u32 %r1, %r2, 4;
 *           |         ^^^
 *           = help: `add.sat.s32` takes it
 */
export function renderDiagnostic(diagnostic: Diagnostic, options: RenderOptions = {}): string {
  const { severity, message, code, help, notes, source } = diagnostic;
  return [
    ...renderHeading(severity, message, code, diagnostic, options),
    ...(help === undefined ? [] : [renderRemark("help", help, options.style)]),
    ...notes.flatMap((note) => renderNote(note, source, options)),
  ].join("\n");
}

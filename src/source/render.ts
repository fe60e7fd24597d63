import { displayName } from "../names/index.ts";
import type { Diagnostic, Note } from "./diagnostic.ts";
import { type FrameOptions, gutter, renderFrame } from "./frame.ts";
import { printable } from "./glyphs.ts";
import {
  headOf,
  inliningText,
  type Origin,
  type OriginPlace,
  originPlaceText,
  type ReadOrigin,
  spanAt,
} from "./origin.ts";
import type { SourceText, Span } from "./source-text.ts";
import { plainStyle, type Role, type Style } from "./style.ts";

/** How messages are rendered for people. */
export interface RenderOptions {
  /** How each role of text is coloured. Default: `plainStyle`, no colours. */
  readonly style?: Style | undefined;
  /** Width of the terminal in columns. Default: 120. */
  readonly width?: number | undefined;
  /** Finds the source that a program was compiled from. Default: its lines are named, but not shown. */
  readonly readOrigin?: ReadOrigin | undefined;
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

/** A place in a program, and where that was compiled from. */
export interface OriginatedPlace {
  readonly source: SourceText;
  readonly span: Span;
  readonly origin?: Origin | null;
}

/** Returns the position that stands for a place in the source that it was compiled from, and the text there. */
function originHead({ source, origin }: OriginatedPlace, { readOrigin }: RenderOptions) {
  const head = origin ? origin[headOf(origin)] : undefined;
  if (head === undefined) return null;
  const found = readOrigin?.(head.path, source.path) ?? null;
  return { head, text: found !== null && head.line <= found.lineStarts.length ? found : null };
}

/** Returns "path:line:column" of a position, with the path at which the file was found. */
const shownPlace = (place: OriginPlace, program: string, { readOrigin }: RenderOptions): string =>
  printable(originPlaceText({ ...place, path: readOrigin?.(place.path, program)?.path ?? place.path }));

/**
 * Returns a call as one line for each function: those that were inlined at the call, with the lines of the source, then
 * `name`, the function of the program, with the place in the program too: "reduce (reduce.cu:16:3, reduce.ptx:80:2)".
 */
export function renderCall(name: string, place: OriginatedPlace, options: RenderOptions = {}): string[] {
  const own = renderPlace(place.source, place.span);
  const places = place.origin ? place.origin.slice(Math.max(0, headOf(place.origin))) : [];
  const shown = places.map((at) => (at.line === 0 ? null : shownPlace(at, place.source.path, options)));
  return [
    ...places.slice(0, -1).map((at, i) => `${displayName(at.function ?? "an inlined function")} (${shown[i] ?? own})`),
    `${displayName(name)} (${[shown.at(-1) ?? null, own].filter((text) => text !== null).join(", ")})`,
  ];
}

/** Returns "path:line:column" of the source that a place was compiled from, or else of the place itself. */
export function renderOriginatedPlace(place: OriginatedPlace, options: RenderOptions = {}): string {
  const found = originHead(place, options);
  if (found === null) return renderPlace(place.source, place.span);
  return shownPlace(found.head, place.source.path, options);
}

/**
 * The same as `renderHeading` for a place that was compiled from somewhere: that comes first, with the functions that
 * were inlined there, and then the instruction.
 */
export function renderOriginatedHeading(
  role: Role & ("error" | "warning" | "note"),
  message: string,
  code: string | null,
  place: OriginatedPlace,
  options: RenderOptions = {},
): string[] {
  const found = originHead(place, options);
  if (found === null) return renderHeading(role, message, code, place, options);
  const { head, text } = found;
  const { style = plainStyle } = options;
  const where = style("strong", `${shownPlace(head, place.source.path, options)}:`);
  const suffix = code === null ? "" : style("faint", ` [${code}]`);
  const show = (at: OriginPlace): string => shownPlace(at, place.source.path, options);
  return [
    `${where} ${style(role, `${role}:`)} ${style("strong", printable(message))}${suffix}`,
    ...(text === null ? [] : renderFrame(text, spanAt(text, head), { ...options, role })),
    ...inliningText(place.origin!, show).map((line) => renderRemark("note", line, style)),
    ...renderHeading("note", "compiled to this instruction", null, place, options),
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

import { displayName, readable } from "../../names/index.ts";
import type { Report } from "../../machine/reports/report.ts";
import type { Site } from "../../machine/state/code.ts";
import {
  gutter,
  inliningText,
  renderOriginatedHeading,
  type RenderOptions,
  renderRemark,
  type SourceText,
  type Style,
} from "../../source/index.ts";
import type { Session } from "../session.ts";
import type { Stop } from "../stop.ts";
import {
  assemblyPlace,
  type LaneFrame,
  levelOf,
  originOfSite,
  originPlace,
  siteAt,
  type SourcePlace,
} from "../view/lane-place.ts";
import { lanesText } from "../view/tables.ts";
import { formatValue } from "../view/value.ts";
import type { Watchpoint } from "../watchpoint.ts";
import type { ConsoleView } from "./command.ts";

/** Aligns the columns of rows; the last column is not padded but, with a `width`, wrapped. */
export function table(rows: readonly (readonly string[])[], width = Infinity): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const before = widths.slice(0, -1).reduce((sum, n) => sum + n + 2, 0);
  return rows
    .map((row) => row.map((cell, i) => (i < widths.length - 1 ? cell.padEnd(widths[i]!) : wrap(cell, width, before))))
    .map((cells) => cells.join("  ").trimEnd())
    .join("\n");
}

/** Breaks text between words, indenting further lines. `width` counts the columns of the whole line. */
function wrap(text: string, width: number, indent: number): string {
  if (width === Infinity) return text;
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    if (line === "") lines[lines.length - 1] = word;
    else if (indent + line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join(`\n${" ".repeat(indent)}`);
}

/**
 * Returns "square at calls.cu:7 (calls.ptx:23)". `line`: the line that was asked for, if a function is inlined there.
 */
export function siteText(session: Session, site: Site, line = 0): string {
  const asked = originOfSite(site).find((at) => at.line === line && line > 0);
  return placeText(session, displayName(site.code.ir.name), asked ?? originPlace(site), site);
}

/** The same for a function that may be inlined. */
export const frameText = (session: Session, { site, function: name, place }: LaneFrame): string =>
  placeText(session, name === null ? "an inlined function" : displayName(name), place, site);

function placeText(
  session: Session,
  name: string,
  origin: Pick<SourcePlace, "path" | "line"> | null,
  site: Site,
): string {
  const at = assemblyPlace(site);
  const own = `${at.path}:${at.line}`;
  if (origin === null) return `${name} at ${own}`;
  return `${name} at ${session.shownPath(origin.path, at.path)}:${origin.line} (${own})`;
}

/** Shows lines of a text with an arrow at one of them and a mark at those with breakpoints. */
export function listing(
  source: SourceText,
  { first, last, here, marked }: { first: number; last: number; here: number | null; marked: ReadonlySet<number> },
  style: Style,
): string {
  const lines: string[] = [];
  for (let line = Math.max(1, first); line <= Math.min(last, source.lineStarts.length); line++) {
    const mark = marked.has(line) ? style("error", "●") : " ";
    const arrow = line === here ? style("strong", "→") : " ";
    const text = source.line(line);
    lines.push(
      `${mark}${arrow}${gutter(style, String(line))}${line === here ? style("strong", text) : text}`.trimEnd(),
    );
  }
  return lines.join("\n");
}

export function reportText(report: Report, options: RenderOptions): string {
  return [
    ...renderOriginatedHeading(report.severity, readable(report.message), report.code, report, options),
    ...report.notes.map((note) => renderRemark("note", readable(note), options.style)),
    ...(report.help === undefined ? [] : [renderRemark("help", report.help, options.style)]),
  ].join("\n");
}

/** Describes the focus: "block (0,0,0), warp 1, lane 5: thread (37,0,0)". */
export function focusText(session: Session): string {
  const { block, warp: index, lane } = session.focus;
  const { warp } = session.view;
  const id = session.blockId(block).join(",");
  const thread = warp === null ? "" : `: thread (${[0, 32, 64].map((axis) => warp.tid[axis + lane]).join(",")})`;
  return `block (${id}), warp ${index}, lane ${lane}${thread}`;
}

const reasons: Readonly<Record<Stop["reason"], string>> = {
  entry: "at the beginning",
  step: "",
  goto: "",
  breakpoint: "",
  watchpoint: "",
  report: "a sanitizer reports, before the instruction is executed",
  fault: "a fault, before the instruction is executed",
  end: "the program has ended",
  beginning: "the beginning of time",
  pause: "interrupted",
};

function watchText({ watchpoint, old, now, lanes }: Stop["watchpoints"][number]): string {
  const { watched, text, on, id } = watchpoint;
  const values = old === null || now === null ? "" : `: ${bytesText(watched, old)} → ${bytesText(watched, now)}`;
  const by = `by lane${(lanes & (lanes - 1)) === 0 ? "" : "s"} ${lanesText(lanes)}`;
  return `${id === 0 ? "written" : `watchpoint ${id} (${on})`} ${text}${values}, ${by}`;
}

function bytesText(watched: Watchpoint["watched"], bytes: Uint8Array): string {
  if (watched.kind === "register") return formatValue({ bytes, type: watched.register.type });
  const type = { 1: "b8", 2: "b16", 4: "b32", 8: "b64" }[bytes.length];
  return formatValue({ bytes: bytes.subarray(0, 32), type: type ?? "b32" });
}

/** Describes why time has stopped, and shows the next instruction. */
export function stopText(session: Session, stop: Stop, view: ConsoleView): string {
  const { style } = view;
  const lines: string[] = [];
  for (const { breakpoint, error } of stop.breakpoints) {
    lines.push(style("note", `breakpoint ${breakpoint.id}`) + `, ${breakpoint.text}`);
    if (error !== null) lines.push(style("error", `its condition has no value: ${error.frame}`));
  }
  for (const hit of stop.watchpoints) lines.push(style("note", watchText(hit)));
  if (reasons[stop.reason] !== "") lines.push(style("note", reasons[stop.reason]));
  if (stop.report !== null) lines.push(reportText(stop.report, { ...view, readOrigin: view.readSource }));
  const { frame } = session.view;
  const time = style("faint", `time ${stop.time}`);
  if (frame === null) return [...lines, time].join("\n");
  return [...lines, `${time}  ${focusText(session)}`, instructionText(session, frame, view)].join("\n");
}

/** Shows the line that an instruction in a frame was compiled from, and the instruction. */
export function instructionText(session: Session, frame: LaneFrame, view: ConsoleView): string {
  const { style, readSource } = view;
  const { site, place } = frame;
  const { source } = site.code.ir;
  const { line } = assemblyPlace(site);
  const found = place === null ? null : (readSource?.(place.path, source.path) ?? null);
  const isThere = place !== null && found !== null && place.line <= found.lineStarts.length;
  const here = isThere ? { first: place.line, last: place.line, here: place.line } : null;
  return [
    frameText(session, frame),
    ...libraryCalls(frame).map((text) => style("faint", `  ${text}`)),
    ...(here === null
      ? []
      : [listing(found!, { ...here, marked: new Set(markedOriginLines(session, place!.path)) }, style)]),
    listing(
      source,
      { first: line, last: line, here: here === null ? line : null, marked: new Set(markedLines(session, source)) },
      here === null ? style : (role, text) => (role === "strong" ? text : style(role, text)),
    ),
  ].join("\n");
}

/** Names the functions of libraries that are inlined at the user's own line. */
function libraryCalls({ site, level }: LaneFrame): string[] {
  const origin = originOfSite(site);
  return level === levelOf(site) ? inliningText(origin).slice(0, level) : [];
}

/** Returns the lines of a text that have enabled breakpoints. */
export const markedLines = (session: Session, source: SourceText): readonly number[] =>
  [...session.breakpoints.values()]
    .filter(({ enabled }) => enabled)
    .flatMap(({ locations }) => locations)
    .filter(({ ir }) => ir.source === source)
    .map(({ ir, index }) => source.position(ir.instructions[index]!.span.start).line);

/** The same for a file that `.loc` names. */
export const markedOriginLines = (session: Session, path: string): readonly number[] =>
  [...session.breakpoints.values()]
    .filter(({ enabled }) => enabled)
    .flatMap(({ locations }) => locations)
    .flatMap((location) => {
      const origin = originPlace(siteAt(session.execution, location));
      return origin?.path === path ? [origin.line] : [];
    });

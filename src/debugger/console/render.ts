import type { Report } from "../../machine/reports/report.ts";
import type { Site } from "../../machine/state/code.ts";
import {
  gutter,
  renderHeading,
  type RenderOptions,
  renderRemark,
  type SourceText,
  type Style,
} from "../../source/index.ts";
import type { Session } from "../session.ts";
import type { Stop } from "../stop.ts";
import { assemblyPlace, originPlace, siteAt } from "../view/lane-place.ts";
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

/** Returns "square at calls.ptx:23 (calls.cu:7)". */
export function siteText(site: Site): string {
  const at = assemblyPlace(site);
  const origin = originPlace(site);
  const from = origin === null ? "" : ` (${origin.path}:${origin.line})`;
  return `${site.code.ir.name} at ${at.path}:${at.line}${from}`;
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
    ...renderHeading(report.severity, report.message, report.code, report, options),
    ...report.notes.map((note) => renderRemark("note", note, options.style)),
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
  if (stop.report !== null) lines.push(reportText(stop.report, view));
  const { site } = session.view.place ?? {};
  const time = style("faint", `time ${stop.time}`);
  if (!site) return [...lines, time].join("\n");
  return [...lines, `${time}  ${focusText(session)}`, instructionText(session, site, view)].join("\n");
}

/** Shows the line of an instruction and its function, below the line of the source that it comes from. */
export function instructionText(session: Session, site: Site, { style, readSource }: ConsoleView): string {
  const { line } = assemblyPlace(site);
  const marked = new Set(markedLines(session, site.code.ir.source));
  const origin = originPlace(site);
  const text = origin === null ? "" : (readSource?.(origin.path)?.line(origin.line) ?? "");
  return [
    siteText(site),
    ...(text === "" ? [] : [`  ${gutter(style, String(origin!.line))}${style("faint", text)}`.trimEnd()]),
    listing(site.code.ir.source, { first: line, last: line, here: line, marked }, style),
  ].join("\n");
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

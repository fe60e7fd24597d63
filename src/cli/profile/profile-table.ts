import { displayName } from "../../names/index.ts";
import {
  type CountName,
  type Counts,
  type FunctionProfile,
  laneUse,
  type LineProfile,
  type Profile,
  type SourceLineProfile,
} from "../../profiler/index.ts";
import { headOf, printable } from "../../source/index.ts";
import { groupBy } from "../terminal/group-by.ts";
import { grouped, plural } from "../terminal/numbers.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { beside } from "../terminal/wrap.ts";
import { notesOf, percent, totalsOf } from "./profile-notes.ts";

/** The counts by which lines can be ranked. */
export const rankings = {
  instructions: ["warpInstructions"],
  threads: ["threadInstructions"],
  sectors: ["globalSectors", "localSectors"],
  conflicts: ["sharedConflicts"],
  divergence: ["divergentBranches", "divergentCalls"],
  atomics: ["atomicRounds"],
  waits: ["barrierWaited"],
  products: ["multiplyAdds"],
  copies: ["asyncBytes"],
} as const satisfies Readonly<Record<string, readonly CountName[]>>;

export type Ranking = keyof typeof rankings;

const rank = (counts: Counts, by: Ranking): number => rankings[by].reduce<number>((sum, name) => sum + counts[name], 0);

export interface TableOptions {
  readonly by: Ranking;
  /** The number of lines and functions to show. */
  readonly top: number;
  /** Whether to show all lines in the order of the source, instead of the top ones. */
  readonly everyLine: boolean;
}

const triple = (d: readonly number[]): string => `(${d.join(",")})`;

/** The most lines that the last column of a row may occupy. */
const tallest = 3;

/** Prints a table whose columns are as wide as necessary, all but the last aligned to the right. */
function table(heads: readonly string[], rows: readonly (readonly string[])[], { style, width, out }: Terminal): void {
  const widths = heads.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]!.length)));
  const at = widths.slice(0, -1).reduce((sum, column) => sum + column + 2, 2);
  const line = (cells: readonly string[]): string => {
    const numbers = cells.slice(0, -1).map((cell, i) => cell.padStart(widths[i]!));
    const text = cells.at(-1)!.slice(0, tallest * width);
    return beside(numbers.join("  "), { text, at, columns: width });
  };
  out(style("faint", line(heads)));
  for (const row of rows) out(line(row));
}

/** A line that was executed: of the assembly, or of the source that it was compiled from. */
type Row = Pick<LineProfile, "line" | "counts">;

/** Returns the lines to show: the top ones, or all of them in order. */
function chosen<T extends Row>(lines: readonly T[], { by, top, everyLine }: TableOptions): readonly T[] {
  if (everyLine) return lines;
  return lines
    .filter((l) => rank(l.counts, by) > 0)
    .sort((a, b) => rank(b.counts, by) - rank(a.counts, by))
    .slice(0, top);
}

/** How a list of lines is shown: the file that a line is in, and what stands there. */
interface RowTexts<T> {
  readonly path: (line: T) => string;
  readonly text: (line: T) => string;
}

function printLines<T extends Row>(
  lines: readonly T[],
  { path, text }: RowTexts<T>,
  { options, all }: { readonly options: TableOptions; readonly all: number },
  terminal: Terminal,
): void {
  const { by } = options;
  const ranked = chosen(lines, options);
  if (ranked.length === 0) {
    terminal.out(`  no line has any: --by ${by}`);
    return;
  }
  const heads = ["warp-instr", ...(by === "instructions" ? [] : [by]), "%", "lanes", "line", ""];
  for (const [file, group] of groupBy(ranked, path)) {
    terminal.out(terminal.style("strong", printable(file)));
    const rows = group.map((l) => [
      grouped(l.counts.warpInstructions),
      ...(by === "instructions" ? [] : [grouped(rank(l.counts, by))]),
      percent(all === 0 ? null : rank(l.counts, by) / all),
      percent(laneUse(l.counts)),
      String(l.line),
      text(l),
    ]);
    table(heads, rows, terminal);
  }
}

/** The rows of the source, if its text was found; where it was not, the line's number has to do. */
const sourceTexts = ({ readOrigin }: Terminal): RowTexts<SourceLineProfile> => {
  const fileOf = ({ path, program }: SourceLineProfile) => readOrigin?.(path, program.path) ?? null;
  return {
    path: (l) => fileOf(l)?.path ?? l.path,
    text: (l) => withNotes(printable((fileOf(l)?.line(l.line) ?? "").trim()), notesOf(l)),
  };
};

const assemblyTexts: RowTexts<LineProfile> = { path: (l) => l.source.path, text: describeLine };

function describeLine(line: LineProfile): string {
  const text = line.source.line(line.line).replace(/\s*\/\/.*$/, "");
  const head = line.chain?.[headOf(line.chain)];
  const from = head === undefined ? [] : [`${head.path.replace(/^.*[\\/]/, "")}:${head.line}`];
  return withNotes(printable(text.trim()), [...from, ...notesOf(line)]);
}

const withNotes = (text: string, notes: readonly string[]): string =>
  notes.length === 0 ? text : `${text}   [${notes.join("; ")}]`;

const functionRow = (f: FunctionProfile, all: number): string[] => [
  f.calls === 0 ? "" : grouped(f.calls),
  f.calls === 0 ? "" : grouped(f.deepest),
  grouped(f.counts.warpInstructions),
  percent(f.counts.warpInstructions / all),
  grouped(f.warpInstructions),
  percent(laneUse(f.counts)),
  withNotes(displayName(f.name), notesOf(f)),
];

/** Prints a profile as text: launches, totals, functions, lines. */
export function printProfile(profile: Profile, options: TableOptions, terminal: Terminal): void {
  const { launches, totals, functions } = profile;
  const heading = (text: string): void => terminal.out(`\n${terminal.style("strong", text)}`);
  for (const { kernel, grid, block, warps, warpInstructions } of launches) {
    terminal.out(
      `${terminal.style("strong", displayName(kernel))}  grid ${triple(grid)}, block ${triple(block)}: ${plural(warps, "warp")}, ${plural(warpInstructions, "warp-instruction")}`,
    );
  }
  if (totals.warpInstructions === 0) return;
  heading("Totals");
  const rows = totalsOf(totals);
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) terminal.out(beside(name, { text: value, at: width + 4, columns: terminal.width }));
  heading("Functions");
  const hottest = [...functions].sort((a, b) => b.warpInstructions - a.warpInstructions).slice(0, options.top);
  table(
    ["calls", "depth", "warp-instr", "%", "with calls", "lanes", ""],
    hottest.map((f) => functionRow(f, totals.warpInstructions)),
    terminal,
  );
  const all = { options, all: rank(totals, options.by) };
  const by = options.everyLine ? "" : `, by ${options.by}`;
  if (profile.sources.length > 0) {
    heading(`Lines of the source${by}`);
    printLines(profile.sources, sourceTexts(terminal), all, terminal);
  }
  heading(profile.sources.length > 0 ? `Lines of the program${by}` : `Lines${by}`);
  printLines(profile.lines, assemblyTexts, all, terminal);
}

import { displayName, signatureOf } from "../../names/index.ts";
import {
  type CallProfile,
  type Counts,
  laneUse,
  type LineProfile,
  type OriginProfile,
  type Profile,
} from "../../profiler/index.ts";
import { printable, SourceText } from "../../source/index.ts";
import { groupBy } from "../terminal/group-by.ts";
import { type Html, html, renderPage } from "../terminal/html.ts";
import { grouped, plural } from "../terminal/numbers.ts";
import { notesOf, percent, totalsOf } from "./profile-notes.ts";
import { profileScript } from "./profile-page-script.ts";
import { profileStyle } from "./profile-page-style.ts";

/** Files with more lines than this are shown only around executed lines. */
const maxLines = 4000;

/** The number of lines shown before and after executed lines in such files. */
const around = 3;

/** The number of columns after which a line is cut off. */
const maxWidth = 300;

/** The most nodes shown of the call tree; the smallest are left out first. */
const maxNodes = 4000;
const minShare = 0.0005;

/** The counts by which the source can be shaded. */
const metrics: readonly (readonly [title: string, value: (c: Counts) => number])[] = [
  ["warp-instructions", (c) => c.warpInstructions],
  ["thread-instructions", (c) => c.threadInstructions],
  ["sectors of memory", (c) => c.globalSectors + c.localSectors],
  ["bank conflicts", (c) => c.sharedConflicts],
  ["divergence", (c) => c.divergentBranches + c.divergentCalls],
  ["atomic rounds", (c) => c.atomicRounds],
  ["barrier waits", (c) => c.barrierWaited],
  ["multiply-adds", (c) => c.multiplyAdds],
  ["bytes copied asynchronously", (c) => c.asyncBytes],
];

/** A row of a source table: the line's text, and its counts if it was executed. */
interface SourceRow {
  readonly line: number;
  readonly text: string;
  readonly counts: Counts | null;
  readonly notes: string;
}

/** The lines to show, with gaps where lines are left out. */
function rowsOf(
  source: SourceText | null,
  executed: ReadonlyMap<number, Pick<LineProfile, "counts" | "targets">>,
): (SourceRow | null)[] {
  const numbers = [...executed.keys()].sort((a, b) => a - b);
  const count = source?.lineStarts.length ?? 0;
  const shown = new Set<number>();
  if (source !== null && count <= maxLines) for (let n = 1; n <= count; n++) shown.add(n);
  else {
    const reach = source === null ? 0 : around;
    for (const n of numbers) for (let k = Math.max(1, n - reach); k <= n + reach; k++) shown.add(k);
  }
  const rows: (SourceRow | null)[] = [];
  let last = 0;
  for (const line of [...shown].sort((a, b) => a - b)) {
    if (line !== last + 1) rows.push(null);
    last = line;
    const text = source === null ? "" : source.line(line);
    const found = executed.get(line);
    const notes = found === undefined ? "" : notesOf(found).join("; ");
    rows.push({
      line,
      text: printable(text.length > maxWidth ? `${text.slice(0, maxWidth)}…` : text),
      counts: found?.counts ?? null,
      notes,
    });
  }
  return rows;
}

function row({ line, text, counts, notes }: SourceRow): Html {
  if (counts === null) {
    return html`<tr><td class="heat"></td><td class="lanes"></td><td class="no">${line}</td><td class="text">${text}</td><td></td></tr>`;
  }
  const values = metrics.map(([, value]) => value(counts)).join(" ");
  return html`<tr class="ran" data-v="${values}"><td class="heat">${grouped(counts.warpInstructions)}</td><td class="lanes">${percent(laneUse(counts))}</td><td class="no">${line}</td><td class="text">${text}</td><td class="notes">${notes}</td></tr>`;
}

function sourceTable(path: string, rows: readonly (SourceRow | null)[], note: string): Html {
  const body = rows.map((r) =>
    r === null ? html`<tr class="gap"><td></td><td></td><td class="no">⋮</td><td></td><td></td></tr>` : row(r),
  );
  return html`<h3><code>${printable(path)}</code></h3>${note === "" ? null : html`<p class="faint">${note}</p>`}
<div class="file code" tabindex="0" role="region" aria-label="${path}"><table class="source"><thead><tr><th class="heat count">${metrics[0]![0]}</th><th class="lanes">lanes</th><th class="no">line</th><th></th><th class="notes">on average</th></tr></thead><tbody>${body}</tbody></table></div>`;
}

function originTables(origins: readonly OriginProfile[], readOrigin: (path: string) => string | null): Html[] {
  return [...groupBy(origins, (o) => o.path)].map(([path, lines]) => {
    const text = readOrigin(path);
    const executed = new Map(lines.map((l) => [l.line, { counts: l.counts, targets: [] }]));
    const note = text === null ? "The file is not there: only its line numbers are known." : "";
    return sourceTable(path, rowsOf(text === null ? null : new SourceText(path, text), executed), note);
  });
}

function textTables(lines: readonly LineProfile[]): Html[] {
  return [...new Set(lines.map((l) => l.source))].map((source) => {
    const here = new Map(lines.filter((l) => l.source === source).map((l) => [l.line, l]));
    const long = source.lineStarts.length > maxLines;
    const note = long
      ? `The file has ${grouped(source.lineStarts.length)} lines: shown is what was executed, and what stands around it.`
      : "";
    return sourceTable(source.path, rowsOf(source, here), note);
  });
}

/** The hue of a name, the same everywhere on the page. */
function hueOf(name: string): number {
  let hue = 7;
  for (const c of name) hue = (hue * 31 + c.codePointAt(0)!) % 360;
  return hue;
}

function flameOf(root: CallProfile): { readonly nodes: Html[]; readonly depth: number; readonly left: number } {
  const all = Math.max(root.warpInstructions, 1);
  const nodes: Html[] = [];
  let deepest = 0;
  let left = 0;
  const visit = (node: CallProfile, x: number, depth: number): void => {
    const share = node.warpInstructions / all;
    if (depth > 0 && (share < minShare || nodes.length >= maxNodes)) {
      left++;
      return;
    }
    deepest = Math.max(deepest, depth);
    const calls = node.calls === 0 ? "" : `, ${plural(node.calls, "call")}`;
    const title = `${signatureOf(node.function)}: ${grouped(node.warpInstructions)} warp-instructions (${percent(share)}), ${grouped(node.ownInstructions)} of its own${calls}`;
    nodes.push(
      html`<button title="${title}" style="--x:${x};--w:${share};--d:${depth};--hue:${hueOf(node.function)}">${displayName(node.function)}</button>`,
    );
    let at = x;
    for (const child of node.children) {
      visit(child, at, depth + 1);
      at += child.warpInstructions / all;
    }
  };
  visit(root, 0, 0);
  return { nodes, depth: deepest + 1, left };
}

function flames({ calls, callsCut }: Profile): Html {
  const graphs = calls.map((root) => {
    const { nodes, depth, left } = flameOf(root);
    const hidden =
      left === 0
        ? null
        : html`<p class="faint">${plural(left, "call")} too small to see ${left === 1 ? "is" : "are"} left out, with what they call.</p>`;
    return html`<section><div class="controls"><span class="faint">Select a call to enlarge it.</span><button class="all" type="button">Show all</button></div>
<div class="flame-scroll"><div class="flame" style="height:${depth * 23 + 2}px">${nodes}</div></div><p class="detail" aria-live="polite"><span class="faint">Point at a call to see what it costs.</span></p>${hidden}</section>`;
  });
  const cut = callsCut ? html`<p class="faint">Calls deeper than the tree goes count where it was cut.</p>` : null;
  return html`<h2 id="calls">Calls</h2>${graphs}${cut}`;
}

function timelineSection({ timelines }: Profile): Html {
  const choices = timelines.map(
    (t) =>
      html`<option>${displayName(t.kernel)}, block (${t.block.join(",")}), warp ${t.warp}: ${plural(t.instructions, "warp-instruction")}</option>`,
  );
  const cut = timelines.some((t) => (t.stretches.at(-1)?.to ?? 0) < t.instructions);
  const event = (color: string, name: string, what: string): Html =>
    html`<span><span class="key" style="background:${color}"></span>${name}${what === "" ? "" : `: ${what}`}</span>`;
  return html`<h2 id="time">Lanes over time</h2><section id="timeline">
<div class="controls"><select aria-label="warp">${choices}</select>
<button type="button" data-do="in" aria-label="zoom in">+</button><button type="button" data-do="out" aria-label="zoom out">−</button>
<button type="button" data-do="earlier" aria-label="earlier">◀</button><button type="button" data-do="later" aria-label="later">▶</button><button type="button" data-do="all">All</button></div>
<canvas tabindex="0" role="img" aria-label="Which lanes run, over time. Arrow keys go from stretch to stretch, plus and minus zoom."></canvas>
<p class="detail" aria-live="polite"><span class="faint">Select a stretch of the picture to see what ran.</span></p>
<div class="controls faint">${event("#e0701a", "diverge", "other lanes of the warp run")}${event("#1d9a4a", "reconverge", "lanes join")}${event("#2f6fde", "call", "")}${event("#8a8f98", "return", "")}</div>
<p class="faint">A row is a lane, a colour a function. Drag, or use the arrow keys on the picture; Shift and the wheel zoom. ${cut ? "Of long warps only the beginning is kept. " : ""}Only the first warps of a launch are recorded.</p></section>`;
}

function functionsTable({ functions, totals }: Profile): Html {
  const rows = [...functions]
    .sort((a, b) => b.warpInstructions - a.warpInstructions)
    .map(
      (f) =>
        html`<tr><td><code title="${f.name}">${displayName(f.name)}</code></td><td class="number">${grouped(f.counts.warpInstructions)}</td><td class="number">${percent(f.counts.warpInstructions / totals.warpInstructions)}</td><td class="number">${grouped(f.warpInstructions)}</td><td class="number">${percent(laneUse(f.counts))}</td><td class="number wide">${f.calls === 0 ? "" : grouped(f.calls)}</td><td class="number wide">${f.calls === 0 ? "" : f.deepest}</td><td class="faint">${notesOf(f).join("; ")}</td></tr>`,
    );
  return html`<h2 id="functions">Functions</h2><div class="scroll"><table class="functions"><thead><tr><th>function</th><th class="number">warp-instr.</th><th class="number">%</th><th class="number">with calls</th><th class="number">lanes</th><th class="number wide">calls</th><th class="number wide">depth</th><th>on average</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A timeline whose functions have the names that people read. */
const shownTimeline = (timeline: Profile["timelines"][number]) => ({
  ...timeline,
  kernel: displayName(timeline.kernel),
  stretches: timeline.stretches.map((s) => ({ ...s, function: displayName(s.function) })),
});

export interface ProfilePageOptions {
  readonly title: string;
  /** What went wrong in the run, in one sentence; or null. */
  readonly failure: string | null;
  /** Returns the text of a higher-level source file that the program names, or null. */
  readonly readOrigin: (path: string) => string | null;
}

/**
 * Renders a profile as one page: totals, functions, the call tree, lanes over time, and the sources with the counts of
 * each line.
 */
export function profilePage(profile: Profile, { title, failure, readOrigin }: ProfilePageOptions): string {
  const { launches, totals, lines, sources, timelines } = profile;
  const launched = launches.map(
    (l) =>
      html`<div><code title="${l.kernel}">${displayName(l.kernel)}</code><br><span class="faint">grid (${l.grid.join(",")}), block (${l.block.join(",")}), ${plural(l.warps, "warp")}</span></div>`,
  );
  const rows = totalsOf(totals).map(([name, value]) => html`<tr><td>${name}</td><td>${value}</td></tr>`);
  const called = profile.calls.some((root) => root.children.length > 0);
  const shading = metrics.map(([name]) => html`<option>${name}</option>`);
  const body = html`<main>
<h1>${title}</h1>
${failure === null ? null : html`<p class="error">The run has failed: ${failure}. These are the counts up to there.</p>`}
<nav><a href="#functions">Functions</a>${called ? html`<a href="#calls">Calls</a>` : null}<a href="#time">Lanes over time</a><a href="#source">Source</a></nav>
<div class="cards">${launched.slice(0, 20)}${launched.length > 20 ? html`<div class="faint">and ${launched.length - 20} launches more</div>` : null}</div>
<h2>Totals</h2><table class="totals"><tbody>${rows}</tbody></table>
${functionsTable(profile)}
${called ? flames(profile) : null}
${timelines.length === 0 ? null : timelineSection(profile)}
<h2 id="source">Source</h2>
<div class="controls"><label for="metric">Shade by</label><select id="metric">${shading}</select></div>
${originTables(sources, readOrigin)}${textTables(lines)}
</main>`;
  return renderPage({
    title,
    style: profileStyle,
    body,
    data: { timelines: timelines.map(shownTimeline) },
    script: profileScript,
  });
}

import type { IrFunction } from "../ir/index.ts";
import type { SourceText } from "../source/index.ts";
import type { CallNode } from "./call-tree.ts";
import { addCounts, type Counts, newTally, type Tally } from "./counts.ts";
import type { ProfiledLaunch, Profiler } from "./profiler.ts";
import type { Timeline } from "./timeline.ts";

/** One line of PTX or vISA that has been executed. */
export interface LineProfile {
  readonly source: SourceText;
  readonly line: number;
  readonly function: string;
  readonly counts: Counts;
  /** By callee, the lanes that have gone there; the most first. */
  readonly targets: readonly { readonly function: string; readonly lanes: number }[];
  /** The line of the higher-level source that `.loc` names, or null. */
  readonly origin: { readonly path: string; readonly line: number } | null;
}

/** One line of the higher-level source. */
export interface OriginProfile {
  readonly path: string;
  readonly line: number;
  readonly counts: Counts;
}

export interface FunctionProfile {
  readonly name: string;
  readonly kind: IrFunction["kind"];
  readonly source: SourceText;
  readonly line: number;
  /** Groups of lanes that have entered it; 0 for a kernel. */
  readonly calls: number;
  /** The most calls that have led to it, one from within the other. */
  readonly deepest: number;
  /** Without what it calls. */
  readonly counts: Counts;
  /** With what it calls. */
  readonly warpInstructions: number;
  readonly threadInstructions: number;
}

export interface CallProfile {
  readonly function: string;
  readonly calls: number;
  /** Without what it calls, and with it. */
  readonly ownInstructions: number;
  readonly warpInstructions: number;
  readonly threadInstructions: number;
  /** In the order of their first calls. */
  readonly children: readonly CallProfile[];
}

/** What launches did, as plain data. */
export interface Profile {
  readonly launches: readonly ProfiledLaunch[];
  readonly totals: Counts;
  /** In the order of the sources. */
  readonly lines: readonly LineProfile[];
  readonly origins: readonly OriginProfile[];
  /** Those that have run, in the order in which they began. */
  readonly functions: readonly FunctionProfile[];
  /** One tree for each kernel. */
  readonly calls: readonly CallProfile[];
  /** Calls were too deep or too many for the tree: the rest counts where it was cut. */
  readonly callsCut: boolean;
  readonly timelines: readonly Timeline[];
}

export function profileOf(profiler: Profiler): Profile {
  const totals = newTally();
  for (const { tally } of profiler.sites.values()) addCounts(totals, tally);
  const { tree, launches, timelines } = profiler;
  return {
    launches,
    totals,
    lines: linesOf(profiler),
    origins: originsOf(profiler),
    functions: functionsOf(profiler),
    calls: [...tree.roots.values()].map(callProfile),
    callsCut: tree.cut,
    timelines,
  };
}

interface Growing {
  readonly line: Omit<LineProfile, "targets" | "counts">;
  readonly counts: Tally;
  readonly targets: Map<string, number>;
}

function linesOf({ sites }: Profiler): LineProfile[] {
  const bySource = new Map<SourceText, Map<number, Growing>>();
  for (const { site, tally, targets } of sites.values()) {
    const { source, name, files } = site.code.ir;
    const { span, location } = site.instruction;
    const { line } = source.position(span.start);
    let lines = bySource.get(source);
    if (lines === undefined) bySource.set(source, (lines = new Map()));
    let found = lines.get(line);
    if (found === undefined) {
      const origin = location && { path: files.get(location.file) ?? `file ${location.file}`, line: location.line };
      found = { line: { source, line, function: name, origin }, counts: newTally(), targets: new Map() };
      lines.set(line, found);
    }
    addCounts(found.counts, tally);
    for (const [callee, lanes] of targets) found.targets.set(callee, (found.targets.get(callee) ?? 0) + lanes);
  }
  return [...bySource.values()].flatMap((lines) =>
    [...lines.values()]
      .sort((a, b) => a.line.line - b.line.line)
      .map(({ line, counts, targets }) => ({
        ...line,
        counts,
        targets: [...targets].map(([name, lanes]) => ({ function: name, lanes })).sort((a, b) => b.lanes - a.lanes),
      })),
  );
}

function originsOf({ sites }: Profiler): OriginProfile[] {
  const byPlace = new Map<string, { path: string; line: number; counts: Tally }>();
  for (const { site, tally } of sites.values()) {
    const { location } = site.instruction;
    if (location === null) continue;
    const path = site.code.ir.files.get(location.file) ?? `file ${location.file}`;
    const key = `${location.line} ${path}`;
    let found = byPlace.get(key);
    if (found === undefined) byPlace.set(key, (found = { path, line: location.line, counts: newTally() }));
    addCounts(found.counts, tally);
  }
  return [...byPlace.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
}

function functionsOf({ sites, tree }: Profiler): FunctionProfile[] {
  const own = new Map<IrFunction, Tally>();
  for (const { site, tally } of sites.values()) {
    const { ir } = site.code;
    let counts = own.get(ir);
    if (counts === undefined) own.set(ir, (counts = newTally()));
    addCounts(counts, tally);
  }
  const whole = wholeCosts([...tree.roots.values()]);
  return [...own].map(([ir, counts]) => {
    const { calls = 0, deepest = 0 } = tree.entered.get(ir) ?? {};
    const { warpInstructions = 0, threadInstructions = 0 } = whole.get(ir) ?? {};
    const { name, kind, source, span } = ir;
    const { line } = source.position(span.start);
    return { name, kind, source, line, calls, deepest, counts, warpInstructions, threadInstructions };
  });
}

interface Cost {
  warpInstructions: number;
  threadInstructions: number;
}

/** What each function costs with what it calls. Of a recursion only the outermost activation counts. */
function wholeCosts(roots: readonly CallNode[]): ReadonlyMap<IrFunction, Cost> {
  const costs = new Map<IrFunction, Cost>();
  const visit = (node: CallNode, around: ReadonlySet<IrFunction>): Cost => {
    const within = new Set(around).add(node.function);
    const { warpInstructions, threadInstructions } = node;
    const cost = { warpInstructions, threadInstructions };
    for (const child of node.children.values()) add(cost, visit(child, within));
    if (!around.has(node.function)) {
      const known = costs.get(node.function);
      if (known === undefined) costs.set(node.function, { ...cost });
      else add(known, cost);
    }
    return cost;
  };
  for (const root of roots) visit(root, new Set());
  return costs;
}

function add(to: Cost, from: Cost): void {
  to.warpInstructions += from.warpInstructions;
  to.threadInstructions += from.threadInstructions;
}

function callProfile(node: CallNode): CallProfile {
  const children = [...node.children.values()].map(callProfile);
  const cost = { warpInstructions: node.warpInstructions, threadInstructions: node.threadInstructions };
  for (const child of children) add(cost, child);
  return { function: node.function.name, calls: node.calls, ownInstructions: node.warpInstructions, ...cost, children };
}

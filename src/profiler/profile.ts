import { type IrFunction, originOf } from "../ir/index.ts";
import { headOf, type Origin, type SourceText } from "../source/index.ts";
import type { CallNode } from "./call-tree.ts";
import { addCounts, type Counts, newTally, type Tally } from "./counts.ts";
import type { ProfiledLaunch, Profiler } from "./profiler.ts";
import type { Timeline } from "./timeline.ts";

/** A line of PTX or vISA that was executed. */
export interface LineProfile {
  /** The assembly. */
  readonly source: SourceText;
  /** Counted from 1. */
  readonly line: number;
  /** The function that the line belongs to. */
  readonly function: string;
  /** The sum over the instructions of the line. */
  readonly counts: Counts;
  /** How many lanes called each function from this line, in descending order. */
  readonly targets: readonly { readonly function: string; readonly lanes: number }[];
  /** The line of the higher-level source that `.loc` gives for this line; null if there is none. */
  readonly origin: { readonly path: string; readonly line: number } | null;
  /** The same with the functions that were inlined there, the innermost first. */
  readonly chain: Origin | null;
}

/** A line of the higher-level source, with the counts of all instructions that `.loc` attributes to it. */
export interface OriginProfile {
  /** The file as `.loc` names it. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly counts: Counts;
}

/**
 * A line of the user's own source, with the counts of all instructions that it stands for: those of library functions
 * that were inlined there count too.
 */
export interface SourceLineProfile extends OriginProfile {
  /** The assembly that was compiled from it. */
  readonly program: SourceText;
}

/** A function that was executed. */
export interface FunctionProfile {
  readonly name: string;
  readonly kind: IrFunction["kind"];
  /** The assembly that declares it. */
  readonly source: SourceText;
  /** The line of its declaration, counted from 1. */
  readonly line: number;
  /** How often groups of lanes entered the function; 0 for a kernel. */
  readonly calls: number;
  /** The deepest nesting of calls that led to it: 1 for a function that only the kernel calls, 0 for a kernel. */
  readonly deepest: number;
  /** The counts of the function itself, without its callees. */
  readonly counts: Counts;
  /** Instructions of the function and all its callees; the activations within a recursion are counted once. */
  readonly warpInstructions: number;
  /** The same, as executed by lanes. */
  readonly threadInstructions: number;
}

/** A node of the call tree: a function as called by one chain of callers. */
export interface CallProfile {
  readonly function: string;
  /** How often groups of lanes made this call; 0 for a kernel. */
  readonly calls: number;
  /** Warp-instructions of the function itself; the two other numbers include its callees. */
  readonly ownInstructions: number;
  /** Warp-instructions of the function and its callees. */
  readonly warpInstructions: number;
  /** Instructions that lanes executed in the function and its callees. */
  readonly threadInstructions: number;
  /** Callees, in the order of their first calls. */
  readonly children: readonly CallProfile[];
}

/** The result of profiling one or several launches, as plain data. */
export interface Profile {
  /** The profiled launches, in order. */
  readonly launches: readonly ProfiledLaunch[];
  /** The sum over all instructions. */
  readonly totals: Counts;
  /** Executed lines, by source and in ascending order within a source. */
  readonly lines: readonly LineProfile[];
  /** Lines of higher-level sources, by path and line. */
  readonly origins: readonly OriginProfile[];
  /** Lines of the user's own source, by path and line. */
  readonly sources: readonly SourceLineProfile[];
  /** Executed functions, in the order in which they were first reached. */
  readonly functions: readonly FunctionProfile[];
  /** A call tree for each kernel. */
  readonly calls: readonly CallProfile[];
  /** Whether calls were too deep or too many for the tree. Those are counted at the node where the tree was cut. */
  readonly callsCut: boolean;
  /** Timelines of the first warps of each launch. */
  readonly timelines: readonly Timeline[];
}

/** Evaluates what a profiler has recorded so far. */
export function profileOf(profiler: Profiler): Profile {
  const totals = newTally();
  for (const { tally } of profiler.sites.values()) addCounts(totals, tally);
  const { tree, launches, timelines } = profiler;
  return {
    launches,
    totals,
    lines: linesOf(profiler),
    origins: originsOf(profiler),
    sources: sourcesOf(profiler),
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
      const chain = originOf(site.code.ir, site.instruction);
      found = { line: { source, line, function: name, origin, chain }, counts: newTally(), targets: new Map() };
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
  return [...byPlace.values()].sort(byPathAndLine);
}

interface Placed {
  readonly path: string;
  readonly line: number;
}

const byPathAndLine = (a: Placed, b: Placed): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line);

function sourcesOf({ sites }: Profiler): SourceLineProfile[] {
  const byPlace = new Map<string, Omit<SourceLineProfile, "counts"> & { counts: Tally }>();
  for (const { site, tally } of sites.values()) {
    const origin = originOf(site.code.ir, site.instruction) ?? [];
    const head = origin[headOf(origin)];
    if (head === undefined) continue;
    const { path, line } = head;
    const key = `${line} ${path}`;
    let found = byPlace.get(key);
    if (found === undefined) {
      byPlace.set(key, (found = { path, line, program: site.code.ir.source, counts: newTally() }));
    }
    addCounts(found.counts, tally);
  }
  return [...byPlace.values()].sort(byPathAndLine);
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

/** Returns the cost of each function including its callees. Of a recursion, only the outermost activation counts. */
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

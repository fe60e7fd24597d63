import { typeName } from "../../dwarf/index.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";
import { displayName } from "../../names/index.ts";
import { DebuggerError } from "../location.ts";
import type { Session } from "../session.ts";
import { debugOf } from "../source/function-debug.ts";
import { sourceText } from "../source/source-text.ts";
import { valueAt } from "../source/source-value.ts";
import { visibleVariables } from "../source/variables.ts";
import { assemblyPlace, originPlace, siteAt } from "../view/lane-place.ts";
import { lanesTable } from "../view/tables.ts";
import type { ConsoleContext } from "./command.ts";
import { siteText, table } from "./render.ts";

/** Shows variables of the source; null if the function in focus has none that are known. */
function sourceVariables(session: Session, isParameter: boolean): string | null {
  const { frame } = session.view;
  if (frame === null || debugOf(frame.site.code.ir).kind === "unknown") return null;
  const { scope } = session;
  const found = visibleVariables(scope).filter(({ variable }) => variable.isParameter === isParameter);
  if (found.length === 0) return isParameter ? "no parameters" : "no variables";
  const hidden = new Set<string>();
  const rows = found.map(({ variable }) => {
    const note = hidden.has(variable.name) ? `  (hidden: line ${variable.line})` : "";
    hidden.add(variable.name);
    return `${variable.name} = ${sourceText(valueAt(variable, scope))}${note}`;
  });
  return rows.join("\n");
}

/** Says why variables of the source are not shown; empty if the program does not claim to have any. */
export function withoutVariables({ view: { frame } }: Session): string {
  if (frame === null) return "";
  const { ir } = frame.site.code;
  const debug = debugOf(ir);
  const hasOrigin = ir.files.size > 0;
  return debug.kind === "unknown" && hasOrigin
    ? `no variables of the source for ${displayName(ir.name)}: ${debug.why}`
    : "";
}

export const sourceLocals = (session: Session): string | null => sourceVariables(session, false);

/** Shows the parameters of the function in focus. */
export function args({ session }: ConsoleContext): string {
  if (session.view.frame === null) throw new DebuggerError("nothing runs here");
  return (
    sourceVariables(session, true) ?? (withoutVariables(session) || "no parameters of the source: see info locals")
  );
}

/** Shows the type of an expression of the source. */
export function whatis({ session }: ConsoleContext, text: string): string {
  if (text === "") throw new DebuggerError("whatis: of what? A variable of the source, as in whatis p.x");
  const value = session.inspect(text);
  return value === null ? session.evaluate(text).type : typeName(value.type);
}

/** Says which instructions a line of the source has become, and the other way round. */
export function line({ session }: ConsoleContext, text: string): string {
  const { frame } = session.view;
  const found = text === "" ? [] : session.locations(text);
  const sites =
    found.length > 0 ? found.map((at) => siteAt(session.execution, at)) : frame === null ? [] : [frame.site];
  if (sites.length === 0) throw new DebuggerError("nothing runs here: info line of what?");
  return sites
    .map((site) => {
      const { ir } = site.code;
      const origin = originPlace(site);
      let end = site.index;
      while (end + 1 < ir.instructions.length && isSame(ir.instructions[end + 1]!, site.instruction)) end++;
      const { path, line: first } = assemblyPlace(site);
      const last = ir.source.position(ir.instructions[end]!.span.start).line;
      const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`;
      const code = `${displayName(ir.name)}+${site.index}${end > site.index ? ` to +${end}` : ""}, ${lines} of ${path}`;
      if (origin === null) return code;
      return `line ${origin.line} of ${session.shownPath(origin.path, path)}: ${code}`;
    })
    .join("\n");
}

const isSame = (a: { readonly location: unknown }, b: { readonly location: unknown }): boolean =>
  a.location === b.location;

const triple = (values: readonly number[]): string => `(${values.join(",")})`;

const threadOf = (warp: Warp, lane: number): string => triple([0, 32, 64].map((axis) => warp.tid[axis + lane]!));

const blocksOf = ({ execution }: Session): readonly Cta[] => execution.blocks;

function kernels(session: Session): string {
  const { index, count } = session.timeline.launch;
  const { kernel, dimensions, block } = session.execution.grid;
  return table([
    ["", "Kernel", "Grid", "GridDim", "BlockDim", "Invocation"],
    ["*", `${index}`, `${index + 1} of ${count}`, triple(dimensions), triple(block), displayName(kernel)],
  ]);
}

function cudaBlocks(session: Session): string {
  const { dimensions } = session.execution.grid.cluster;
  const size = dimensions.reduce((a, b) => a * b, 1);
  const rows = blocksOf(session).map((block) => [
    block.ticket === session.focus.block ? "*" : "",
    triple(block.id),
    ...(size === 1
      ? []
      : [triple(block.id.map((at, i) => Math.floor(at / dimensions[i]!))), `${block.rank} of ${size}`]),
    `${block.liveWarps} of ${block.warps.length} warps`,
  ]);
  const head = ["", "BlockIdx", ...(size === 1 ? [] : ["ClusterIdx", "Rank"]), "State"];
  return rows.length === 0 ? "no block runs" : table([head, ...rows]);
}

const hex = (mask: number): string => `0x${(mask >>> 0).toString(16).padStart(8, "0")}`;

function cudaWarps(session: Session): string {
  const { focus } = session;
  const block = blocksOf(session).find(({ ticket }) => ticket === focus.block);
  if (block === undefined) throw new DebuggerError("the block in focus does not run");
  const rows = block.warps.map((warp) => {
    const [row] = lanesTable(warp, session.moment).filter(({ site }) => site !== null);
    return [
      warp.index === focus.warp ? "*" : "",
      String(warp.index),
      hex(row?.mask ?? 0),
      hex(warp.live & ~(row?.mask ?? 0)),
      triple(block.id),
      threadOf(warp, 0),
      row?.site ? siteText(session, row.site) : "exited",
    ];
  });
  return table([["", "Wp", "Active Lanes Mask", "Divergent Lanes Mask", "BlockIdx", "First ThreadIdx", "At"], ...rows]);
}

function cudaLanes(session: Session): string {
  const { warp } = session.view;
  if (warp === null) throw new DebuggerError("the warp in focus does not run");
  const rows = lanesTable(warp, session.moment).flatMap(({ mask, state, site }) =>
    Array.from({ length: 32 }, (_, lane) => lane)
      .filter((lane) => ((mask >>> lane) & 1) !== 0)
      .map((lane) => ({ lane, cells: [state, threadOf(warp, lane), site === null ? "" : siteText(session, site)] })),
  );
  rows.sort((a, b) => a.lane - b.lane);
  return table([
    ["", "Ln", "State", "ThreadIdx", "At"],
    ...rows.map(({ lane, cells }) => [lane === session.focus.lane ? "*" : "", String(lane), ...cells]),
  ]);
}

/** Lists the threads that run: those next to each other at the same place in one row. */
function cudaThreads(session: Session): string {
  const rows: string[][] = [];
  for (const block of blocksOf(session)) {
    for (const warp of block.warps) {
      const mine = block.ticket === session.focus.block && warp.index === session.focus.warp;
      for (const { mask, site, state } of lanesTable(warp, session.moment)) {
        if (site === null) continue;
        for (const [from, to] of runsOf(mask)) {
          const inFocus = mine && session.focus.lane >= from && session.focus.lane <= to;
          rows.push([
            inFocus ? "*" : "",
            triple(block.id),
            threadOf(warp, from),
            threadOf(warp, to),
            String(to - from + 1),
            state,
            siteText(session, site),
          ]);
        }
      }
    }
  }
  if (rows.length === 0) return "no thread runs";
  return table([["", "BlockIdx", "ThreadIdx", "To ThreadIdx", "Count", "State", "At"], ...rows]);
}

function runsOf(mask: number): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (let lane = 0; lane < 32; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const last = runs.at(-1);
    if (last !== undefined && last[1] === lane - 1) last[1] = lane;
    else runs.push([lane, lane]);
  }
  return runs;
}

const cudaTopics: Readonly<Record<string, (session: Session) => string>> = {
  kernels,
  blocks: cudaBlocks,
  warps: cudaWarps,
  lanes: cudaLanes,
  threads: cudaThreads,
};

/** Shows the machine in the words of cuda-gdb. */
export function cuda({ session }: ConsoleContext, text: string): string {
  const names = Object.keys(cudaTopics);
  const name = names.find((topic) => text !== "" && topic.startsWith(text));
  if (name === undefined) throw new DebuggerError(`info cuda: expected ${names.join(", ")}`);
  return cudaTopics[name]!(session);
}

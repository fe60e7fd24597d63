import { maskText } from "../../ir/lane-mask.ts";
import type { Execution, Moment } from "../../interpreter/execution.ts";
import type { Activation, BasicBlock, Group, Warp } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Location } from "../location.ts";

/** Where a lane is, and why it does not run if it does not. */
export interface LanePlace {
  readonly lane: number;
  /**
   * `next`: it executes the next instruction of all; `ready`: it could run, but it is the turn of others; `barrier`: at a
   * barrier of the block; `lanes`: for other lanes of its warp; `returned`: for the other lanes of the call that it has come
   * back from; `exited`; `absent`: the warp has no such lane.
   */
  readonly state: "next" | "ready" | "barrier" | "lanes" | "returned" | "exited" | "absent";
  /** What it waits for, in words. */
  readonly why: string | null;
  /** The function that it executes; null when it has exited. */
  readonly activation: Activation | null;
  /** What it executes next. */
  readonly site: Site | null;
  readonly group: Group | null;
}

/** One function on the way from the kernel to where a lane is. */
export interface LaneFrame {
  readonly activation: Activation;
  /** What is executed next in it, or the call that has not come back. */
  readonly site: Site;
}

const firstSite = ({ steps, terminator }: BasicBlock): Site => steps[0]?.site ?? terminator!.site;

/** What a group executes next. `moment`: of the machine. */
function siteOf(group: Group, moment: Moment | null): Site {
  if (moment?.group === group) return moment.site;
  return group.wait === null ? firstSite(group.at) : group.wait.arrival.site;
}

export function placeOf(warp: Warp, lane: number, moment: Moment | null): LanePlace {
  const bit = 1 << lane;
  const nowhere = { lane, why: null, activation: null, site: null, group: null };
  if ((warp.lanes & bit) === 0) return { ...nowhere, state: "absent" };
  if ((warp.live & bit) === 0) return { ...nowhere, state: "exited" };
  // Lanes of a call for all lanes may be in a caller's group too: the innermost is where they are.
  let group: Group | null = null;
  for (const g of warp.groups) {
    if ((g.mask & bit) !== 0 && (group === null || g.activation.depth > group.activation.depth)) group = g;
  }
  if (group !== null) {
    const { activation } = group;
    return { lane, ...stateOf(warp, group, moment), activation, site: siteOf(group, moment), group };
  }
  for (const x of warp.activations) {
    if ((x.returned & bit) === 0 || x.caller === null) continue;
    const why = `lanes ${maskText(x.live)} to return from ${x.code.ir.name}`;
    return { lane, state: "returned", why, activation: x.caller, site: firstSite(x.resume!), group: null };
  }
  return { ...nowhere, state: "exited" };
}

function stateOf(warp: Warp, group: Group, moment: Moment | null): Pick<LanePlace, "state" | "why"> {
  const { wait, mask } = group;
  if (moment?.group === group) return { state: "next", why: null };
  if (wait === null) return { state: "ready", why: null };
  const others = warp.live & ~mask;
  if (wait.kind === "lanes") {
    return { state: "lanes", why: `lanes ${maskText(wait.arrival.named & others)} of the member mask` };
  }
  if (wait.kind === "converge")
    return { state: "barrier", why: `barrier ${wait.barrier}, and lanes ${maskText(others)}` };
  const { arrived, count, weight } = warp.cta.barriers[wait.barrier]!;
  const expected = count ?? warp.cta.expectedWarps * weight;
  return { state: "barrier", why: `barrier ${wait.barrier}: ${arrived} of ${expected} have arrived` };
}

/** The functions that a lane is in, the innermost first. */
export function framesOf({ activation, site }: LanePlace): readonly LaneFrame[] {
  const frames: LaneFrame[] = [];
  for (let x = activation, at = site; x !== null && at !== null; at = x.callSite, x = x.caller) {
    frames.push({ activation: x, site: at });
  }
  return frames;
}

/** An instruction as the machine knows it. */
export const siteAt = ({ context }: Execution, { ir, index }: Location): Site => ({
  code: context.functionNamed(ir.name)!,
  index,
  instruction: ir.instructions[index]!,
});

/** A position in a file. Lines and columns count from 1. */
export interface SourcePlace {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Where an instruction stands in the assembly. */
export function assemblyPlace({ code, instruction }: Site): SourcePlace {
  const { source } = code.ir;
  return { path: source.path, ...source.position(instruction.span.start) };
}

/** Where it comes from, as `.loc` says (vISA: LOC), or null. */
export function originPlace({ code, instruction: { location } }: Site): SourcePlace | null {
  if (location === null) return null;
  const path = code.ir.files.get(location.file);
  return path === undefined ? null : { path, line: location.line, column: Math.max(1, location.column) };
}

import { originOf } from "../../ir/index.ts";
import { displayName } from "../../names/index.ts";
import { maskText } from "../../ir/lane-mask.ts";
import type { Execution, Moment } from "../../interpreter/execution.ts";
import type { Activation, BasicBlock, Group, Warp } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import { headOf, type Origin } from "../../source/index.ts";
import type { Location } from "../location.ts";

/** Where a lane is and, if it does not run, why. */
export interface LanePlace {
  /** 0 to 31. */
  readonly lane: number;
  /**
   * The state of the lane:
   * * `next`: it executes the next instruction of the machine;
   * * `ready`: it could run, but it is the turn of others;
   * * `barrier`: it waits at a barrier of the block;
   * * `lanes`: it waits for other lanes of its warp;
   * * `returned`: it waits for the other lanes of the call that it has returned from;
   * * `exited`: it has ended;
   * * `absent`: the warp has no such lane.
   */
  readonly state: "next" | "ready" | "barrier" | "lanes" | "returned" | "exited" | "absent";
  /** What the lane waits for, in words; null if it does not wait. */
  readonly why: string | null;
  /** The activation that it is in; null when it has exited. */
  readonly activation: Activation | null;
  /** The instruction that it executes next; null when it has exited. */
  readonly site: Site | null;
  /** The group that it belongs to; null if it waits for others to return, or has exited. */
  readonly group: Group | null;
}

/** One function on the lane's stack: one that was called, or one that the compiler has inlined there. */
export interface LaneFrame {
  /** The activation. */
  readonly activation: Activation;
  /** The next instruction in it, or the call that has not returned. */
  readonly site: Site;
  /** The index of the function's position in the origin of the instruction. */
  readonly level: number;
  /** The name of the function, as the linker knows it; null for an inlined one that the program does not name. */
  readonly function: string | null;
  /** Where the function is in the source that it was compiled from, or null. */
  readonly place: SourcePlace | null;
}

const firstSite = ({ steps, terminator }: BasicBlock): Site => steps[0]?.site ?? terminator!.site;

/** Returns the next instruction of a group. `moment` is that of the machine. */
function siteOf(group: Group, moment: Moment | null): Site {
  if (moment?.group === group) return moment.site;
  return group.wait === null ? firstSite(group.at) : group.wait.arrival.site;
}

/** Returns where a lane of a warp is. `moment` is that of the machine. */
export function placeOf(warp: Warp, lane: number, moment: Moment | null): LanePlace {
  const bit = 1 << lane;
  const nowhere = { lane, why: null, activation: null, site: null, group: null };
  if ((warp.lanes & bit) === 0) return { ...nowhere, state: "absent" };
  if ((warp.live & bit) === 0) return { ...nowhere, state: "exited" };
  // In a call that takes all lanes, a lane may also be in the caller's group: it is in the innermost one.
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
    const why = `lanes ${maskText(x.live)} to return from ${displayName(x.code.ir.name)}`;
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
  if (wait.kind === "cluster") {
    const { arrived, live } = warp.cta.cluster.barrier;
    return { state: "barrier", why: `the cluster's barrier: ${arrived} of ${live} have arrived` };
  }
  const { arrived, count, weight } = warp.cta.barriers[wait.barrier]!;
  const expected = count ?? warp.cta.expectedWarps * weight;
  return { state: "barrier", why: `barrier ${wait.barrier}: ${arrived} of ${expected} have arrived` };
}

/**
 * Returns the stack of a lane, the innermost function first. Functions of libraries that were inlined are left out: the
 * stack begins with the user's own function that calls them.
 */
export function framesOf({ activation, site }: LanePlace): readonly LaneFrame[] {
  const frames: LaneFrame[] = [];
  for (let x = activation, at = site; x !== null && at !== null; at = x.callSite, x = x.caller) {
    frames.push(...inlinedFrames(x, at));
  }
  return frames;
}

function inlinedFrames(activation: Activation, site: Site): LaneFrame[] {
  const origin = originOfSite(site);
  const { name } = site.code.ir;
  const head = headOf(origin);
  if (head < 0) return [{ activation, site, level: 0, function: name, place: null }];
  return origin.slice(head).map((place, i, rest) => ({
    activation,
    site,
    level: head + i,
    function: i === rest.length - 1 ? name : place.function,
    place: placeIn(origin, head + i),
  }));
}

/** Returns where an instruction was compiled from; empty if the program does not say. */
export const originOfSite = ({ code, instruction }: Site): Origin => originOf(code.ir, instruction) ?? [];

/** The index of the position that stands for an instruction in its origin; 0 if there is none. */
export const levelOf = (site: Site): number => Math.max(0, headOf(originOfSite(site)));

function placeIn(origin: Origin, level: number): SourcePlace | null {
  const found = origin[level];
  if (found === undefined || found.line === 0) return null;
  return { path: found.path, line: found.line, column: Math.max(1, found.column) };
}

/** Converts a location to a site of the machine. */
export const siteAt = ({ context }: Execution, { ir, index }: Location): Site => ({
  code: context.functionNamed(ir.name)!,
  index,
  instruction: ir.instructions[index]!,
});

/** A position in a file. Lines and columns count from 1. */
export interface SourcePlace {
  /** The file as the program names it. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Returns where an instruction stands in the assembly. */
export function assemblyPlace({ code, instruction }: Site): SourcePlace {
  const { source } = code.ir;
  return { path: source.path, ...source.position(instruction.span.start) };
}

/**
 * Returns the source position that `.loc` (vISA: LOC) gives for an instruction, or null. For a library function that
 * was inlined it is the position of the user's call.
 */
export function originPlace(site: Site): SourcePlace | null {
  const origin = originOfSite(site);
  return placeIn(origin, headOf(origin));
}

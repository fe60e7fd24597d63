import { displayName } from "../../names/index.ts";
import { warpOf } from "../focus.ts";
import { DebuggerError } from "../location.ts";
import type { Session } from "../session.ts";
import { variablesAt } from "../../ir/index.ts";
import { describeAddress } from "../view/memory-view.ts";
import { liveRegisters } from "../view/liveness.ts";
import { barriersTable, lanesTable, lanesText } from "../view/tables.ts";
import { formatFirst, numberOf } from "../view/value.ts";
import { functionAt, moduleVariables } from "../view/names.ts";
import type { Viewpoint } from "../view/memory-view.ts";
import { typedBits, type Variable } from "../view/variables.ts";
import type { ConsoleContext } from "./command.ts";
import { descriptors, matrices, mbarriers, tensorMap, tensorMemory } from "./machine-info.ts";
import { pointsText } from "./point-commands.ts";
import { args, cuda, line, sourceLocals, withoutVariables } from "./source-info.ts";
import { focusText, reportText, siteText, table } from "./render.ts";

interface Topic {
  readonly name: string;
  readonly help: string;
  readonly text: (context: ConsoleContext, args: string) => string;
}

/** Describes what a 64-bit value may point to: a function, a variable or an allocation; empty if nothing. */
function pointsTo({ execution, scope }: Session, v: Variable): string {
  const bytes = v.read(scope);
  if (bytes.length !== 8) return "";
  const address = BigInt(numberOf({ bytes, type: "b64" }));
  const name = functionAt(execution, address);
  if (name !== null) return name;
  const text = describeAddress(scope, BigInt.asUintN(64, address));
  return text.includes(",") ? text.slice(text.indexOf(",") + 2) : "";
}

/** Shows registers of the lane in focus: the live ones, all, or the named ones. */
function registers({ session }: ConsoleContext, args: string): string {
  const { frame } = session.view;
  if (frame === null) throw new DebuggerError("nothing runs here");
  const { activation, site } = frame;
  const { ir } = activation.code;
  const { scope } = session;
  const { registers: all, visa } = scope.names;
  const words = args.split(/\s+/).filter((word) => word !== "" && word !== "all");
  const live = liveRegisters(ir, site.index);
  const chosen = all.filter(({ name, register }) =>
    words.length > 0 ? words.includes(name) : args === "all" || live.has(register),
  );
  const own = ir.file === undefined ? 0 : variablesAt(ir.file.grfBytes);
  const named = (name: string): boolean => words.length === 0 || words.includes(name);
  const file = visa.filter((v) => named(v.name) && (args !== "" || v.at >= own));
  const rows = [...chosen, ...file].map((v) => [v.name, v.type, variableText(v, scope), pointsTo(session, v)]);
  const hidden = args === "" ? all.length - chosen.length : 0;
  const more = hidden > 0 ? `\n(${hidden} more hold nothing that is still read: info registers all)` : "";
  return rows.length === 0 ? `no register is live here${more}` : table(rows) + more;
}

const variableText = (v: Variable, of: Viewpoint): string => formatFirst(typedBits(v, of));

/** Shows the variables of the source or, with "ptx" or where nothing is known of the source, those of the assembly. */
function locals({ session }: ConsoleContext, args: string): string {
  const ofSource = args === "ptx" ? null : sourceLocals(session);
  if (ofSource !== null) return ofSource;
  const { scope } = session;
  const { frame, parameters, statics } = scope.names;
  const rows = [...frame, ...parameters].map((v) => [
    v.name,
    `0x${(v.address(scope) ?? 0n).toString(16)}`,
    `${v.read(scope).length} bytes`,
    variableText(v, scope),
    pointsTo(session, v),
  ]);
  rows.push(...statics.map((v) => [v.name, `0x${v.address.toString(16)}`, `${v.size} bytes`, v.space, ""]));
  const why = args === "ptx" ? "" : withoutVariables(session);
  return [...(why === "" ? [] : [why]), rows.length === 0 ? "no variables" : table(rows)].join("\n");
}

function lanes({ session }: ConsoleContext): string {
  const { warp } = session.view;
  if (warp === null) throw new DebuggerError("the warp in focus does not run");
  const rows = lanesTable(warp, session.moment).map(({ mask, state, why, site, activation }) => [
    lanesText(mask),
    why === null ? state : `${state}: waits for ${why}`,
    site === null ? "" : siteText(session, site),
    activation === null ? "" : `depth ${activation.depth}`,
  ]);
  return table([["lanes", "state", "at", ""], ...rows]);
}

function warps({ session }: ConsoleContext): string {
  const block = session.execution.blocks.find(({ ticket }) => ticket === session.focus.block);
  if (block === undefined) throw new DebuggerError("the block in focus does not run");
  const rows = block.warps.flatMap((warp) =>
    lanesTable(warp, session.moment).map((row, i) => [
      i === 0 ? `${warp.index}` : "",
      lanesText(row.mask),
      row.state,
      row.site === null ? "" : siteText(session, row.site),
    ]),
  );
  return table([["warp", "lanes", "state", "at"], ...rows]);
}

function blocks({ session }: ConsoleContext): string {
  const { execution } = session;
  const [x, y, z] = execution.grid.dimensions;
  const rows = execution.blocks.map(({ id, ticket, warps: all, liveWarps }) => [
    `(${id.join(",")})`,
    `number ${ticket} of ${x * y * z}`,
    `${liveWarps} of ${all.length} warps`,
  ]);
  return rows.length === 0 ? "no block runs" : table(rows);
}

function barriers({ session }: ConsoleContext): string {
  const block = warpOf(session.execution, session.focus)?.cta;
  if (block === undefined) throw new DebuggerError("the block in focus does not run");
  const rows = barriersTable(block).map(({ id, arrived, expected, round, warps: waiting }) => [
    `barrier ${id}`,
    `${arrived} of ${expected} have arrived`,
    waiting.length === 0 ? "no warp waits" : `warps ${waiting.join(", ")} wait`,
    round === 1 ? "passed once" : `passed ${round} times`,
  ]);
  return rows.length === 0 ? "no barrier has been used" : table(rows);
}

function time({ session }: ConsoleContext): string {
  const { timeline } = session;
  const { index, count } = timeline.launch;
  const { end, frontier } = timeline;
  const { kernel, steps, dimensions, block } = session.execution.grid;
  const known = end === null ? `seen up to ${frontier}` : `time ends at ${end.time}`;
  const stack = session.launchNotes[index]?.stack ?? [];
  return [
    `time ${timeline.now} (${known}), in instructions of warps`,
    `launch ${index + 1} of ${count}: ${displayName(kernel)}, ${dimensions.join("x")} blocks of ${block.join("x")} threads`,
    ...(stack.length === 0 ? [] : ["  launched", ...stack]),
    `${steps} instructions of threads so far; ${timeline.checkpointCount} checkpoints`,
    focusText(session),
  ].join("\n");
}

function launches({ session }: ConsoleContext): string {
  const { index, count } = session.timeline.launch;
  const { launchNotes } = session;
  if (launchNotes.length === 0) return `launch ${index + 1} of ${count}; what they launch is known when they begin`;
  const rows = launchNotes.map(({ kernel, grid, block, stack }, i) => [
    i === index ? "*" : "",
    `${i + 1}`,
    displayName(kernel),
    `${grid.join("x")} blocks of ${block.join("x")}`,
    stack[0]?.trim() ?? "",
  ]);
  return table([["", "launch", "kernel", "grid", "launched"], ...rows]);
}

function reports({ session, style, width, readSource }: ConsoleContext): string {
  const { findings, end } = session.timeline;
  const all = [...findings, ...(end?.report ? [{ time: end.time, report: end.report }] : [])];
  if (all.length === 0) return "no reports so far";
  return all
    .map(({ time: at, report }) => `time ${at}: ${reportText(report, { style, width, readOrigin: readSource })}`)
    .join("\n");
}

function variables({ session }: ConsoleContext): string {
  const rows = moduleVariables(session.execution).map(({ name, space, size, address }) => [
    name,
    space,
    `${size} bytes`,
    `0x${address.toString(16)}`,
  ]);
  const buffers = session.timeline.memory.allocations
    .filter(({ name }) => !name.startsWith("`"))
    .map(({ name, start, end, freed }) => [
      name,
      freed ? "freed" : "global",
      `${end - start} bytes`,
      `0x${session.execution.grid.addresses.global(start).toString(16)}`,
    ]);
  return rows.length + buffers.length === 0 ? "no variables" : table([...rows, ...buffers]);
}

/** If several topics share a beginning, it stands for the first one. */
export const infoTopics: readonly Topic[] = [
  { name: "registers", help: "live registers of the lane; with all or names, those registers", text: registers },
  {
    name: "locals",
    help: "variables of the source (nvcc -G); of the assembly where there are none, or with ptx",
    text: locals,
  },
  { name: "args", help: "parameters of the function in the source (nvcc -G)", text: args },
  { name: "lanes", help: "where the lanes of the warp are, and what they wait for", text: lanes },
  { name: "warps", help: "the warps of the block", text: warps },
  { name: "breakpoints", help: "breakpoints and watchpoints", text: ({ session }) => pointsText(session) },
  { name: "cuda", help: "kernels, blocks, warps, lanes or threads, in the words of cuda-gdb", text: cuda },
  { name: "line", help: "the instructions of a line of the source, and the other way round", text: line },
  { name: "blocks", help: "the blocks that run", text: blocks },
  { name: "barriers", help: "the barriers of the block", text: barriers },
  {
    name: "matrices",
    help: "matrices in registers of the next instruction or another line: [/TYPE] [a b c d] [LINE]",
    text: matrices,
  },
  {
    name: "mbarriers",
    help: "the mbarriers of the block, or the one at an address: phase, arrivals, bytes",
    text: mbarriers,
  },
  {
    name: "descriptors",
    help: "the matrix descriptors that the next instruction takes, or a value as one",
    text: descriptors,
  },
  { name: "tensormap", help: "a parameter, or memory at an address, as a tensor map", text: tensorMap },
  {
    name: "tensor",
    help: "the allocated columns of tensor memory; with /TYPE ADDRESS, words of it",
    text: tensorMemory,
  },
  { name: "launches", help: "all launches of a recording, and where the program makes them", text: launches },
  { name: "time", help: "the present time, and how much of time is known", text: time },
  {
    name: "output",
    help: "what has been printed up to now",
    text: ({ session }) => session.timeline.output || "nothing",
  },
  { name: "reports", help: "the reports of sanitizers and faults", text: reports },
  {
    name: "functions",
    help: "the functions of the program",
    text: ({ session }) =>
      table(
        session.functions.map(({ name, kind, instructions, external }) => [
          name,
          external ? "provided" : kind,
          `${instructions.length} instructions`,
        ]),
      ),
  },
  { name: "variables", help: "variables of the module, buffers", text: variables },
];

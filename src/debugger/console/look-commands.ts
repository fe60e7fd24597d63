import { lowestLane } from "../../ir/lane-mask.ts";
import { addressOf } from "../expression/evaluate.ts";
import { parseExpression } from "../expression/parse.ts";
import { warpOf } from "../focus.ts";
import { DebuggerError, originFile } from "../location.ts";
import type { Session } from "../session.ts";
import { sourceText } from "../source/source-text.ts";
import { assemblyPlace, originPlace, placeOf, siteAt } from "../view/lane-place.ts";
import { readMemory } from "../view/memory-view.ts";
import { formatValue, shapeOf, sizeOf } from "../view/value.ts";
import type { ConsoleCommand, ConsoleContext } from "./command.ts";
import { infoTopics } from "./info.ts";
import { whatis } from "./source-info.ts";
import { focusText, frameText, instructionText, listing, markedLines, markedOriginLines, table } from "./render.ts";

const around = 5;

/** Lists the source around the next instruction, or a place; the assembly where there is no source. */
function list(context: ConsoleContext, args: string): string {
  const { session } = context;
  const { frame } = session.view;
  const [, asked = "", line = ""] = /^(?:(.+):)?(\d+)$/.exec(args) ?? [];
  const named = asked === "" ? (session.hasSource && frame?.place?.path) || null : originFile(session.functions, asked);
  if (line !== "" && named !== null) {
    const text = listOrigin(context, named, Number(line));
    if (text !== null) return text;
  }
  const [location] = args === "" ? [] : session.locations(args);
  const site = location === undefined ? null : siteAt(session.execution, location);
  const place = site === null ? (args === "" ? (frame?.place ?? null) : null) : originPlace(site);
  const text = place === null || (line !== "" && named === null) ? null : listOrigin(context, place.path, place.line);
  return text ?? disassemble(context, args);
}

/** Lists the assembly around the next instruction, or a place. */
function disassemble({ session, style }: ConsoleContext, args: string): string {
  const { frame } = session.view;
  const [place] = args === "" ? [] : session.locations(args);
  const at = place ?? (frame && { ir: frame.site.code.ir, index: frame.site.index });
  if (!at) throw new DebuggerError("nothing runs here: list what? A line or a function");
  const { source } = at.ir;
  const span = at.ir.instructions[at.index]?.span ?? at.ir.span;
  const { line } = source.position(span.start);
  const here = frame?.site.code.ir.source === source ? assemblyPlace(frame.site).line : null;
  const marked = new Set(markedLines(session, source));
  return listing(source, { first: line - around, last: line + around, here, marked }, style);
}

/** Lists lines of a file that `.loc` names; null if its text is not available. */
function listOrigin({ session, style, readSource }: ConsoleContext, path: string, line: number): string | null {
  const { frame } = session.view;
  const program = frame?.site.code.ir.source.path ?? session.functions[0]?.source.path ?? "";
  const source = readSource?.(path, program) ?? null;
  if (source === null) return null;
  const at = frame?.place ?? null;
  const marked = new Set(markedOriginLines(session, path));
  const [first, last] = [line - around, line + around];
  return listing(source, { first, last, here: at?.path === path ? at.line : null, marked }, style);
}

function backtrace({ session, style }: ConsoleContext): string {
  const { frames, place } = session.view;
  if (frames.length === 0) return place === null ? "the block is not running" : `the lane has ${place.state}`;
  return frames
    .map((frame, i) => {
      const mark = i === session.focus.frame ? style("strong", "→") : " ";
      const inlined = frames[i + 1]?.activation === frame.activation ? ", inlined" : "";
      return `${mark} #${i}  ${frameText(session, frame)}${inlined}`;
    })
    .join("\n");
}

function selectFrame(context: ConsoleContext, frame: number): string {
  const { session } = context;
  const { frames } = session.view;
  if (frames[frame] === undefined) {
    throw new DebuggerError(`there is no frame ${frame}: the lane is in ${frames.length} functions`);
  }
  session.focus = { ...session.focus, frame };
  return `#${frame}  ${instructionText(session, frames[frame], context)}`;
}

function print({ session }: ConsoleContext, args: string): string {
  const [, hex, text = ""] = /^(?:\/(x)\s+)?(.*)$/.exec(args) ?? [];
  if (text === "") throw new DebuggerError("print what? An expression: %r1, tid.x + 1, [%rd4]:f32, V32[2]");
  const format = hex === undefined ? "natural" : "hex";
  const value = session.inspect(text);
  return value === null ? formatValue(session.evaluate(text), format) : sourceText(value, format);
}

const maxElements = 4096;

/** Executes `x/COUNTTYPE ADDRESS`: shows bytes as a dump, or elements of a type. */
function examine({ session }: ConsoleContext, args: string): string {
  const [, count, type = "", text = ""] = /^(?:\/(\d*)(\w*)\s+)?(.*)$/.exec(args) ?? [];
  if (text === "") throw new DebuggerError("x: at which address? x/8f32 %rd1, x/64 exchange");
  if (type !== "" && shapeOf(type) === null) throw new DebuggerError(`x: there is no type ${type}`);
  const { scope } = session;
  const { address } = addressOf(parseExpression(text), scope);
  const each = type === "" ? 1 : sizeOf(type)!;
  const wanted = Math.min(Number(count || (type === "" ? 64 : 8)), maxElements);
  const bytes = readMemory(scope, address, wanted * each);
  if (bytes.length < each) throw new DebuggerError(`there is no readable memory at 0x${address.toString(16)}`);
  const perLine = type === "" ? 16 : Math.max(1, Math.floor(32 / each));
  const rows: string[] = [];
  for (let at = 0; at + each <= bytes.length; at += perLine * each) {
    const line = bytes.subarray(at, at + perLine * each);
    const head = `0x${(address + BigInt(at)).toString(16)}:`;
    rows.push(`${head}  ${type === "" ? dump(line) : elementsText(line, type, each)}`);
  }
  const end = bytes.length < wanted * each ? `\n(${bytes.length} bytes: the memory ends here)` : "";
  return rows.join("\n") + end;
}

function dump(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join(" ");
  const text = Array.from(bytes, (b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : ".")).join("");
  return `${hex.padEnd(47)}  ${text}`;
}

function elementsText(bytes: Uint8Array, type: string, size: number): string {
  const texts: string[] = [];
  for (let at = 0; at + size <= bytes.length; at += size) {
    texts.push(formatValue({ bytes: bytes.slice(at, at + size), type }));
  }
  return texts.join("  ");
}

/** Moves the focus, if there is something at its new place. */
function focus(context: ConsoleContext, change: { block?: number; warp?: number; lane?: number }): string {
  const { session } = context;
  const next = { ...session.focus, ...change, frame: 0 };
  const warp = warpOf(session.execution, next);
  if (warp === null) {
    const running = session.execution.blocks.map((b) => `(${b.id.join(",")})`).join(" ") || "none";
    const block = `block (${session.blockId(next.block).join(",")})`;
    throw new DebuggerError(`there is no warp ${next.warp} of ${block} running; blocks that run: ${running}`);
  }
  const place = placeOf(warp, next.lane, session.moment);
  if (next.lane > 31 || place.state === "absent") throw new DebuggerError(`the warp has no lane ${next.lane}`);
  session.focus = next;
  const head = `${focusText(session)}, ${place.state}${place.why === null ? "" : ` (waits for ${place.why})`}`;
  const { frame } = session.view;
  return frame === null ? head : `${head}\n${instructionText(session, frame, context)}`;
}

const numberIn = (what: string, text: string): number => {
  if (!/^\d+$/.test(text)) throw new DebuggerError(`${what} ${text}: expected a number`);
  return Number(text);
};

/** Returns the linear index of a block, which is given as such or as x,y,z. */
function ticketOf(session: Session, text: string): number {
  const [gx, gy, gz] = session.execution.grid.dimensions;
  const isPlace = text.includes(",");
  const [x = 0, y = 0, z = 0] = isPlace ? text.replace(/[()]/g, "").split(",").map(Number) : [0];
  const ticket = isPlace ? x + gx * (y + gy * z) : numberIn("block", text);
  if (x < gx && y < gy && z < gz && ticket < gx * gy * gz) return ticket;
  throw new DebuggerError(`there is no block ${text}: the grid has ${gx}x${gy}x${gz}`);
}

/** Returns the warp and the lane of a thread of the block in focus. */
function threadOf(session: Session, text: string): { warp: number; lane: number } {
  const [x = 0, y = 0, z = 0] = text.replace(/[()]/g, "").split(",").map(Number);
  const block = session.execution.blocks.find((b) => b.ticket === session.focus.block);
  for (const warp of block?.warps ?? []) {
    for (let m = warp.lanes; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const same = warp.tid[lane] === x && warp.tid[32 + lane] === y && warp.tid[64 + lane] === z;
      if (same) return { warp: warp.index, lane };
    }
  }
  throw new DebuggerError(`the block in focus has no thread (${[x, y, z].join(",")})`);
}

export const lookCommands: readonly ConsoleCommand[] = [
  {
    name: "list",
    aliases: ["l"],
    args: "[PLACE]",
    help: "the source around the next instruction, or a place; the assembly if there is none",
    run: list,
  },
  {
    name: "disassemble",
    args: "[PLACE]",
    help: "the assembly around the next instruction, or a place",
    run: disassemble,
  },
  { name: "backtrace", aliases: ["bt", "where"], help: "the functions that the lane is in", run: backtrace },
  {
    name: "frame",
    aliases: ["f"],
    args: "N",
    help: "look at a function of the backtrace",
    run: (context, args) => selectFrame(context, args === "" ? context.session.focus.frame : numberIn("frame", args)),
  },
  {
    name: "up",
    help: "look at the caller",
    run: (context) => selectFrame(context, context.session.focus.frame + 1),
  },
  {
    name: "down",
    help: "look at the callee",
    run: (context) => selectFrame(context, context.session.focus.frame - 1),
  },
  {
    name: "print",
    aliases: ["p"],
    args: "[/x] EXPRESSION",
    help: "a value: variables of the source, registers, memory ([address]:type), threadIdx.x, lane, warp, time",
    run: print,
  },
  { name: "whatis", aliases: ["ptype"], args: "EXPRESSION", help: "the type of an expression", run: whatis },
  {
    name: "x",
    args: "[/COUNTTYPE] ADDRESS",
    help: "memory at an address: bytes, or elements, as in x/8f32 %rd1",
    repeats: true,
    run: examine,
  },
  {
    name: "set",
    args: "TARGET = EXPRESSION",
    help: "give a register, a variable or memory a value; time after it is forgotten",
    run: ({ session }, args) => {
      const [, target, value] = /^(.*?[^=!<>])=(?!=)\s*(.*)$/.exec(args) ?? [];
      if (target === undefined || value === undefined) throw new DebuggerError("set: expected TARGET = EXPRESSION");
      const stopped = session.assign(target.trim(), value);
      const typed = session.inspect(target.trim());
      const now = typed === null ? formatValue(session.evaluate(target.trim())) : sourceText(typed);
      return `${target.trim()} = ${now}${stopped ? "\nsanitizers see nothing more of this launch" : ""}`;
    },
  },
  {
    name: "lane",
    args: "N",
    help: "look at a lane of the warp; without a number, where the focus is",
    run: (context, args) => focus(context, args === "" ? {} : { lane: numberIn("lane", args) }),
  },
  {
    name: "warp",
    args: "N",
    help: "look at a warp of the block",
    run: (context, args) => focus(context, { warp: numberIn("warp", args), lane: 0 }),
  },
  {
    name: "block",
    args: "X,Y,Z",
    help: "look at a block that runs",
    run: (context, args) => focus(context, { block: ticketOf(context.session, args), warp: 0, lane: 0 }),
  },
  {
    name: "thread",
    aliases: ["t"],
    args: "X[,Y,Z]",
    help: "look at a thread of the block",
    run: (context, args) => focus(context, threadOf(context.session, args)),
  },
  {
    name: "info",
    aliases: ["i"],
    args: "TOPIC",
    help: `what there is: ${infoTopics.map(({ name }) => name).join(", ")}`,
    run: (context, args) => {
      const [word = "", ...rest] = args.split(/\s+/);
      const found = infoTopics.filter(({ name }) => name.startsWith(word));
      const topic = found.find(({ name }) => name === word) ?? found[0];
      if (word !== "" && topic !== undefined) return topic.text(context, rest.join(" "));
      return table(
        infoTopics.map(({ name, help }) => [`info ${name}`, help]),
        context.width,
      );
    },
  },
];

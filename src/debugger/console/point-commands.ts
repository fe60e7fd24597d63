import { type Breakpoint, type BreakpointOptions, parseHitCondition } from "../breakpoint.ts";
import { parseExpression } from "../expression/parse.ts";
import { DebuggerError } from "../location.ts";
import type { Session } from "../session.ts";
import { siteAt } from "../view/lane-place.ts";
import type { WatchKind, Watchpoint } from "../watchpoint.ts";
import { watchedText } from "../watched-text.ts";
import type { ConsoleCommand } from "./command.ts";
import { siteText, table } from "./render.ts";

function placesText(session: Session, { locations, text }: Breakpoint): string {
  const [, line] = /(?:^|:|line )(\d+)$/.exec(text) ?? [];
  const places = locations.map((location) => siteText(session, siteAt(session.execution, location), Number(line ?? 0)));
  return places.length > 3 ? `${places.length} places, first ${places[0]}` : places.join("; ");
}

/** Sets a breakpoint at `PLACE [if CONDITION]`; without a place, at the current instruction. */
function setBreakpoint(session: Session, args: string, options: BreakpointOptions): string {
  const [, place = "", condition] = /^(.*?)(?:\s*\bif\s+(.*))?$/.exec(args) ?? [];
  const { site } = session.view.place ?? {};
  if (place === "" && !site) throw new DebuggerError("break: where? A line, FILE:LINE or a function");
  const text = place === "" ? `${site!.code.ir.name}+${site!.index}` : place;
  const parsed = condition === undefined ? null : parseExpression(condition);
  const breakpoint = session.addBreakpoint(text, session.locations(text), { ...options, condition: parsed });
  return `breakpoint ${breakpoint.id}: ${placesText(session, breakpoint)}`;
}

function watch(session: Session, args: string, on: WatchKind): string {
  if (args === "") throw new DebuggerError("watch what? A register, a variable, or [address]:type");
  const { id, watched } = session.addWatchpoint(args, on);
  return `watchpoint ${id} (${on}): ${watchedText(session, watched)}`;
}

/** Returns the breakpoints and watchpoints with some numbers, or all of them. */
function points(session: Session, args: string): readonly (Breakpoint | Watchpoint)[] {
  const all = [...session.breakpoints.values(), ...session.watchpoints.values()].sort((a, b) => a.id - b.id);
  if (args === "") return all;
  return args.split(/[\s,]+/).map((word) => {
    const found = all.find(({ id }) => id === Number(word));
    if (found === undefined) throw new DebuggerError(`there is no breakpoint or watchpoint ${word}`);
    return found;
  });
}

function enable(session: Session, args: string, enabled: boolean): string {
  const chosen = points(session, args);
  for (const point of chosen) point.enabled = enabled;
  return `${chosen.map(({ id }) => id).join(", ") || "nothing"} ${enabled ? "enabled" : "disabled"}`;
}

function describe(session: Session, point: Breakpoint | Watchpoint): readonly string[] {
  const state = point.enabled ? "" : "disabled";
  const hits = point.hits === 0 ? "" : `${point.hits} hit${point.hits === 1 ? "" : "s"}`;
  if ("watched" in point) {
    const what = `${point.text}: ${watchedText(session, point.watched)}`;
    return [String(point.id), `watch (${point.on})`, what, state, hits];
  }
  const { condition, hitCondition, logMessage, temporary } = point;
  const more = [
    placesText(session, point),
    ...(condition === null ? [] : [`if ${condition.text}`]),
    ...(hitCondition === null ? [] : [`at hit ${hitCondition.operator} ${hitCondition.count}`]),
    ...(logMessage === null ? [] : [`prints ${JSON.stringify(logMessage)}`]),
  ].join(", ");
  const kind = logMessage === null ? (temporary ? "once" : "break") : "log";
  return [String(point.id), kind, more, state, hits];
}

export const pointsText = (session: Session): string => {
  const all = points(session, "");
  return all.length === 0 ? "no breakpoints, no watchpoints" : table(all.map((point) => describe(session, point)));
};

export const pointCommands: readonly ConsoleCommand[] = [
  {
    name: "break",
    aliases: ["b"],
    args: "[PLACE] [if CONDITION]",
    help: "stop before a place: LINE, FILE:LINE (also of the .loc source), FUNCTION, FUNCTION+N",
    run: ({ session }, args) => setBreakpoint(session, args, {}),
  },
  {
    name: "tbreak",
    aliases: ["tb"],
    args: "PLACE [if CONDITION]",
    help: "the same, once",
    run: ({ session }, args) => setBreakpoint(session, args, { temporary: true }),
  },
  {
    name: "logpoint",
    aliases: ["dprintf"],
    args: "PLACE TEXT",
    help: "print a text there and go on; {EXPRESSION} in it becomes a value",
    run: ({ session }, args) => {
      const [, place = "", logMessage] = /^(\S+)\s+(.+)$/.exec(args) ?? [];
      if (logMessage === undefined) throw new DebuggerError("logpoint: expected a place and a text");
      return setBreakpoint(session, place, { logMessage });
    },
  },
  {
    name: "hits",
    args: "ID CONDITION",
    help: "stop at certain hits only: 5, >= 5, % 5; - for all",
    run: ({ session }, args) => {
      const [, id = "", text = ""] = /^(\d+)\s*(.*)$/.exec(args) ?? [];
      const breakpoint = session.breakpoints.get(Number(id));
      if (breakpoint === undefined) throw new DebuggerError(`there is no breakpoint ${id || args}`);
      const hitCondition = text === "-" ? null : parseHitCondition(text);
      if (text !== "-" && hitCondition === null) throw new DebuggerError(`hits ${text}: expected 5, >= 5, % 5 or -`);
      session.breakpoints.set(breakpoint.id, { ...breakpoint, hitCondition, hits: 0 });
      return describe(session, session.breakpoints.get(breakpoint.id)!).filter(Boolean).join("  ");
    },
  },
  {
    name: "watch",
    args: "EXPRESSION",
    help: "stop after an instruction that changes a register, a variable, or memory ([address]:type)",
    run: ({ session }, args) => watch(session, args, "change"),
  },
  {
    name: "wwatch",
    args: "EXPRESSION",
    help: "the same for writes that change nothing, too",
    run: ({ session }, args) => watch(session, args, "write"),
  },
  {
    name: "rwatch",
    args: "EXPRESSION",
    help: "stop after an instruction that reads memory",
    run: ({ session }, args) => watch(session, args, "read"),
  },
  {
    name: "awatch",
    args: "EXPRESSION",
    help: "stop after an instruction that reads or writes memory",
    run: ({ session }, args) => watch(session, args, "access"),
  },
  {
    name: "delete",
    aliases: ["d"],
    args: "[ID…]",
    help: "remove breakpoints and watchpoints, all if none is named",
    run: ({ session }, args) => {
      const chosen = points(session, args);
      for (const { id } of chosen) session.removeBreakpoint(id) || session.watchpoints.delete(id);
      return `${chosen.map(({ id }) => id).join(", ") || "nothing"} removed`;
    },
  },
  {
    name: "enable",
    args: "[ID…]",
    help: "make breakpoints and watchpoints effective again",
    run: ({ session }, args) => enable(session, args, true),
  },
  {
    name: "disable",
    args: "[ID…]",
    help: "ignore breakpoints and watchpoints",
    run: ({ session }, args) => enable(session, args, false),
  },
];

import { DebuggerError } from "../location.ts";
import type { Session, StepRequest } from "../session.ts";
import type { Stop } from "../stop.ts";
import type { Granularity, Scope } from "../step-probe.ts";
import type { Search } from "../search.ts";
import type { ConsoleCommand, ConsoleContext } from "./command.ts";
import { stopText } from "./render.ts";

/** The current settings of step commands. */
export interface StepSettings {
  scope: Scope;
  /** `auto`: by lines of the source where the next instruction has one, else by instructions. */
  granularity: Granularity | "auto";
}

/** Goes through time, and describes where it stops and what the program has printed on the way. */
async function go(context: ConsoleContext, search: Search<Stop>): Promise<string> {
  const { session } = context;
  const before = session.timeline.output;
  const stop = await session.complete(search);
  const printed = session.timeline.output;
  const fresh = printed.startsWith(before) ? printed.slice(before.length).replace(/\n$/, "") : "";
  return [...(fresh === "" ? [] : [fresh]), stopText(session, stop, context)].join("\n");
}

const isOver = ({ reason }: Stop): boolean => reason !== "step";

/** Makes several steps, or fewer if something else stops. */
function* several(session: Session, count: number, step: () => Search<Stop>): Search<Stop> {
  let stop = session.stop("step");
  for (let i = 0; i < count; i++) {
    stop = yield* step();
    if (isOver(stop)) break;
  }
  return stop;
}

function countOf(args: string): number {
  if (args === "") return 1;
  if (/^\d+$/.test(args)) return Number(args);
  throw new DebuggerError(`${args}: expected a number of steps`);
}

const scopes: readonly Scope[] = ["lane", "warp", "block", "machine"];

type StepperArguments = [
  name: string,
  alias: string,
  help: string,
  request: Pick<StepRequest, "kind" | "backward" | "granularity">,
];

/** Returns a command that makes steps; `kind: "out"` takes no count. */
function stepCommand(
  settings: StepSettings,
  name: string,
  alias: string,
  help: string,
  request: Pick<StepRequest, "kind" | "backward" | "granularity">,
): ConsoleCommand {
  const isOut = request.kind === "out";
  return {
    name,
    aliases: [alias],
    args: isOut ? "" : "[N]",
    help,
    repeats: true,
    run: (context, args) => {
      const { session } = context;
      const granularity = settings.granularity === "auto" ? byOrigin(session) : settings.granularity;
      const once = (): Search<Stop> => session.step({ scope: settings.scope, granularity, ...request });
      return go(context, several(session, isOut ? 1 : countOf(args), once));
    },
  };
}

const byOrigin = ({ hasSource }: Session): Granularity => (hasSource ? "source-line" : "instruction");

const choices = ["auto", "instruction", "source-line"] as const;

/** The commands that go through time; `settings` are changed by some of them. */
export function motionCommands(settings: StepSettings): readonly ConsoleCommand[] {
  const stepper = (...[name, alias, help, request]: StepperArguments) =>
    stepCommand(settings, name, alias, help, request);
  const granularity = "instruction";
  return [
    {
      name: "continue",
      aliases: ["c", "run", "r"],
      help: "go on to the next breakpoint, watchpoint, report or fault, or to the end",
      repeats: true,
      run: (context) => go(context, context.session.continue({ here: context.session.now === 0 })),
    },
    stepper("step", "s", "go on to another line of the source, into calls; an instruction if there is no source", {
      kind: "into",
    }),
    stepper("next", "n", "the same, over calls", { kind: "over" }),
    stepper("stepi", "si", "execute an instruction, into calls", { kind: "into", granularity }),
    stepper("nexti", "ni", "the same, over calls", { kind: "over", granularity }),
    stepper("finish", "fin", "go on until the lane has come back from the function", { kind: "out" }),
    {
      name: "until",
      aliases: ["u", "advance"],
      args: "[PLACE]",
      help: "go on to a place of the function, or out of it; without a place, out of a loop",
      run: (context, args) => go(context, context.session.until(args === "" ? null : args, settings.scope)),
    },
    {
      name: "reverse-continue",
      aliases: ["rc"],
      help: "go back to the last breakpoint, watchpoint or report, or to the beginning",
      repeats: true,
      run: (context) => go(context, context.session.continue({ backward: true })),
    },
    stepper("reverse-step", "rs", "undo a line or an instruction of the lane, into calls", {
      kind: "into",
      backward: true,
    }),
    stepper("reverse-next", "rn", "the same, over calls", { kind: "over", backward: true }),
    stepper("reverse-stepi", "rsi", "undo an instruction of the lane, into calls", {
      kind: "into",
      backward: true,
      granularity,
    }),
    stepper("reverse-nexti", "rni", "the same, over calls", { kind: "over", backward: true, granularity }),
    stepper("reverse-finish", "rf", "go back to the call of the function", { kind: "out", backward: true }),
    {
      name: "goto",
      aliases: ["g"],
      args: "TIME|start|end|+N|-N",
      help: "go to a time, forwards or backwards",
      run: (context, args) => go(context, context.session.goTo(timeOf(context.session, args))),
    },
    {
      name: "launch",
      args: "N",
      help: "go to the beginning of a launch, forwards or backwards",
      run: (context, args) => {
        const n = /^\d+$/.test(args) ? Number(args) : 0;
        const { count } = context.session.timeline.launch;
        if (n < 1 || n > count) throw new DebuggerError(`launch ${args}: expected a number from 1 to ${count}`);
        return go(context, context.session.goToLaunch(n - 1));
      },
    },
    {
      name: "last-write",
      aliases: ["lw", "who-wrote"],
      args: "EXPRESSION",
      help: "go back to the last write of a register, a variable, or memory ([address]:type)",
      run: async (context, args) => {
        if (args === "") throw new DebuggerError("last-write: of what? A register, a variable, or [address]:type");
        const { session } = context;
        const stop = await session.complete(session.lastWrite(args));
        if (stop.reason === "beginning") return `nothing has written ${args} so far`;
        return stopText(session, stop, context);
      },
    },
    ...settingCommands(settings),
  ];
}

/** The commands that say how far steps go. */
const settingCommands = (settings: StepSettings): readonly ConsoleCommand[] => [
  {
    name: "scope",
    args: scopes.join("|"),
    help: "whose next instruction a step waits for",
    run: (_, args) => {
      if (args !== "") settings.scope = oneOf("scope", args, scopes);
      return `steps are those of the ${settings.scope}`;
    },
  },
  {
    name: "stepping",
    args: choices.join("|"),
    help: "how far step and next go: to the next instruction, or to another line of the source",
    run: (_, args) => {
      if (args !== "") settings.granularity = oneOf("stepping", args, choices);
      const { granularity: by } = settings;
      return by === "auto" ? "steps go by source-line where there is source" : `steps go by ${by}`;
    },
  },
];

function oneOf<T extends string>(what: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new DebuggerError(`${what} ${text}: expected ${choices.join(", ")}`);
  return found;
}

function timeOf({ now }: Session, text: string): number {
  if (text === "start") return 0;
  if (text === "end") return Infinity;
  const [, sign = "", digits] = /^([+-]?)(\d+)$/.exec(text.replaceAll(",", "")) ?? [];
  if (digits === undefined) throw new DebuggerError(`goto ${text}: expected a time, start, end, +N or -N`);
  const n = Number(digits);
  return sign === "+" ? now + n : sign === "-" ? now - n : n;
}

import { nearest } from "../../source/index.ts";
import { ExpressionError } from "../expression/tree.ts";
import { DebuggerError } from "../location.ts";
import type { Session } from "../session.ts";
import type { Answer, ConsoleCommand, ConsoleContext, ConsoleView } from "./command.ts";
import { lookCommands } from "./look-commands.ts";
import { motionCommands, type StepSettings } from "./motion-commands.ts";
import { pointCommands } from "./point-commands.ts";
import { stopText, table } from "./render.ts";

/** Column widths of the help, so that its groups are aligned. */
const commandColumns = 34;
const aliasColumns = 7;

/** The commands of a debugger as text in and text out, for terminals, scripts and the consoles of editors. */
export class Console {
  /** The session that the commands act on. */
  readonly session: Session;
  readonly #context: ConsoleContext;
  readonly #settings: StepSettings = { scope: "lane", granularity: "auto" };
  readonly #groups: readonly { readonly title: string; readonly commands: readonly ConsoleCommand[] }[];
  readonly #commands: readonly ConsoleCommand[];
  #last = "";

  constructor(session: Session, view: ConsoleView) {
    this.session = session;
    this.#context = { session, ...view };
    const own: readonly ConsoleCommand[] = [
      { name: "help", aliases: ["h", "?"], args: "[COMMAND]", help: "this list", run: (_, args) => this.#help(args) },
      { name: "quit", aliases: ["q", "exit"], help: "end the debugger", run: () => "" },
    ];
    this.#groups = [
      { title: "Going through time", commands: motionCommands(this.#settings) },
      { title: "Where to stop", commands: pointCommands },
      { title: "Looking", commands: lookCommands },
      { title: "Other", commands: own },
    ];
    this.#commands = this.#groups.flatMap(({ commands }) => commands);
  }

  /** The text to show before the first command: where the program stands. */
  get greeting(): string {
    return stopText(this.session, this.session.stop("entry"), this.#context);
  }

  /** Returns the commands that begin with a line, for the Tab key. */
  complete(line: string): readonly string[] {
    return this.#commands.map(({ name }) => name).filter((name) => name.startsWith(line));
  }

  /** Whether a line begins with the full name or an unambiguous abbreviation of a command. */
  knows(line: string): boolean {
    return this.#find(split(line).name).length === 1;
  }

  /**
   * Executes a line; an empty line repeats the last command if that can be repeated. Errors of the user are part of the
   * text, with `failed` set.
   */
  async run(line: string): Promise<Answer & { readonly failed: boolean }> {
    const text = line.trim() === "" ? this.#last : line.trim();
    if (text === "" || text.startsWith("#")) return { text: "", failed: false };
    const { name, args } = split(text);
    const found = this.#find(name);
    const [command] = found;
    this.#last = command?.repeats ? text : "";
    if (command === undefined) return { text: this.#unknown(name), failed: true };
    if (found.length > 1) {
      return { text: `${name} may be ${found.map((c) => c.name).join(", ")}`, failed: true };
    }
    if (command.name === "quit") return { text: "", quit: true, failed: false };
    try {
      return { text: await command.run(this.#context, args), failed: false };
    } catch (error) {
      if (error instanceof ExpressionError) return { text: error.frame, failed: true };
      if (error instanceof DebuggerError) return { text: error.message, failed: true };
      throw error;
    }
  }

  /** Returns the command with a name or abbreviation; several if the name is ambiguous. */
  #find(name: string): readonly ConsoleCommand[] {
    const exact = this.#commands.find((c) => c.name === name || c.aliases?.includes(name));
    return exact ? [exact] : name === "" ? [] : this.#commands.filter((c) => c.name.startsWith(name));
  }

  #unknown(name: string): string {
    const meant = nearest(
      name,
      this.#commands.map((c) => c.name),
    );
    return `there is no command ${name}${meant === null ? "" : `; did you mean ${meant}?`} (help lists them)`;
  }

  #help(args: string): string {
    const { style, width } = this.#context;
    const [command] = args === "" ? [] : this.#find(args);
    if (args !== "" && command === undefined) return this.#unknown(args);
    if (command !== undefined) {
      const also = command.aliases === undefined ? "" : `\nalso: ${command.aliases.join(", ")}`;
      return `${command.name} ${command.args ?? ""}`.trimEnd() + `\n  ${command.help}${also}`;
    }
    const rowOf = (c: ConsoleCommand): string[] => [
      `  ${c.name} ${c.args ?? ""}`.trimEnd().padEnd(commandColumns),
      (c.aliases?.[0] ?? "").padEnd(aliasColumns),
      c.help,
    ];
    const groups = this.#groups.map(({ title, commands }) =>
      [style("strong", title), table(commands.map(rowOf), width)].join("\n"),
    );
    return `${groups.join("\n")}\nNames can be abbreviated if that is unambiguous. An empty line repeats a step.`;
  }
}

/** Splits a line into name and arguments. In `x/8f32 ADDRESS` the arguments follow the name without a blank. */
function split(line: string): { readonly name: string; readonly args: string } {
  const [, name = "", args = ""] = /^\s*([^\s/]*)\s*(.*)$/.exec(line) ?? [];
  return { name, args: args.trim() };
}

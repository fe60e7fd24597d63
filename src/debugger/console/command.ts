import type { ReadOrigin, Style } from "../../source/index.ts";
import type { Session } from "../session.ts";

/** The text that a command prints, and whether it ends the debugger. */
export interface Answer {
  /** The text to print; may have several lines. */
  readonly text: string;
  /** Whether the debugger is to end. */
  readonly quit?: boolean;
}

/** How a console displays text. */
export interface ConsoleView {
  /** How each role of text is coloured. */
  readonly style: Style;
  /** Width in columns. */
  readonly width: number;
  /** Finds the files that a program was compiled from. If absent, they are not shown. */
  readonly readSource?: ReadOrigin;
}

export interface ConsoleContext extends ConsoleView {
  readonly session: Session;
}

/** One command of the console. */
export interface ConsoleCommand {
  readonly name: string;
  /** Abbreviations other than beginnings of the name. */
  readonly aliases?: readonly string[];
  /** The arguments, as the help shows them. */
  readonly args?: string;
  readonly help: string;
  /** Whether an empty line repeats the command. */
  readonly repeats?: boolean;
  run(context: ConsoleContext, args: string): string | Promise<string>;
}

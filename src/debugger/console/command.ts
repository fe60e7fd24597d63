import type { SourceText, Style } from "../../source/index.ts";
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
  /** Returns the text of a file that `.loc` names, or null if it is not available. If absent, no such files are. */
  readonly readSource?: (path: string) => SourceText | null;
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

import type { SourceText, Style } from "../../source/index.ts";
import type { Session } from "../session.ts";

/** What a command prints, and what becomes of the debugger. */
export interface Answer {
  readonly text: string;
  readonly quit?: boolean;
}

/** How a console shows things. */
export interface ConsoleView {
  readonly style: Style;
  /** Columns. */
  readonly width: number;
  /** The text of a file that `.loc` names, if it is there; absent: none is. */
  readonly readSource?: (path: string) => SourceText | null;
}

export interface ConsoleContext extends ConsoleView {
  readonly session: Session;
}

export interface ConsoleCommand {
  readonly name: string;
  /** Abbreviations beside the beginnings of the name. */
  readonly aliases?: readonly string[];
  /** What follows the name, for the help. */
  readonly args?: string;
  readonly help: string;
  /** An empty line does it again. */
  readonly repeats?: boolean;
  run(context: ConsoleContext, args: string): string | Promise<string>;
}

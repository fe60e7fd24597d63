import { type BreakpointOptions, parseHitCondition } from "../breakpoint.ts";
import { parseExpression } from "../expression/parse.ts";
import { ExpressionError } from "../expression/tree.ts";
import { atLine, DebuggerError, findLocations, type Location } from "../location.ts";
import type { Session } from "../session.ts";
import { assemblyPlace, originOfSite, originPlace, siteAt } from "../view/lane-place.ts";
import type { Watched, WatchKind } from "../watchpoint.ts";
import { watchedText } from "../watched-text.ts";
import { codeAddress, locationAt } from "./code-addresses.ts";
import type { Inspector } from "./inspector.ts";
import type { Arguments } from "./protocol.ts";
import type { SourceOptions } from "./shown-source.ts";

const accessKinds: Readonly<Record<string, WatchKind>> = { read: "read", write: "change", readWrite: "access" };

/** Breakpoints as editors set them: each request replaces all of a file, or of a kind. */
export class EditorBreakpoints {
  readonly #session: Session;
  readonly #bySource = new Map<string, number[]>();
  readonly #data = new Map<string, { readonly text: string; readonly watched: Watched }>();
  #functions: number[] = [];
  #instructions: number[] = [];

  readonly #pathOf: SourceOptions["pathOf"];

  constructor(session: Session, { pathOf }: Pick<SourceOptions, "pathOf">) {
    this.#session = session;
    this.#pathOf = pathOf;
  }

  /** Returns the name that the program has for a file of an editor: the file may have moved since it was compiled. */
  #nameOf(path: string): string {
    const { functions } = this.#session;
    if (atLine(functions, path, 1).length > 0) return path;
    const files = new Set(functions.flatMap(({ files: named }) => [...named.values()]));
    return [...files].find((file) => this.#pathOf(file) === path) ?? path;
  }

  setSource(args: Arguments): object {
    const path = args.object("source").string("path") ?? args.object("source").string("name") ?? "";
    const ids: number[] = [];
    this.#remove(this.#bySource.get(path) ?? []);
    this.#bySource.set(path, ids);
    const name = this.#nameOf(path);
    const breakpoints = args.objects("breakpoints").map((asked) => {
      const line = asked.number("line") ?? 0;
      const locations = atLine(this.#session.functions, name, line);
      if (locations.length === 0)
        return { verified: false, line, message: "there is no instruction at or after this line" };
      return this.#add(asked, `line ${line}`, locations, ids, this.#lineOf(locations[0]!, name, line));
    });
    return { breakpoints };
  }

  setFunctions(args: Arguments): object {
    const ids: number[] = [];
    this.#remove(this.#functions);
    this.#functions = ids;
    const breakpoints = args.objects("breakpoints").map((asked) => {
      const name = asked.string("name") ?? "";
      return attempt(() => this.#add(asked, name, findLocations(this.#session.functions, name, null), ids));
    });
    return { breakpoints };
  }

  setInstructions(args: Arguments): object {
    const { functions } = this.#session;
    const ids: number[] = [];
    this.#remove(this.#instructions);
    this.#instructions = ids;
    const breakpoints = args.objects("breakpoints").map((asked) => {
      const reference = asked.string("instructionReference") ?? "";
      const location = locationAt(functions, reference, asked.number("offset") ?? 0);
      if (location === null) return { verified: false, message: "there is no instruction at this address" };
      const text = `${location.ir.name}+${location.index}`;
      const added = this.#add(asked, text, [location], ids, this.#lineOf(location, location.ir.source.path));
      return { ...added, instructionReference: codeAddress(functions, location) };
    });
    return { breakpoints };
  }

  /** Tells whether something can be watched: a variable of a list, or an expression. */
  dataInfo(args: Arguments, inspector: Inspector): object {
    const none = (description: string): object => ({ dataId: null, description });
    try {
      inspector.selectFrame(args.number("frameId"));
      const text = args.number("variablesReference") === null ? (args.string("name") ?? "") : inspector.targetOf(args);
      const watched = this.#session.watched(text);
      const dataId = `${this.#data.size} ${text}`;
      this.#data.set(dataId, { text, watched });
      return {
        dataId,
        description: watchedText(this.#session, watched),
        accessTypes: ["read", "write", "readWrite"],
        canPersist: false,
      };
    } catch (error) {
      return none(messageOf(error));
    }
  }

  setData(args: Arguments): object {
    const { watchpoints } = this.#session;
    watchpoints.clear();
    this.#session.revision++;
    const breakpoints = args.objects("breakpoints").map((asked) => {
      const data = this.#data.get(asked.string("dataId") ?? "");
      if (data === undefined) return { verified: false, message: "this variable no longer exists" };
      const kind = accessKinds[asked.string("accessType") ?? "write"] ?? "change";
      const { id } = this.#session.watch(data.text, kind, data.watched);
      return { id, verified: true };
    });
    return { breakpoints };
  }

  #add(asked: Arguments, text: string, locations: readonly Location[], ids: number[], line?: number): object {
    return attempt(() => {
      const { id } = this.#session.addBreakpoint(text, locations, optionsOf(asked));
      ids.push(id);
      return { id, verified: true, ...(line === undefined ? {} : { line }) };
    });
  }

  /** Returns the actual line of a breakpoint, in the file for which it was set. */
  #lineOf(location: Location, path: string, asked = 0): number {
    const site = siteAt(this.#session.execution, location);
    // A function may be inlined at the line.
    const around = originOfSite(site).find((at) => at.line === asked);
    const origin = around ?? originPlace(site);
    const fileOf = (whole: string): string => whole.slice(whole.lastIndexOf("/") + 1);
    if (origin !== null && fileOf(origin.path) === fileOf(path)) return origin.line;
    return assemblyPlace(site).line;
  }

  #remove(ids: readonly number[]): void {
    for (const id of ids) this.#session.removeBreakpoint(id);
  }
}

function optionsOf(asked: Arguments): BreakpointOptions {
  const condition = asked.string("condition");
  const hits = asked.string("hitCondition");
  const hitCondition = hits ? parseHitCondition(hits) : null;
  if (hits && hitCondition === null) throw new DebuggerError(`${hits}: expected 5, >= 5 or % 5`);
  return {
    condition: condition ? parseExpression(condition) : null,
    hitCondition,
    logMessage: asked.string("logMessage") || null,
  };
}

const messageOf = (error: unknown): string => {
  if (error instanceof DebuggerError || error instanceof ExpressionError) return error.message;
  throw error;
};

/** Returns an unverified breakpoint if it cannot be set. */
function attempt(set: () => object): object {
  try {
    return set();
  } catch (error) {
    return { verified: false, message: messageOf(error) };
  }
}

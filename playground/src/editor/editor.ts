import { autocompletion, closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { type Diagnostic, forceLinting, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap } from "@codemirror/view";
import type { SymbolNode } from "lanewise/ide";
import type { BreakpointView, FileRange, Finding } from "../engine/protocol.ts";
import type { KernelParameter } from "../launch/form.ts";
import { breakpointAt, breakpointMargin, breakpointsOf, changesBreakpoints, toggleBreakpoint } from "./breakpoints.ts";
import { type HeatLine, heatMargin, hasHeat, setHeat } from "./heat.ts";
import { coloursOf } from "./highlight.ts";
import { keepKnown, type LanguageHost, languageSupport, lintOptions, reportsChanged } from "./language.ts";
import { LanguageClient } from "./language-client.ts";
import type { LensAction } from "./lenses.ts";
import { type LineActions, LineMenu } from "./line-menu.ts";
import { markedLines, markLines } from "./marked-lines.ts";
import { Palette } from "./palette.ts";

/** Hooks of the page. */
export interface EditorEvents {
  readonly onChange: (path: string, text: string) => void;
  readonly onRun: () => void;
  /** Shows a place in another file. */
  readonly onPlace: (range: FileRange) => void;
  readonly onProblem: (message: string) => void;
  readonly onLens: LensAction;
  readonly onBreakpoints: () => void;
  /** Time is to go to the next, or back to the last, arrival at a line. */
  readonly onRunTo: (path: string, line: number, backward: boolean) => void;
  /** The condition of a breakpoint is to be written. */
  readonly onCondition: (path: string, line: number) => void;
}

/** An editor of several files, one of which is shown. */
export class Editor {
  readonly view: EditorView;
  readonly #events: EditorEvents;
  /** The files by name: each its text, and its state once it has been shown. */
  readonly #files = new Map<string, string | EditorState>();
  readonly #client = new LanguageClient();
  readonly #palette = new Palette();
  readonly #menu = new LineMenu();
  readonly #language: LanguageHost;
  /** The state of a file that `prepare` was given and that has not been opened yet. */
  #prepared: { readonly path: string; readonly text: string; readonly state: EditorState } | null = null;
  #findings: readonly Finding[] = [];
  #path = "";

  constructor(parent: HTMLElement, events: EditorEvents) {
    this.#events = events;
    this.#language = {
      client: this.#client,
      reports: (path) => this.#reportsOf(path),
      goTo: ({ uri, start, end }) => events.onPlace({ path: uri, from: start, to: end, line: 0 }),
      say: events.onProblem,
      palette: this.#palette,
      lineAt: (path, offset) => {
        const doc = this.#stateOf(path)?.doc;
        if (doc === undefined || offset > doc.length) return null;
        const { number, text } = doc.lineAt(offset);
        return { line: number, text };
      },
      uris: () => [...this.#files.keys()].filter((path) => languageOf(path) !== null),
      onLens: events.onLens,
    };
    // Made before there is a file: the first one is then shown in less time, in a later step of the start.
    this.view = new EditorView({ parent });
    parent.append(this.#palette.element, this.#menu.element);
  }

  get path(): string {
    return this.#path;
  }

  /** Makes the state of a file that is about to be opened and shown, which takes a while. */
  prepare(path: string, text: string): void {
    this.#prepared = { path, text, state: this.#state(path, text) };
  }

  /** Replaces all files, and shows one of them. */
  open(files: readonly { readonly path: string; readonly text: string }[], shown = files[0]?.path): void {
    for (const path of this.#files.keys()) if (languageOf(path) !== null) void this.#client.call("closeDocument", path);
    this.#files.clear();
    this.#findings = [];
    for (const { path, text } of files) {
      const language = languageOf(path);
      if (language !== null) void this.#client.call("openDocument", path, text, language);
      this.#files.set(path, text);
    }
    this.#path = "";
    if (shown !== undefined) this.show(shown);
    this.#events.onBreakpoints();
  }

  /** Shows a file. */
  show(path: string): void {
    if (path === this.#path) return;
    const state = this.#stateOf(path);
    if (state === null) return;
    if (this.#path !== "") this.#files.set(this.#path, this.view.state);
    this.#path = path;
    this.view.setState(state);
  }

  /** Replaces the text of a file, if it is another one. */
  setText(path: string, text: string): void {
    if (path !== this.#path) {
      const file = this.#files.get(path);
      if ((typeof file === "object" ? file.doc.toString() : file) !== text) this.#files.set(path, text);
      return;
    }
    const { doc } = this.view.state;
    if (doc.toString() !== text) this.view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }

  /** Marks the line of the present time. */
  showNow(path: string, line: number | null): void {
    if (path === this.#path) this.view.dispatch({ effects: markLines.of({ now: line }) });
  }

  /** Marks lines that a tour speaks of, each by a part of its text, and brings the first into view. */
  showTour(texts: readonly string[]): void {
    const { doc } = this.view.state;
    const lines = linesWith(doc.toString().split("\n"), texts);
    const [first] = lines;
    const at = first === undefined || first > doc.lines ? null : doc.line(first).from;
    this.view.dispatch({
      effects: [
        markLines.of({ tour: lines }),
        ...(at === null ? [] : [EditorView.scrollIntoView(at, { y: "center" })]),
      ],
    });
  }

  /** Shades lines by what a profile counts. */
  showHeat(lines: readonly (HeatLine & { readonly path: string })[]): void {
    const own = lines.filter(({ path }) => path === this.#path);
    // The browser lays out the page at each change.
    if (own.length > 0 || hasHeat(this.view.state)) this.view.dispatch({ effects: setHeat.of(own) });
  }

  /** The breakpoints of all files. */
  breakpoints(): BreakpointView[] {
    return [...this.#files].flatMap(([path, file]) => {
      if (typeof file === "string" && path !== this.#path) return [];
      return breakpointsOf(this.#stateOf(path)!).map((breakpoint) => ({ path, ...breakpoint }));
    });
  }

  /** Gives a breakpoint a condition, or (null) takes it away. */
  setBreakpoint({ path, line }: BreakpointView, condition: string | null): void {
    const state = this.#stateOf(path);
    const effect = state && breakpointAt(state, line, condition);
    if (!state || !effect) return;
    if (path === this.#path) this.view.dispatch({ effects: effect });
    else {
      this.#files.set(path, state.update({ effects: effect }).state);
      this.#events.onBreakpoints();
    }
  }

  /** The text of a line; empty if there is none. */
  lineText(path: string, line: number): string {
    const doc = this.#stateOf(path)?.doc;
    return doc === undefined || line < 1 || line > doc.lines ? "" : doc.line(line).text.trim();
  }

  /** The state of a file, which is made if it has none yet; null if there is no such file. */
  #stateOf(path: string): EditorState | null {
    if (path === this.#path) return this.view.state;
    const file = this.#files.get(path);
    if (typeof file !== "string") return file ?? null;
    const prepared = this.#prepared;
    this.#prepared = null;
    const state = prepared?.path === path && prepared.text === file ? prepared.state : this.#state(path, file);
    this.#files.set(path, state);
    return state;
  }

  /** The number of the first line that contains a text; null if there is none. */
  lineWith(text: string): number | null {
    const at = this.view.state.doc.toString().indexOf(text);
    return at < 0 ? null : this.view.state.doc.lineAt(at).number;
  }

  /** Goes to a line. */
  showLine(line: number): void {
    const { doc } = this.view.state;
    if (line < 1 || line > doc.lines) return;
    const { from, to } = doc.line(line);
    this.select({ path: this.#path, from, to, line });
  }

  /** Selects a range, in the file that it is in. */
  select({ path, from, to }: FileRange): void {
    this.show(path);
    const { length } = this.view.state.doc;
    this.view.dispatch({
      selection: { anchor: Math.min(from, length), head: Math.min(to, length) },
      scrollIntoView: true,
    });
    this.view.focus();
  }

  /** Shows findings of a run in the margin and under the text, until the text is edited. */
  showFindings(findings: readonly Finding[]): void {
    if (findings.length === 0 && this.#findings.length === 0) return;
    this.#findings = findings;
    this.view.dispatch({ effects: reportsChanged.of(null) });
    forceLinting(this.view);
  }

  /** The kernels of a file with the names and types of their parameters, as the language service knows them. */
  async kernelsOf(path: string): Promise<ReadonlyMap<string, readonly KernelParameter[]>> {
    if (languageOf(path) === null) return new Map();
    const kernels = (await this.#client.call("symbols", path)).filter(({ kind }) => kind === "kernel");
    return new Map(kernels.map(({ name, children }) => [name, children.flatMap(parameterOf)]));
  }

  /**
   * Findings of the last run as diagnostics: each leads to the other places that belong to it, and these back to it.
   */
  #reportsOf(path: string): Diagnostic[] {
    const lead = (name: string, range: FileRange) => ({ name, apply: () => this.#events.onPlace(range) });
    return this.#findings
      .filter(({ threads }) => threads !== "" || path.endsWith(".json"))
      .flatMap(({ at, severity, code, message, help, related }): Diagnostic[] => {
        const own = at === null || at.path !== path ? [] : [at];
        return [
          ...own.map((range) => ({
            ...within(range, this.view.state.doc.length),
            severity,
            source: code,
            message: help === null ? message : `${message}\n${help}`,
            actions: related.map((other) => lead(`line ${other.at.line}: ${other.message}`, other.at)),
          })),
          ...related
            .filter((other) => other.at.path === path && at !== null)
            .map((other) => ({
              ...within(other.at, this.view.state.doc.length),
              severity: "info" as const,
              source: code,
              message: `${other.message}${other.thread === null ? "" : ` (${other.thread})`}`,
              actions: [lead(`line ${at!.line}: ${message}`, at!)],
            })),
        ];
      });
  }

  #state(path: string, doc: string): EditorState {
    return EditorState.create({
      doc,
      extensions: [
        breakpointMargin((line, event) => this.#menu.show(event, `Line ${line}`, this.#lineActions(path, line))),
        heatMargin,
        lintGutter(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        indentUnit.of("    "),
        keymap.of([
          { key: "Mod-Enter", run: () => (this.#events.onRun(), true) },
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...lintKeymap,
          {
            key: "F9",
            run: (view) => (toggleBreakpoint(view, view.state.doc.lineAt(view.state.selection.main.head).number), true),
          },
          { key: "Ctrl-F10", run: (view) => this.#runTo(view, path, false) },
          { key: "Ctrl-Shift-F10", run: (view) => this.#runTo(view, path, true) },
          // Tab indents; after Escape it leaves the editor, as the editor's own help says.
          indentWithTab,
        ]),
        coloursOf(path),
        markedLines,
        this.#analysis(path),
        EditorView.contentAttributes.of({
          tabindex: "0",
          "aria-label": `Source of ${path}. Escape, then Tab, leaves the editor.`,
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged || update.transactions.some(({ effects }) => changesBreakpoints(effects))) {
            this.#events.onBreakpoints();
          }
          if (!update.docChanged) return;
          // Reports are about the text that was run.
          this.#findings = this.#findings.filter(({ at }) => at?.path !== path);
          this.#events.onChange(path, update.state.doc.toString());
        }),
      ],
    });
  }

  #lineActions(path: string, line: number): LineActions {
    const { onRunTo, onCondition } = this.#events;
    const has = breakpointsOf(this.view.state).find((breakpoint) => breakpoint.line === line);
    return {
      "Run to this line": () => onRunTo(path, line, false),
      "Back to this line": () => onRunTo(path, line, true),
      [has === undefined ? "Set a breakpoint" : "Remove the breakpoint"]: () => toggleBreakpoint(this.view, line),
      "Stop here if …": () => {
        if (has === undefined) toggleBreakpoint(this.view, line);
        onCondition(path, line);
      },
    };
  }

  #runTo({ state }: EditorView, path: string, backward: boolean): true {
    this.#events.onRunTo(path, state.doc.lineAt(state.selection.main.head).number, backward);
    return true;
  }

  #analysis(path: string): Extension {
    // Completion has state that its handlers look for even after another file is shown.
    if (languageOf(path) === null)
      return [linter(() => this.#reportsOf(path), lintOptions), autocompletion({ override: [] })];
    return [languageSupport(path, this.#language), keepKnown(path, this.#language)];
  }
}

const parameterOf = ({ kind, name, detail }: SymbolNode): KernelParameter[] =>
  kind !== "parameter"
    ? []
    : [
        {
          name,
          type: detail
            .split(" ")
            .filter((word) => word !== ".param" && word !== name)
            .join(" "),
        },
      ];

/** The language of a file, by its name; null: the language service does not know it. */
const languageOf = (path: string): "ptx" | "visa" | null =>
  path.endsWith(".ptx") ? "ptx" : /\.(visaasm|isaasm)$/.test(path) ? "visa" : null;

/** A range as far as the text goes. */
const within = ({ from, to }: FileRange, length: number): { from: number; to: number } => ({
  from: Math.min(from, length),
  to: Math.min(Math.max(from, to), length),
});

/**
 * For each text the first line (from 1) that contains it, after that of the text before; those not found are left out.
 */
function linesWith(lines: readonly string[], texts: readonly string[]): number[] {
  let from = 0;
  return texts.flatMap((text) => {
    const at = lines.findIndex((line, i) => i >= from && line.includes(text));
    if (at < 0) return [];
    from = at + 1;
    return [at + 1];
  });
}

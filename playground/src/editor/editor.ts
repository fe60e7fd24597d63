import { autocompletion, closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { FileRange, Finding } from "../engine/protocol.ts";
import { coloursOf } from "./highlight.ts";

/** The lines that are marked: that of the present time, and those that a tour speaks of. */
interface MarkedLines {
  readonly now: number | null;
  readonly tour: readonly number[];
}

const markLines = StateEffect.define<Partial<MarkedLines>>();

const markedLines = StateField.define<{ readonly lines: MarkedLines; readonly decorations: DecorationSet }>({
  create: () => ({ lines: { now: null, tour: [] }, decorations: Decoration.none }),
  update(value, transaction) {
    let { lines } = value;
    for (const effect of transaction.effects) if (effect.is(markLines)) lines = { ...lines, ...effect.value };
    if (lines === value.lines) return { lines, decorations: value.decorations.map(transaction.changes) };
    const { doc } = transaction.state;
    const ranges = [
      ...lines.tour.map((line) => ({ line, class: "cm-tour-line" })),
      ...(lines.now === null ? [] : [{ line: lines.now, class: "cm-now-line" }]),
    ]
      .filter(({ line }) => line >= 1 && line <= doc.lines)
      .map(({ line, class: name }) => Decoration.line({ class: name }).range(doc.line(line).from));
    return { lines, decorations: Decoration.set(ranges, true) };
  },
  provide: (field) => EditorView.decorations.from(field, ({ decorations }) => decorations),
});

/** Hooks of the page. */
export interface EditorEvents {
  readonly onChange: (path: string, text: string) => void;
  readonly onRun: () => void;
}

/** An editor of several files, one of which is shown. */
export class Editor {
  readonly view: EditorView;
  readonly #events: EditorEvents;
  readonly #states = new Map<string, EditorState>();
  readonly #extra = new Compartment();
  #path = "";

  constructor(parent: HTMLElement, events: EditorEvents) {
    this.#events = events;
    this.view = new EditorView({ parent });
  }

  get path(): string {
    return this.#path;
  }

  /** Replaces all files. */
  open(files: readonly { readonly path: string; readonly text: string }[]): void {
    this.#states.clear();
    for (const { path, text } of files) this.#states.set(path, this.#state(path, text));
    this.#path = "";
    const [first] = files;
    if (first !== undefined) this.show(first.path);
  }

  /** Shows a file. */
  show(path: string): void {
    if (path === this.#path) return;
    const state = this.#states.get(path);
    if (state === undefined) return;
    if (this.#path !== "") this.#states.set(this.#path, this.view.state);
    this.#path = path;
    this.view.setState(state);
  }

  /** Replaces the text of a file, if it is another one. */
  setText(path: string, text: string): void {
    const state = path === this.#path ? this.view.state : this.#states.get(path);
    if (state?.doc.toString() === text) return;
    if (path === this.#path) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    else this.#states.set(path, this.#state(path, text));
  }

  /** Marks the line of the present time. */
  showNow(path: string, line: number | null): void {
    if (path === this.#path) this.view.dispatch({ effects: markLines.of({ now: line }) });
  }

  /** Marks lines that a tour speaks of, and brings the first into view. */
  showTour(lines: readonly number[]): void {
    const { doc } = this.view.state;
    const [first] = lines;
    const at = first === undefined || first > doc.lines ? null : doc.line(first).from;
    this.view.dispatch({
      effects: [
        markLines.of({ tour: lines }),
        ...(at === null ? [] : [EditorView.scrollIntoView(at, { y: "center" })]),
      ],
    });
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

  /** Shows findings in the margin and under the text. */
  showFindings(findings: readonly Finding[]): void {
    const { length } = this.view.state.doc;
    const diagnostics = findings.flatMap((finding): Diagnostic[] => {
      const { at, severity, code, message, help } = finding;
      if (at === null || at.path !== this.#path || at.from > length) return [];
      const text = `${message}${help === null ? "" : `\n${help}`}`;
      return [{ from: at.from, to: Math.min(length, Math.max(at.to, at.from)), severity, source: code, message: text }];
    });
    this.view.dispatch(
      setDiagnostics(
        this.view.state,
        diagnostics.sort((a, b) => a.from - b.from),
      ),
    );
  }

  #state(path: string, doc: string): EditorState {
    return EditorState.create({
      doc,
      extensions: [
        lineNumbers(),
        lintGutter(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        indentUnit.of("    "),
        keymap.of([
          { key: "Mod-Enter", run: () => (this.#events.onRun(), true) },
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...lintKeymap,
          // Tab indents; after Escape it leaves the editor, as the editor's own help says.
          indentWithTab,
        ]),
        coloursOf(path),
        markedLines,
        this.#extra.of([]),
        EditorView.contentAttributes.of({ "aria-label": `Source of ${path}. Escape, then Tab, leaves the editor.` }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.#events.onChange(path, update.state.doc.toString());
        }),
      ],
    });
  }
}

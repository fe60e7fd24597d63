import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { foldGutter, foldKeymap, foldService } from "@codemirror/language";
import { type Action, type Diagnostic, linter } from "@codemirror/lint";
import { type Extension, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  hoverTooltip,
  keymap,
  type ViewUpdate,
  WidgetType,
} from "@codemirror/view";
import type { FoldingRange, InlayHint, SemanticToken } from "lanewise/ide";
import { h } from "../dom.ts";
import { cursorHelp } from "./cursor.ts";
import { whenIdle } from "./idle.ts";
import { kernelLenses, type LensAction } from "./lenses.ts";
import { type ListHost, listCalls, listSymbols, listUses } from "./lists.ts";
import { markdown } from "./markdown.ts";

/** What the language service needs of the page. */
export interface LanguageHost extends ListHost {
  /** The findings of the last run that are about the file. */
  readonly reports: (path: string) => readonly Diagnostic[];
  /** The files that the service knows. */
  readonly uris: () => readonly string[];
  readonly onLens: LensAction;
}

/** Says that there are other reports to show. */
export const reportsChanged = StateEffect.define<null>();

/** When findings are looked for again. */
export const lintOptions = {
  delay: 150,
  needsRefresh: ({ transactions }: ViewUpdate): boolean =>
    transactions.some(({ effects }) => effects.some((effect) => effect.is(reportsChanged))),
};

/** Everything that the language service knows of a file, in an editor. */
export function languageSupport(uri: string, host: LanguageHost): Extension {
  return [
    synchronize(uri, host),
    diagnostics(uri, host),
    autocompletion({ override: [(context) => complete(uri, host, context)] }),
    hoverTooltip(async (_, offset) => {
      const hover = await host.client.call("hover", uri, offset);
      if (hover === null) return null;
      return {
        pos: hover.start,
        end: hover.end,
        create: () => ({ dom: h("div", { class: "cm-hover" }, markdown(hover.text)) }),
      };
    }),
    cursorHelp(uri, host.client),
    kernelLenses(uri, host.client, host.onLens),
    known,
    foldService.of((state, from, to) => {
      const fold = state.field(known).folds.find(({ start, end }) => start >= from && start <= to && end > to);
      return fold === undefined ? null : { from: to, to: Math.min(fold.end, state.doc.length) };
    }),
    foldGutter(),
    keymap.of([
      { key: "F12", run: (view) => act(() => define(uri, host, view)) },
      { key: "Shift-F12", run: (view) => act(() => listUses(host, uri, view.state.selection.main.head)) },
      { key: "Shift-Alt-h", run: (view) => act(() => listCalls(host, uri, view.state.selection.main.head)) },
      { key: "Mod-Shift-o", run: () => act(() => listSymbols(host, host.uris())) },
      { key: "F2", run: (view) => act(() => rename(uri, host, view)) },
      { key: "Shift-Alt-f", run: (view) => act(() => format(uri, host, view)) },
      ...foldKeymap,
    ]),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        if (!event.ctrlKey && !event.metaKey) return false;
        const offset = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (offset !== null) void define(uri, host, view, offset);
        return offset !== null;
      },
    }),
  ];
}

function act(work: () => Promise<void>): true {
  void work();
  return true;
}

/** Findings of the checker while one types, with their repairs, and those of the last run. */
const diagnostics = (uri: string, { client, reports }: LanguageHost): Extension =>
  linter(async (view) => {
    const { length } = view.state.doc;
    const [found, fixes] = await Promise.all([
      client.call("diagnostics", uri),
      client.call("codeActions", uri, { start: 0, end: length }),
    ]);
    const own = found.map(({ start, end, severity, code, message }): Diagnostic => {
      const actions = fixes
        .filter((fix) => fix.code === code && fix.edits.some((edit) => edit.start <= end && edit.end >= start))
        .slice(0, 4)
        .map(
          ({ title, edits }): Action => ({
            name: title,
            apply: (at) =>
              at.dispatch({ changes: edits.map((edit) => ({ from: edit.start, to: edit.end, insert: edit.text })) }),
          }),
        );
      return { from: Math.min(start, length), to: Math.min(end, length), severity, source: code, message, actions };
    });
    return [...own, ...reports(uri)];
  }, lintOptions);

/** Keeps the service's copy of the text the same as the editor's. */
const synchronize = (uri: string, { client }: LanguageHost): Extension =>
  EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    const changes: { start: number; end: number; text: string }[] = [];
    // From the last to the first, so that none moves another.
    update.changes.iterChanges((fromA, toA, _fromB, _toB, text) =>
      changes.unshift({ start: fromA, end: toA, text: text.toString() }),
    );
    void client.call("update", uri, changes);
  });

const kinds: Readonly<Record<string, string>> = {
  kernel: "function",
  instruction: "keyword",
  modifier: "property",
  directive: "keyword",
  register: "variable",
  special: "constant",
  parameter: "variable",
  label: "text",
  prototype: "interface",
  targets: "enum",
};

async function complete(
  uri: string,
  { client }: LanguageHost,
  context: CompletionContext,
): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[\w$%.:]+/);
  if (word === null && !context.explicit) return null;
  const found = await client.call("completions", uri, context.pos);
  const [first] = found;
  if (first === undefined) return null;
  const options = found.map(
    ({ label, kind, detail, documentation, edit }, i): Completion => ({
      label,
      type: kinds[kind] ?? kind,
      detail,
      boost: -Math.min(99, i),
      ...(documentation === "" ? {} : { info: () => markdown(documentation) }),
      apply: (view) =>
        view.dispatch({
          changes: { from: edit.start, to: Math.max(edit.end, context.pos), insert: edit.text },
          selection: { anchor: edit.start + edit.text.length },
        }),
    }),
  );
  return { from: first.edit.start, options, validFor: /^[\w$%]*$/ };
}

async function define(
  uri: string,
  host: LanguageHost,
  view: EditorView,
  at = view.state.selection.main.head,
): Promise<void> {
  const [place] = await host.client.call("definition", uri, at);
  if (place === undefined) host.say("Nothing is declared under this name.");
  else host.goTo(place);
}

async function rename(uri: string, { client, say }: LanguageHost, view: EditorView): Promise<void> {
  const { head } = view.state.selection.main;
  const found = await client.call("renameable", uri, head);
  const name = found === null ? null : window.prompt(`A new name for ${found.name}:`, found.name);
  if (name === null) return;
  const result = await client.call("rename", uri, head, name);
  if ("problem" in result) say(result.problem);
  else change(view, result.edits.get(uri) ?? []);
}

async function format(uri: string, { client }: LanguageHost, view: EditorView): Promise<void> {
  const { from, to, empty } = view.state.selection.main;
  change(view, await (empty ? client.call("format", uri) : client.call("format", uri, { start: from, end: to })));
}

const change = (view: EditorView, edits: readonly { start: number; end: number; text: string }[]): void =>
  view.dispatch({ changes: edits.map(({ start, end, text }) => ({ from: start, to: end, insert: text })) });

interface Known {
  readonly tokens: DecorationSet;
  readonly hints: DecorationSet;
  readonly folds: readonly FoldingRange[];
}

const know = StateEffect.define<Known>();

/** What names mean, remarks between the words, and what can be folded, as far as they are known. */
const known = StateField.define<Known>({
  create: () => ({ tokens: Decoration.none, hints: Decoration.none, folds: [] }),
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(know)) return effect.value;
    if (!transaction.docChanged) return value;
    const { changes } = transaction;
    return {
      tokens: value.tokens.map(changes),
      hints: value.hints.map(changes),
      folds: value.folds.map(({ start, end, kind }) => ({
        start: changes.mapPos(start),
        end: changes.mapPos(end),
        kind,
      })),
    };
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ tokens }) => tokens),
    EditorView.decorations.from(field, ({ hints }) => hints),
  ],
});

/** Asks again after a change, and when other lines come into view. */
export const keepKnown = (uri: string, { client }: LanguageHost): Extension =>
  whenIdle(
    ({ docChanged, viewportChanged }) => docChanged || viewportChanged,
    120,
    async ({ viewport, state }) => {
      const range = { start: viewport.from, end: viewport.to };
      const [tokens, hints, folds] = await Promise.all([
        client.call("semanticTokens", uri, range),
        client.call("inlayHints", uri, range),
        client.call("foldingRanges", uri),
      ]);
      const { length } = state.doc;
      return know.of({ tokens: tokenMarks(tokens, length), hints: hintMarks(hints, length), folds });
    },
  );

function tokenMarks(tokens: readonly SemanticToken[], length: number): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { start, end, type, declaration } of tokens) {
    if (end > length || start >= end) continue;
    builder.add(start, end, Decoration.mark({ class: `tok-${type}${declaration ? " tok-declaration" : ""}` }));
  }
  return builder.finish();
}

class Hint extends WidgetType {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override eq(other: Hint): boolean {
    return other.#text === this.#text;
  }

  override toDOM(): HTMLElement {
    return h("span", { class: "cm-inlay", "aria-hidden": "true" }, this.#text);
  }
}

const hintMarks = (hints: readonly InlayHint[], length: number): DecorationSet =>
  Decoration.set(
    hints
      .filter(({ offset }) => offset <= length)
      .map(({ offset, text }) => Decoration.widget({ widget: new Hint(text), side: 1 }).range(offset)),
    true,
  );

import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, showTooltip, type Tooltip } from "@codemirror/view";
import type { Highlight, SignatureHelp } from "lanewise/ide";
import { h } from "../dom.ts";
import { whenIdle } from "./idle.ts";
import type { LanguageClient } from "./language-client.ts";
import { markdown } from "./markdown.ts";

/** What is shown of the place at which the cursor is. */
interface AtCursor {
  readonly uses: DecorationSet;
  readonly signature: Tooltip | null;
}

const nothing: AtCursor = { uses: Decoration.none, signature: null };

const know = StateEffect.define<AtCursor>();

const atCursor = StateField.define<AtCursor>({
  create: () => nothing,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(know)) return effect.value;
    const { docChanged, selection, changes } = transaction;
    if (!docChanged && selection === undefined) return value;
    const { signature } = value;
    return {
      uses: docChanged ? value.uses.map(changes) : value.uses,
      signature: signature && { ...signature, pos: transaction.state.selection.main.head },
    };
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ uses }) => uses),
    showTooltip.from(field, ({ signature }) => signature),
  ],
});

/** Marks all uses of the name at the cursor, and shows the function whose arguments the cursor is in. */
export const cursorHelp = (uri: string, client: LanguageClient): Extension => [
  atCursor,
  whenIdle(
    ({ docChanged, selectionSet }) => docChanged || selectionSet,
    120,
    async ({ state }) => {
      const { head, empty } = state.selection.main;
      const [uses, signature] = await Promise.all([
        empty ? client.call("highlights", uri, head) : [],
        client.call("signatureHelp", uri, head),
      ]);
      if (uses.length < 2 && signature === null && state.field(atCursor) === nothing) return null;
      const { length } = state.doc;
      return know.of({
        uses: usesMarks(uses.filter(({ end }) => end <= length)),
        signature: signature && tooltipOf(head, signature),
      });
    },
  ),
];

// One use says nothing that the cursor does not.
const usesMarks = (uses: readonly Highlight[]): DecorationSet =>
  uses.length < 2
    ? Decoration.none
    : Decoration.set(
        uses.map(({ start, end, write }) =>
          Decoration.mark({ class: write ? "cm-use cm-use-write" : "cm-use" }).range(start, end),
        ),
        true,
      );

function tooltipOf(pos: number, { label, parameters, active, documentation }: SignatureHelp): Tooltip {
  const { start = 0, end = 0 } = parameters[active] ?? {};
  const create = () => ({
    dom: h(
      "div",
      { class: "cm-hover cm-signature" },
      h("code", {}, label.slice(0, start), h("strong", {}, label.slice(start, end)), label.slice(end)),
      documentation !== "" && markdown(documentation),
    ),
  });
  return { pos, above: true, create };
}

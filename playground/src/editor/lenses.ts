import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { CodeLens } from "lanewise/ide";
import { h } from "../dom.ts";
import { whenIdle } from "./idle.ts";
import type { LanguageClient } from "./language-client.ts";

/** What a lens asks for: something to be done with a kernel. */
export type LensAction = (command: CodeLens["command"], kernel: string) => void;

class Lenses extends WidgetType {
  readonly #lenses: readonly CodeLens[];
  readonly #act: LensAction;

  constructor(lenses: readonly CodeLens[], act: LensAction) {
    super();
    this.#lenses = lenses;
    this.#act = act;
  }

  override eq(other: Lenses): boolean {
    return JSON.stringify(other.#lenses) === JSON.stringify(this.#lenses);
  }

  override toDOM(): HTMLElement {
    return h(
      "div",
      { class: "cm-lenses" },
      this.#lenses.map(({ title, command, kernel }) =>
        h(
          "button",
          {
            type: "button",
            class: "plain",
            "aria-label": `${title} ${kernel}`,
            onclick: () => this.#act(command, kernel),
          },
          title,
        ),
      ),
    );
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

const know = StateEffect.define<DecorationSet>();

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lenses, transaction) {
    for (const effect of transaction.effects) if (effect.is(know)) return effect.value;
    return lenses.map(transaction.changes);
  },
  provide: (own) => EditorView.decorations.from(own),
});

/** Above each kernel what can be done with it. */
export const kernelLenses = (uri: string, client: LanguageClient, act: LensAction): Extension => [
  field,
  whenIdle(
    ({ docChanged }) => docChanged,
    250,
    async ({ state: { doc } }) => {
      const byLine = new Map<number, CodeLens[]>();
      for (const lens of await client.call("codeLenses", uri)) {
        if (lens.start > doc.length) continue;
        const { from } = doc.lineAt(lens.start);
        byLine.set(from, [...(byLine.get(from) ?? []), lens]);
      }
      const widgets = [...byLine].map(([from, lenses]) =>
        Decoration.widget({ widget: new Lenses(lenses, act), side: -1, block: true }).range(from),
      );
      return know.of(Decoration.set(widgets, true));
    },
  ),
];

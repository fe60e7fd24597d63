import { type EditorState, type Extension, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { GutterMarker, gutter } from "@codemirror/view";

/** A number at a line, and how warm it is: from 0 to 1. */
export interface HeatLine {
  readonly line: number;
  readonly text: string;
  readonly title: string;
  readonly heat: number;
}

/** Replaces what the margin shows; an empty list takes it away. */
export const setHeat = StateEffect.define<readonly HeatLine[]>();

class Heat extends GutterMarker {
  readonly #line: HeatLine;

  constructor(line: HeatLine) {
    super();
    this.#line = line;
  }

  override toDOM(): HTMLElement {
    const { text, title, heat } = this.#line;
    const mark = document.createElement("span");
    mark.className = "cm-heat";
    mark.textContent = text;
    mark.title = title;
    mark.style.setProperty("--heat", heat.toFixed(3));
    return mark;
  }
}

const field = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    // Counts belong to the text that was run.
    let next = transaction.docChanged ? RangeSet.empty : set;
    for (const effect of transaction.effects) {
      if (!effect.is(setHeat)) continue;
      const { doc } = transaction.state;
      const marks = effect.value
        .filter(({ line }) => line >= 1 && line <= doc.lines)
        .map((line) => new Heat(line).range(doc.line(line.line).from));
      next = RangeSet.of(marks, true);
    }
    return next;
  },
});

/** Whether the margin shows anything. */
export const hasHeat = (state: EditorState): boolean => (state.field(field, false)?.size ?? 0) > 0;

/** A margin with counts by line, which is not there while it is empty. */
export const heatMargin: Extension = [
  field,
  gutter({ class: "cm-heat-margin", markers: (view) => view.state.field(field) }),
];

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";

/** The lines that are marked: that of the present time, and those that a tour speaks of. */
interface MarkedLines {
  readonly now: number | null;
  readonly tour: readonly number[];
}

/** Changes which lines are marked. */
export const markLines = StateEffect.define<Partial<MarkedLines>>();

/** Marks lines. */
export const markedLines = StateField.define<{ readonly lines: MarkedLines; readonly decorations: DecorationSet }>({
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

import { type Extension, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, GutterMarker, gutter } from "@codemirror/view";

const toggle = StateEffect.define<number>();

class Dot extends GutterMarker {
  override toDOM(): HTMLElement {
    const dot = document.createElement("span");
    dot.className = "cm-breakpoint";
    dot.title = "Breakpoint: time stops before this line";
    return dot;
  }
}
const dot = new Dot();

const field = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let next = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(toggle)) continue;
      let has = false;
      next.between(effect.value, effect.value, () => {
        has = true;
      });
      next = has
        ? next.update({ filter: (from) => from !== effect.value })
        : next.update({ add: [dot.range(effect.value)] });
    }
    return next;
  },
});

/** Sets a breakpoint at a line, or removes it. */
export function toggleBreakpoint(view: EditorView, line: number): void {
  view.dispatch({ effects: toggle.of(view.state.doc.line(line).from) });
}

/** The lines with breakpoints, from 1. */
export function breakpointLines(state: EditorView["state"]): number[] {
  const lines: number[] = [];
  const set = state.field(field, false);
  for (let at = set?.iter(); at?.value; at.next()) lines.push(state.doc.lineAt(at.from).number);
  return lines;
}

/** A margin with breakpoints: a click sets or removes one. */
export const breakpoints: Extension = [
  field,
  gutter({
    class: "cm-breakpoints",
    markers: (view) => view.state.field(field),
    initialSpacer: () => dot,
    domEventHandlers: {
      mousedown(view, line) {
        view.dispatch({ effects: toggle.of(line.from) });
        return true;
      },
    },
  }),
];

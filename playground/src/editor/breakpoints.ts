import { type EditorState, type Extension, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, GutterMarker, gutter, lineNumbers } from "@codemirror/view";

/** A line (from 1) at which time stops; `condition` is empty if there is none. */
export interface LineBreakpoint {
  readonly line: number;
  readonly condition: string;
}

/** Sets the condition of the breakpoint at the line that begins at `at`, or (null) removes it. */
const set = StateEffect.define<{ readonly at: number; readonly condition: string | null }>({
  map: ({ at, condition }, changes) => ({ at: changes.mapPos(at), condition }),
});

class Dot extends GutterMarker {
  readonly condition: string;

  constructor(condition: string) {
    super();
    this.condition = condition;
  }

  override eq(other: Dot): boolean {
    return other.condition === this.condition;
  }

  override toDOM(): HTMLElement {
    const dot = document.createElement("span");
    dot.className = this.condition === "" ? "cm-breakpoint" : "cm-breakpoint conditional";
    dot.title = `Time stops before this line${this.condition === "" ? "" : ` if ${this.condition}`}`;
    return dot;
  }
}

const field = StateField.define<RangeSet<Dot>>({
  create: () => RangeSet.empty,
  update(dots, transaction) {
    let next = dots.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(set)) continue;
      const { at, condition } = effect.value;
      next = next.update({
        filter: (from) => from !== at,
        add: condition === null ? [] : [new Dot(condition).range(at)],
      });
    }
    return next;
  },
});

/** The change that gives a line a breakpoint, or (null) takes it away; null if there is no such line. */
export function breakpointAt(
  { doc }: EditorState,
  line: number,
  condition: string | null,
): StateEffect<unknown> | null {
  return line >= 1 && line <= doc.lines ? set.of({ at: doc.line(line).from, condition }) : null;
}

/** Whether a transaction sets or removes breakpoints. */
export const changesBreakpoints = (effects: readonly StateEffect<unknown>[]): boolean =>
  effects.some((effect) => effect.is(set));

/** Sets a breakpoint at a line, or removes it. */
export function toggleBreakpoint(view: EditorView, line: number): void {
  const has = breakpointsOf(view.state).some((breakpoint) => breakpoint.line === line);
  const effect = breakpointAt(view.state, line, has ? null : "");
  if (effect !== null) view.dispatch({ effects: effect });
}

/** The breakpoints of a file, from its first line to its last. */
export function breakpointsOf(state: EditorState): LineBreakpoint[] {
  const found: LineBreakpoint[] = [];
  const dots = state.field(field, false);
  for (let at = dots?.iter(); at?.value; at.next()) {
    found.push({ line: state.doc.lineAt(at.from).number, condition: at.value.condition });
  }
  return found;
}

/**
 * The margin with breakpoints and the numbers of lines: a click left of a number sets or removes a breakpoint; on a
 * number, or with the other button, it asks for the menu of the line.
 */
export function breakpointMargin(onMenu: (line: number, event: MouseEvent) => void): Extension {
  const menu = (view: EditorView, { from }: { readonly from: number }, event: Event): boolean => {
    event.preventDefault();
    onMenu(view.state.doc.lineAt(from).number, event as MouseEvent);
    return true;
  };
  return [
    field,
    gutter({
      class: "cm-breakpoints",
      markers: (view) => view.state.field(field),
      initialSpacer: () => new Dot(""),
      domEventHandlers: {
        mousedown(view, { from }, event) {
          if ((event as MouseEvent).button !== 0) return false;
          toggleBreakpoint(view, view.state.doc.lineAt(from).number);
          return true;
        },
        contextmenu: menu,
      },
    }),
    lineNumbers({ domEventHandlers: { click: menu, contextmenu: menu } }),
  ];
}

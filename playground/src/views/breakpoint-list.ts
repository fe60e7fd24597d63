import { fill, h, icon } from "../dom.ts";
import type { BreakpointView } from "../engine/protocol.ts";

/** What the list asks for. */
interface BreakpointEvents {
  readonly onLine: (path: string, line: number) => void;
  /** A condition that has been written; null: the breakpoint is to go. */
  readonly onCondition: (breakpoint: BreakpointView, condition: string | null) => void;
}

const idOf = ({ path, line }: BreakpointView): string => `${path}:${line}`;

/** The breakpoints of all files, with their conditions. */
export class BreakpointList {
  readonly element = h("ul", { class: "breakpoints", "aria-label": "Breakpoints", hidden: true });
  readonly #events: BreakpointEvents;
  readonly #inputs = new Map<string, HTMLInputElement>();

  constructor(events: BreakpointEvents) {
    this.#events = events;
  }

  show(breakpoints: readonly BreakpointView[]): void {
    this.element.hidden = breakpoints.length === 0;
    const ids = breakpoints.map(idOf);
    // What one is writing into stays as it is.
    if (ids.join() === [...this.#inputs.keys()].join()) {
      for (const each of breakpoints) {
        const input = this.#inputs.get(idOf(each))!;
        if (input !== document.activeElement) input.value = each.condition;
      }
      return;
    }
    this.#inputs.clear();
    fill(
      this.element,
      breakpoints.map((each) => this.#item(each)),
    );
  }

  /** Lets the user write the condition of a breakpoint. */
  edit(path: string, line: number): void {
    this.#inputs.get(`${path}:${line}`)?.focus();
  }

  #item(breakpoint: BreakpointView): HTMLElement {
    const { path, line, condition } = breakpoint;
    const { onLine, onCondition } = this.#events;
    const input = h("input", {
      type: "text",
      value: condition,
      placeholder: "always, or: %i == 3",
      "aria-label": `Condition at line ${line} of ${path}`,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      oninput: () => onCondition(breakpoint, input.value),
    });
    this.#inputs.set(idOf(breakpoint), input);
    return h(
      "li",
      {},
      h("span", { class: "cm-breakpoint", "aria-hidden": "true" }),
      h("button", { type: "button", class: "link", onclick: () => onLine(path, line) }, `${path}:${line}`),
      h("span", { class: "faint" }, "if"),
      input,
      h(
        "button",
        {
          type: "button",
          class: "icon-button small",
          "aria-label": `Remove the breakpoint at line ${line}`,
          onclick: () => onCondition(breakpoint, null),
        },
        icon("close"),
      ),
    );
  }
}

import { fill, h, icon } from "../dom.ts";
import type { Example, TourStep } from "./gallery.ts";

/** Hooks of the page. */
interface TourEvents {
  readonly onStep: (step: TourStep) => void;
  /** Another example is to be opened. */
  readonly onExample: (id: string) => void;
}

/** A tour through an example, step by step. */
export class Tour {
  readonly element = h("aside", { class: "tour", "aria-label": "Guided tour", hidden: true });
  readonly #events: TourEvents;
  #steps: readonly TourStep[] = [];
  #at = 0;
  #following: Example | null = null;

  constructor(events: TourEvents) {
    this.#events = events;
  }

  /**
   * Shows a tour from its beginning, or (none) hides it. The first step only speaks: nothing is done yet. The last one
   * leads to `following`.
   */
  show(steps: readonly TourStep[], following: Example | null = null): void {
    this.#steps = steps;
    this.#following = following;
    this.#at = 0;
    this.element.hidden = steps.length === 0;
    if (steps.length > 0) this.#show(false);
  }

  #go(step: number): void {
    if (step < 0 || step >= this.#steps.length) return;
    this.#at = step;
    this.#show(true);
  }

  #show(moves: boolean): void {
    const step = this.#steps[this.#at]!;
    const next = this.#nextButton();
    fill(
      this.element,
      h("p", { class: "tour-text", "aria-live": "polite" }, codeIn(step.text)),
      h(
        "div",
        { class: "tour-bar" },
        h("span", { class: "faint" }, `${this.#at + 1} of ${this.#steps.length}`),
        h(
          "div",
          { class: "tour-dots", "aria-hidden": "true" },
          this.#steps.map((_, i) => h("i", { class: i === this.#at ? "on" : i < this.#at ? "past" : "" })),
        ),
        h(
          "button",
          {
            type: "button",
            disabled: this.#at === 0,
            "aria-label": "Back to the step before",
            onclick: () => this.#go(this.#at - 1),
          },
          icon("back"),
        ),
        next,
        h(
          "button",
          { type: "button", class: "icon-button", "aria-label": "End the tour", onclick: () => this.show([]) },
          icon("close"),
        ),
      ),
    );
    if (moves) next.focus({ preventScroll: true });
    this.#events.onStep(step);
  }

  /** The button that goes on: to the next step, and after the last one to the next example. */
  #nextButton(): HTMLButtonElement {
    const button = (label: string | HTMLElement, act: (() => void) | null): HTMLButtonElement =>
      h("button", { type: "button", class: "primary", disabled: act === null, onclick: act }, label, icon("forward"));
    if (this.#at < this.#steps.length - 1)
      return button(this.#at === 0 ? "Start" : "Next", () => this.#go(this.#at + 1));
    const following = this.#following;
    if (following === null) return button("The end", null);
    const label = h("span", {}, "Next example", h("span", { class: "following" }, `: ${following.title}`));
    return button(label, () => this.#events.onExample(following.id));
  }
}

/** A text in which `code` is in backticks. */
const codeIn = (text: string): (string | HTMLElement)[] =>
  text.split("`").map((part, i) => (i % 2 === 1 ? h("code", {}, part) : part));

import { fill, h, icon } from "../dom.ts";
import type { TourStep } from "./gallery.ts";

/** A tour through an example, step by step. */
export class Tour {
  readonly element = h("aside", { class: "tour", "aria-label": "Guided tour", hidden: true });
  readonly #onStep: (step: TourStep, index: number) => void;
  #steps: readonly TourStep[] = [];
  #at = 0;

  constructor(onStep: (step: TourStep, index: number) => void) {
    this.#onStep = onStep;
  }

  /** Shows a tour from its beginning, or (none) hides it. The first step only speaks: nothing is done yet. */
  show(steps: readonly TourStep[]): void {
    this.#steps = steps;
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
    const last = this.#steps.length - 1;
    const next = h(
      "button",
      { type: "button", class: "primary", disabled: this.#at === last, onclick: () => this.#go(this.#at + 1) },
      this.#at === 0 ? "Start" : "Next",
      icon("forward"),
    );
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
    this.#onStep(step, this.#at);
  }
}

/** A text in which `code` is in backticks. */
const codeIn = (text: string): (string | HTMLElement)[] =>
  text.split("`").map((part, i) => (i % 2 === 1 ? h("code", {}, part) : part));

import { fill, h, icon, type IconName } from "../dom.ts";
import { lanesIn, type WarpHistory } from "./warp-history.ts";

/** What the bar asks for. */
export interface TimeBarEvents {
  readonly onStep: (step: number) => void;
  readonly onContinue: (backward: boolean) => void;
}

/** Goes through time: a slider over the steps of a warp, steps, and to the next or the last breakpoint. */
export class TimeBar {
  readonly element: HTMLElement;
  readonly #slider: HTMLInputElement;
  readonly #text = h("p", { class: "instruction", "aria-live": "off" });
  #history: WarpHistory | null = null;
  #step = 0;

  constructor({ onStep, onContinue }: TimeBarEvents) {
    this.#slider = h("input", {
      type: "range",
      min: 0,
      max: 0,
      value: 0,
      class: "scrub",
      "aria-label": "Step of the warp",
    });
    this.#slider.addEventListener("input", () => onStep(Number(this.#slider.value)));
    const button = (name: IconName, label: string, act: () => void): HTMLButtonElement =>
      h(
        "button",
        { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: act },
        icon(name),
      );
    this.element = h(
      "div",
      { class: "time-bar", hidden: true, role: "group", "aria-label": "Time" },
      h(
        "div",
        { class: "transport" },
        button("first", "To the beginning", () => onStep(0)),
        button("rewind", "Back to the last breakpoint", () => onContinue(true)),
        button("back", "One step back", () => onStep(this.#step - 1)),
        this.#slider,
        button("forward", "One step forward", () => onStep(this.#step + 1)),
        button("wind", "On to the next breakpoint", () => onContinue(false)),
        button("last", "To the end", () => onStep(Infinity)),
      ),
      this.#text,
    );
  }

  show(history: WarpHistory | null): void {
    this.#history = history;
    this.element.hidden = history === null;
    if (history !== null) this.#slider.max = String(history.steps - 1);
  }

  /** Moves to a step. `showText` says what happens there. */
  showStep(step: number): void {
    if (this.#history === null) return;
    this.#step = step;
    this.#slider.value = String(step);
    const { time, line, text, count } = this.#present(this.#history);
    this.#slider.setAttribute("aria-valuetext", `time ${time}, line ${line}: ${text}, ${count} lanes run`);
  }

  /** Says in the page what happens at the step. */
  showText(): void {
    if (this.#history === null) return;
    const { time, line, text, count } = this.#present(this.#history);
    fill(
      this.#text,
      h("span", { class: "time" }, `time ${time}`),
      h("span", { class: "faint" }, `line ${line}`),
      h("code", {}, text),
      h("span", { class: "faint" }, `${count} ${count === 1 ? "lane" : "lanes"}`),
    );
  }

  /** The instruction of the step, and how many lanes execute it. */
  #present(history: WarpHistory): { time: number; line: number; text: string; count: number } {
    const { line, text } = history.siteAt(this.#step);
    const count = lanesIn(history.groupsAt(this.#step).find((g) => g.state === "runs")?.lanes ?? 0).length;
    return { time: history.trace.time[this.#step]!, line, text, count };
  }
}

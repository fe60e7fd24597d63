import { listLanes } from "../../../examples/lane-chart.mjs";
import type { LaneGroupView, TraceSite, WarpTrace } from "../engine/protocol.ts";
import { fill, h, icon } from "../dom.ts";
import { Hues } from "./hues.ts";
import { LanePicture, type PictureLayout } from "./lane-picture.ts";
import { lanesIn, WarpHistory } from "./warp-history.ts";

const states: Readonly<Record<LaneGroupView["state"], string>> = {
  runs: "runs",
  ready: "waits for its turn",
  returned: "has returned, waits for the others",
  waits: "waits at a barrier or for other lanes",
};

/** Pixels left of the lanes and above them. */
const margin = { left: 30, top: 6, bottom: 22 };

/** The fewest steps that are shown at once. */
const closest = 8;

/** Lanes against time: a picture of what a warp did, and the step that one looks at. */
export class LanesView {
  readonly element: HTMLElement;
  readonly #onTime: (time: number, step: number) => void;
  readonly #canvas: HTMLCanvasElement;
  readonly #stage: HTMLElement;
  readonly #cursor = h("div", { class: "cursor", "aria-hidden": "true" });
  readonly #slider: HTMLInputElement;
  readonly #now = h("div", { class: "now" });
  readonly #legend = h("ul", { class: "legend", "aria-label": "Functions and states" });
  readonly #hint = h("p", { class: "empty" }, "Run the kernel to see what its lanes do.");
  readonly #order: HTMLInputElement;
  readonly #content: HTMLElement;
  #history: WarpHistory | null = null;
  #picture: LanePicture | null = null;
  #range = { from: 0, to: 1 };
  #step = 0;

  constructor(onTime: (time: number, step: number) => void) {
    this.#onTime = onTime;
    this.#canvas = h("canvas", { class: "lanes", "aria-hidden": "true" });
    this.#stage = h("div", { class: "stage" }, this.#canvas, this.#cursor);
    this.#slider = h("input", {
      type: "range",
      min: 0,
      max: 0,
      value: 0,
      class: "scrub",
      "aria-label": "Step of the warp",
    });
    this.#slider.addEventListener("input", () => this.#goTo(Number(this.#slider.value)));
    this.#order = h("input", { type: "checkbox", checked: true, onchange: () => this.#rebuild() });
    const button = (name: Parameters<typeof icon>[0], label: string, act: () => void): HTMLButtonElement =>
      h(
        "button",
        { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: act },
        icon(name),
      );
    const controls = h(
      "div",
      { class: "transport", role: "group", "aria-label": "Time" },
      button("first", "To the beginning", () => this.#goTo(0)),
      button("back", "One step back", () => this.#goTo(this.#step - 1)),
      this.#slider,
      button("forward", "One step forward", () => this.#goTo(this.#step + 1)),
      button("last", "To the end", () => this.#goTo(Infinity)),
      button("plus", "Enlarge", () => this.#zoom(0.5)),
      button("minus", "Reduce", () => this.#zoom(2)),
      h("label", { class: "check" }, this.#order, "group lanes by path"),
    );
    this.#content = h("div", { class: "lanes-content", hidden: true }, this.#stage, controls, this.#legend, this.#now);
    this.element = h(
      "section",
      { class: "view lanes-view", "aria-label": "Lanes against time" },
      this.#hint,
      this.#content,
    );
    this.#listen();
  }

  /** Shows what a warp did, or (null) that nothing is known. */
  show(trace: WarpTrace | null, hint = "Run the kernel to see what its lanes do."): void {
    this.#history = trace === null || trace.time.length === 0 ? null : new WarpHistory(trace);
    this.#hint.textContent = hint;
    this.#hint.hidden = this.#history !== null;
    this.#content.hidden = this.#history === null;
    if (this.#history === null) return;
    this.#range = { from: 0, to: Math.max(closest, this.#history.steps) };
    this.#slider.max = String(this.#history.steps - 1);
    this.#step = 0;
    this.#rebuild();
  }

  /** Moves to a time without telling anyone. */
  setTime(time: number): void {
    if (this.#history !== null) this.#showStep(this.#history.stepAt(time));
  }

  /** The instruction of a step; null if there is none. */
  siteAt(step: number): TraceSite | null {
    return this.#history?.siteAt(step) ?? null;
  }

  /** Draws again, in another size or other colours. */
  redraw(): void {
    if (this.#picture === null || this.#stage.clientWidth === 0) return;
    const layout = this.#layout();
    this.#canvas.style.height = `${layout.height}px`;
    this.#picture.draw(this.#canvas, layout);
    this.#placeCursor();
    this.#showLegend();
    this.#showNow();
  }

  #rebuild(): void {
    const history = this.#history!;
    const order = this.#order.checked ? history.byPath : lanesIn(history.trace.lanes);
    this.#picture = new LanePicture(history, new Hues(), order);
    this.#showStep(this.#step);
    this.redraw();
  }

  #layout(): PictureLayout {
    const rows = this.#picture!.order.length;
    const rowHeight = rows <= 8 ? 18 : this.#stage.clientWidth > 1100 ? 13 : 11;
    return {
      width: this.#stage.clientWidth,
      height: margin.top + rows * rowHeight + margin.bottom,
      left: margin.left,
      top: margin.top,
      rowHeight,
      ...this.#range,
    };
  }

  #goTo(step: number): void {
    const history = this.#history;
    if (history === null) return;
    const to = Math.max(0, Math.min(history.steps - 1, Math.round(step)));
    this.#showStep(to);
    this.#onTime(history.trace.time[to]!, to);
  }

  #showStep(step: number): void {
    const history = this.#history!;
    this.#step = step;
    const { from, to } = this.#range;
    if (step < from || step >= to) {
      const width = to - from;
      const start = Math.max(0, Math.min(history.steps - width, step - width / 2));
      this.#range = { from: start, to: start + width };
      this.redraw();
    }
    this.#slider.value = String(step);
    const { line, text } = history.siteAt(step);
    const lanes = history.groupsAt(step).find((g) => g.state === "runs")?.lanes ?? 0;
    const count = lanesIn(lanes).length;
    this.#slider.setAttribute(
      "aria-valuetext",
      `time ${history.trace.time[step]}, line ${line}: ${text}, ${count} lanes run`,
    );
    this.#placeCursor();
    this.#showNow();
  }

  #placeCursor(): void {
    const { from, to } = this.#range;
    const scale = (this.#stage.clientWidth - margin.left) / (to - from);
    this.#cursor.style.transform = `translateX(${margin.left + (this.#step - from) * scale}px)`;
    this.#cursor.style.width = `${Math.max(2, scale)}px`;
  }

  #showLegend(): void {
    const { hues } = this.#picture!;
    const seen = new Set(this.#history!.trace.arrangements.flatMap((groups) => groups.map((g) => g.state)));
    fill(
      this.#legend,
      this.#history!.functions.map((name) =>
        h("li", {}, h("i", { class: "swatch", style: `background:${hues.of(name)}` }), name),
      ),
      (Object.keys(states) as (keyof typeof states)[])
        .filter((state) => seen.has(state))
        .map((state) => h("li", { class: "faint" }, h("i", { class: `swatch state-${state}` }), states[state])),
      this.#history!.marks.length > 0 &&
        h("li", { class: "faint" }, h("b", {}, "≺"), "lanes part ", h("b", {}, "≻"), "and meet"),
    );
  }

  #showNow(): void {
    const history = this.#history!;
    const { hues } = this.#picture ?? {};
    const { line, text } = history.siteAt(this.#step);
    const mark = history.marks.find(({ step }) => step === this.#step);
    fill(
      this.#now,
      h(
        "p",
        { class: "instruction" },
        h("span", { class: "time" }, `time ${history.trace.time[this.#step]}`),
        h("span", { class: "faint" }, `line ${line}`),
        h("code", {}, text),
        mark && h("span", { class: "badge" }, mark.event.kind === "part" ? "lanes have parted" : "lanes have met"),
      ),
      h(
        "ul",
        { class: "groups", "aria-label": "Groups of lanes" },
        history.groupsAt(this.#step).map((group) =>
          h(
            "li",
            {},
            h("i", {
              class: `swatch ${group.state === "runs" ? "" : "pale"}`,
              style: `background:${hues?.of(group.function) ?? ""}`,
            }),
            h("span", { class: "who" }, `lanes ${listLanes(lanesIn(group.lanes))}`),
            h("span", { class: group.state === "runs" ? "runs" : "faint" }, states[group.state]),
            h("span", { class: "stack" }, stackText(group)),
          ),
        ),
      ),
    );
  }

  #zoom(factor: number, at = this.#step): void {
    const history = this.#history;
    if (history === null) return;
    const { from, to } = this.#range;
    const whole = Math.max(closest, history.steps);
    const width = Math.min(whole, Math.max(closest, (to - from) * factor));
    const share = (at - from) / (to - from);
    const start = Math.max(0, Math.min(whole - width, at - share * width));
    this.#range = { from: start, to: start + width };
    this.redraw();
  }

  #stepUnder(event: PointerEvent | WheelEvent): number {
    const { from, to } = this.#range;
    const { left } = this.#stage.getBoundingClientRect();
    const scale = (this.#stage.clientWidth - margin.left) / (to - from);
    return Math.floor(from + (event.clientX - left - margin.left) / scale);
  }

  #listen(): void {
    const stage = this.#stage;
    stage.addEventListener("pointerdown", (event) => {
      stage.setPointerCapture(event.pointerId);
      this.#goTo(this.#stepUnder(event));
    });
    stage.addEventListener("pointermove", (event) => {
      if (stage.hasPointerCapture(event.pointerId)) this.#goTo(this.#stepUnder(event));
    });
    stage.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.#zoom(Math.exp(event.deltaY / 300), this.#stepUnder(event));
      },
      { passive: false },
    );
    new ResizeObserver(() => this.redraw()).observe(stage);
  }
}

const stackText = ({ stack }: LaneGroupView): string =>
  stack.map(({ function: name, line }) => (line > 0 ? `${name}:${line}` : name)).join(" › ");

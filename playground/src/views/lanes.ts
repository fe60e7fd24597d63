import { listLanes } from "../../../examples/lane-chart.mjs";
import { fill, h, icon } from "../dom.ts";
import type { LaneGroupView } from "../engine/protocol.ts";
import { Hues } from "./hues.ts";
import { LanePicture, type PictureLayout } from "./lane-picture.ts";
import { lanesIn, type WarpHistory } from "./warp-history.ts";

const states: Readonly<Record<LaneGroupView["state"], string>> = {
  runs: "runs",
  ready: "waits for its turn",
  returned: "has returned, waits for the others",
  waits: "waits at a barrier or for other lanes",
};

/** Pixels left of the lanes, above them and below. */
const margin = { left: 30, top: 6, bottom: 22 };

/** The fewest steps that are shown at once. */
const closest = 8;

/** Hooks of the page. */
interface LanesEvents {
  /** A step that was chosen, and the lane, if one was. */
  readonly onStep: (step: number, lane: number | null) => void;
  /** Another warp is to be shown. */
  readonly onWarp: (block: number, warp: number) => void;
}

/** Lanes against time: a picture of what a warp did, and who is where at the step that one looks at. */
export class LanesView {
  readonly element: HTMLElement;
  readonly #events: LanesEvents;
  readonly #canvas = h("canvas", { class: "lanes", "aria-hidden": "true" });
  readonly #cursor = h("div", { class: "cursor", "aria-hidden": "true" });
  readonly #stage = h("div", { class: "stage" }, this.#canvas, this.#cursor);
  readonly #now = h("div", { class: "now" });
  readonly #legend = h("ul", { class: "legend", "aria-label": "Functions and states" });
  readonly #hint = h("p", { class: "empty" });
  readonly #which = h("div", { class: "which" });
  readonly #order = h("input", { type: "checkbox", checked: true, onchange: () => this.#rebuild() });
  readonly #content: HTMLElement;
  readonly #hues = new Hues();
  #history: WarpHistory | null = null;
  #picture: LanePicture | null = null;
  #range = { from: 0, to: 1 };
  /** The room for the picture, in pixels: asked for when it may have changed, as the answer costs a layout. */
  #room = { width: 0, height: 0 };
  #step = 0;
  /** The groups and the mark that are described below the picture. */
  #described: readonly unknown[] = [];

  constructor(events: LanesEvents) {
    this.#events = events;
    const button = (name: Parameters<typeof icon>[0], label: string, act: () => void): HTMLButtonElement =>
      h(
        "button",
        { type: "button", class: "icon-button small", "aria-label": label, title: label, onclick: act },
        icon(name),
      );
    const tools = h(
      "div",
      { class: "lane-tools", role: "group", "aria-label": "Picture" },
      this.#which,
      h("label", { class: "check" }, this.#order, "group by path"),
      h(
        "div",
        { class: "zoom" },
        button("minus", "Show more time", () => this.#zoom(2)),
        button("plus", "Enlarge", () => this.#zoom(0.5)),
      ),
    );
    this.#content = h("div", { class: "lanes-content", hidden: true }, tools, this.#stage, this.#legend, this.#now);
    this.element = h("div", { class: "lanes-view" }, this.#hint, this.#content);
    this.#listen();
  }

  /** Shows what a warp did, or (null) why nothing is known. */
  show(history: WarpHistory | null, hint: string): void {
    this.#history = history;
    this.#hint.textContent = hint;
    this.#hint.hidden = history !== null;
    this.#content.hidden = history === null;
    if (history === null) return;
    this.#range = { from: 0, to: Math.max(closest, history.steps) };
    this.#step = 0;
    this.#showWhich(history);
    this.#rebuild();
  }

  /** Moves to a step. */
  showStep(step: number): void {
    if (this.#history === null) return;
    this.#step = step;
    const { from, to } = this.#range;
    if (step < from || step >= to) {
      const width = to - from;
      const start = Math.max(0, Math.min(this.#history.steps - width, step - width / 2));
      this.#range = { from: start, to: start + width };
      this.#draw();
      return;
    }
    this.#placeCursor();
    this.#showNow();
  }

  /** Draws again, in another size or other colours. */
  redraw(): void {
    if (this.#picture === null) return;
    // As high as the page allows, with room for what is below.
    const height = (this.element.closest(".panels")?.clientHeight ?? 0) - 260;
    this.#room = { width: this.#stage.clientWidth, height };
    this.#draw();
  }

  #draw(): void {
    if (this.#picture === null || this.#room.width === 0) return;
    const layout = this.#layout();
    this.#canvas.style.height = `${layout.height}px`;
    this.#picture.draw(this.#canvas, layout);
    this.#placeCursor();
    this.#showLegend();
    this.#described = [];
    this.#showNow();
  }

  #rebuild(): void {
    const history = this.#history!;
    const order = this.#order.checked ? history.byPath : lanesIn(history.trace.lanes);
    this.#picture = new LanePicture(history, this.#hues, order);
    this.redraw();
  }

  #showWhich({ trace: { block, warp, blocks, warps } }: WarpHistory): void {
    const input = (label: string, value: number, count: number, go: (n: number) => void): HTMLElement =>
      h(
        "label",
        { class: "check" },
        label,
        h("input", {
          type: "number",
          min: 0,
          max: count - 1,
          value,
          onchange: (e: Event) =>
            go(Math.max(0, Math.min(count - 1, Math.floor(Number((e.target as HTMLInputElement).value))))),
        }),
        h("span", { class: "faint" }, `of ${count}`),
      );
    fill(
      this.#which,
      blocks > 1 && input("block", block, blocks, (n) => this.#events.onWarp(n, warp)),
      warps > 1 && input("warp", warp, warps, (n) => this.#events.onWarp(block, n)),
      blocks === 1 && warps === 1 && h("span", { class: "faint" }, "one warp"),
    );
  }

  #layout(): PictureLayout {
    const rows = this.#picture!.order.length;
    const { width, height } = this.#room;
    const rowHeight = Math.max(11, Math.min(28, Math.floor(height / rows)));
    return {
      width,
      height: margin.top + rows * rowHeight + margin.bottom,
      left: margin.left,
      top: margin.top,
      rowHeight,
      ...this.#range,
    };
  }

  #placeCursor(): void {
    const { from, to } = this.#range;
    const scale = (this.#room.width - margin.left) / (to - from);
    this.#cursor.style.transform = `translateX(${margin.left + (this.#step - from) * scale}px)`;
    this.#cursor.style.width = `${Math.max(2, scale)}px`;
  }

  #showLegend(): void {
    const history = this.#history!;
    const seen = new Set(history.trace.arrangements.flatMap((groups) => groups.map((g) => g.state)));
    fill(
      this.#legend,
      history.functions.map((name) =>
        h("li", {}, h("i", { class: "swatch", style: `background:${this.#hues.of(name)}` }), name),
      ),
      (Object.keys(states) as (keyof typeof states)[])
        .filter((state) => seen.has(state))
        .map((state) => h("li", { class: "faint" }, h("i", { class: `swatch state-${state}` }), states[state])),
      history.marks.length > 0 && h("li", { class: "faint" }, h("b", {}, "≺ "), "part", h("b", {}, "  ≻ "), "meet"),
    );
  }

  #showNow(): void {
    const history = this.#history!;
    const mark = history.markAt(this.#step);
    const groups = history.groupsAt(this.#step);
    // Most steps move nobody.
    if (this.#described[0] === groups && this.#described[1] === mark) return;
    this.#described = [groups, mark];
    fill(
      this.#now,
      h(
        "ul",
        { class: "groups", "aria-label": "Groups of lanes" },
        groups.map((group) =>
          h(
            "li",
            {},
            h("i", {
              class: `swatch ${group.state === "runs" ? "" : "pale"}`,
              style: `background:${this.#hues.of(group.function)}`,
            }),
            h("span", { class: "who" }, `lanes ${listLanes(lanesIn(group.lanes))}`),
            h("span", { class: group.state === "runs" ? "runs" : "faint" }, states[group.state]),
            h("span", { class: "stack" }, stackText(group)),
          ),
        ),
        mark !== undefined &&
          h(
            "li",
            {},
            h("span", { class: "badge" }, mark.event.kind === "part" ? "lanes have parted" : "lanes have met"),
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
    const share = Math.max(0, Math.min(1, (at - from) / (to - from)));
    const start = Math.max(0, Math.min(whole - width, at - share * width));
    this.#range = { from: start, to: start + width };
    this.#draw();
  }

  #stepUnder(event: MouseEvent): number {
    const { from, to } = this.#range;
    const { left } = this.#stage.getBoundingClientRect();
    const scale = (this.#room.width - margin.left) / (to - from);
    return Math.floor(from + (event.clientX - left - margin.left) / scale);
  }

  #laneUnder(event: MouseEvent): number | null {
    const { top } = this.#stage.getBoundingClientRect();
    const { rowHeight } = this.#layout();
    return this.#picture!.order[Math.floor((event.clientY - top - margin.top) / rowHeight)] ?? null;
  }

  #listen(): void {
    const stage = this.#stage;
    stage.addEventListener("pointerdown", (event) => {
      stage.setPointerCapture(event.pointerId);
      this.#events.onStep(this.#stepUnder(event), this.#laneUnder(event));
    });
    stage.addEventListener("pointermove", (event) => {
      if (stage.hasPointerCapture(event.pointerId)) this.#events.onStep(this.#stepUnder(event), null);
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

import { fill, h } from "../dom.ts";
import type { MachineView, RegisterRow } from "../engine/protocol.ts";
import { lanesIn } from "./warp-history.ts";

/** Registers of all lanes as a table: a row for each register, the present lane and what has changed marked. */
export class RegistersView {
  readonly element = h("div", { class: "registers" });
  readonly #onLane: (lane: number) => void;
  readonly #onLastWrite: (register: string) => void;

  constructor(onLane: (lane: number) => void, onLastWrite: (register: string) => void) {
    this.#onLane = onLane;
    this.#onLastWrite = onLastWrite;
  }

  show(view: MachineView | null, running: number): void {
    if (view === null || view.registers.length === 0) {
      fill(
        this.element,
        view !== null && h("p", { class: "faint" }, `Lane ${view.lane} ${view.why ?? "has no registers"}.`),
      );
      return;
    }
    const lanes = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) =>
      view.registers.some(({ values }) => values[lane] !== ""),
    );
    const rows = [
      ...view.registers.filter((r) => r.live || r.changed !== 0),
      ...view.registers.filter((r) => !r.live && r.changed === 0),
    ];
    fill(
      this.element,
      h(
        "p",
        { class: "caption" },
        h("strong", {}, "Registers"),
        h(
          "span",
          { class: "faint" },
          `lane ${view.lane}: ${view.stack.map((f) => `${f.function}:${f.at.line}`).join(" ‹ ")}`,
        ),
        view.why !== null && h("span", { class: "faint" }, view.why),
        view.reason !== null && h("span", { class: "badge" }, view.reason),
      ),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Registers of all lanes" },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col", class: "corner" }, "lane"),
              lanes.map((lane) => this.#head(lane, view.lane, running)),
            ),
          ),
          h(
            "tbody",
            {},
            rows.map((row) => this.#row(row, lanes, view.lane)),
          ),
        ),
      ),
    );
  }

  #head(lane: number, focus: number, running: number): HTMLElement {
    const runs = lanesIn(running).includes(lane);
    return h(
      "th",
      { scope: "col", class: `${lane === focus ? "focus" : ""} ${runs ? "" : "idle"}` },
      h(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-label": `Lane ${lane}`,
          "aria-pressed": String(lane === focus),
          onclick: () => this.#onLane(lane),
        },
        lane,
      ),
    );
  }

  #row({ name, type, live, values, changed }: RegisterRow, lanes: readonly number[], focus: number): HTMLElement {
    return h(
      "tr",
      { class: live ? null : "dead" },
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          {
            type: "button",
            class: "plain",
            title: `Back to where ${name} of lane ${focus} was last written`,
            "aria-label": `${name}, ${type}: back to where it was last written`,
            onclick: () => this.#onLastWrite(name),
          },
          name,
          h("span", { class: "faint" }, ` ${type}`),
        ),
      ),
      lanes.map((lane) =>
        h(
          "td",
          { class: `${(changed >>> lane) & 1 ? "changed" : ""} ${lane === focus ? "focus" : ""}` },
          short(values[lane] ?? ""),
        ),
      ),
    );
  }
}

/** Large numbers in one form only, so that a table is not wider than it has to be. */
const short = (text: string): string => /\((0x[0-9a-f]+)\)$/.exec(text)?.[1]?.replace(/^0x0+(?=.)/, "0x") ?? text;

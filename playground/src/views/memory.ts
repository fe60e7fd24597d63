import { fill, h } from "../dom.ts";
import type { MemoryAccess, MemoryMap } from "../engine/protocol.ts";

/** Elements that a map shows at once. */
const perPage = 512;

/** What the map asks for. */
interface MemoryEvents {
  readonly onLook: (region: string | null, first: number, count: number) => void;
  /** To the time at which somebody wrote. */
  readonly onTime: (access: MemoryAccess) => void;
}

/** Memory as a map: each element in the colour of the lane that wrote it last. */
export class MemoryView {
  readonly element: HTMLElement;
  readonly #events: MemoryEvents;
  readonly #regions = h("select", { "aria-label": "Memory", onchange: () => this.#look(0) });
  readonly #pages = h("div", { class: "pages" });
  readonly #cells = h("div", { class: "cells", role: "grid", "aria-label": "Elements", tabindex: -1 });
  readonly #detail = h("p", { class: "faint detail", role: "status" });
  readonly #hint = h("p", { class: "empty" }, "Run the kernel to see its memory.");
  readonly #content: HTMLElement;
  #region: string | null = null;
  #first = 0;

  constructor(events: MemoryEvents) {
    this.#events = events;
    this.#content = h(
      "div",
      { hidden: true },
      h("div", { class: "memory-bar" }, this.#regions, this.#pages),
      this.#cells,
      this.#detail,
      h(
        "ul",
        { class: "legend" },
        h("li", {}, h("i", { class: "swatch unwritten" }), "not written yet"),
        h("li", {}, h("i", { class: "swatch spectrum" }), "written: the colour is the lane, 0 to 31"),
        h("li", {}, h("i", { class: "swatch reads" }), "read now"),
        h("li", {}, h("i", { class: "swatch writes" }), "written now"),
      ),
    );
    this.element = h("div", { class: "memory-view" }, this.#hint, this.#content);
  }

  /** What is to be looked at. */
  get wanted(): { region: string | null; first: number; count: number } {
    return { region: this.#region, first: this.#first, count: perPage };
  }

  clear(): void {
    this.#hint.hidden = false;
    this.#content.hidden = true;
    this.#first = 0;
  }

  show(map: MemoryMap): void {
    this.#hint.hidden = true;
    this.#content.hidden = false;
    this.#region = map.region;
    this.#first = map.first;
    fill(
      this.#regions,
      map.regions.map(({ id, label, type, elements }) =>
        h("option", { value: id, selected: id === map.region }, `${label}: ${type}[${elements}]`),
      ),
    );
    const { elements = 0 } = map.regions.find(({ id }) => id === map.region) ?? {};
    fill(
      this.#pages,
      elements > perPage && [
        h(
          "button",
          { type: "button", disabled: map.first === 0, onclick: () => this.#look(map.first - perPage) },
          "Before",
        ),
        h("span", { class: "faint" }, `${map.first} to ${map.first + map.values.length - 1}`),
        h(
          "button",
          { type: "button", disabled: map.first + perPage >= elements, onclick: () => this.#look(map.first + perPage) },
          "After",
        ),
      ],
    );
    const columns = map.values.length > 64 ? 16 : 8;
    this.#cells.style.setProperty("--columns", String(columns));
    fill(this.#cells, this.#rows(map, columns));
    this.#detail.textContent = map.isCut ? "There were more accesses than are kept; the last ones are missing." : "";
  }

  #rows(map: MemoryMap, columns: number): HTMLElement[] {
    return Array.from({ length: Math.ceil(map.values.length / columns) }, (_, row) =>
      h(
        "div",
        { role: "row", class: "cell-row" },
        h("span", { role: "rowheader", class: "faint" }, map.first + row * columns),
        map.values.slice(row * columns, (row + 1) * columns).map((value, column) => {
          const i = row * columns + column;
          return this.#cell(map.first + i, value, map.writers[i] ?? null, map.now[i] ?? null);
        }),
      ),
    );
  }

  #cell(index: number, value: string, writer: MemoryAccess | null, now: MemoryAccess | null): HTMLElement {
    const story = [
      `element ${index}: ${value || "not readable"}`,
      writer === null ? "not written by the kernel" : `written at ${describe(writer)}`,
      now === null ? "" : `${now.effect === "load" ? "read" : "written"} now by lane ${now.lane}`,
    ].filter((part) => part !== "");
    const kind = now === null ? "" : now.effect === "load" ? "reads" : "writes";
    return h(
      "button",
      {
        type: "button",
        role: "gridcell",
        class: `cell ${kind} ${writer === null ? "unwritten" : ""}`,
        style: writer === null ? null : `--lane:${writer.lane};--warp:${writer.warp + 2 * writer.block}`,
        title: story.join("; "),
        "aria-label": story.join("; "),
        tabindex: index === this.#first ? 0 : -1,
        onclick: () => {
          this.#detail.textContent = story.join("; ");
          if (writer !== null) this.#events.onTime(writer);
        },
        onkeydown: (e: KeyboardEvent) => this.#key(e),
      },
      value.replace(/ \(.*\)$/, ""),
    );
  }

  #key(event: KeyboardEvent): void {
    const cells = [...this.#cells.querySelectorAll<HTMLElement>(".cell")];
    const columns = Number(this.#cells.style.getPropertyValue("--columns"));
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    cells[cells.indexOf(event.target as HTMLElement) + step]?.focus();
  }

  #look(first: number): void {
    this.#region = this.#regions.value;
    this.#first = Math.max(0, first);
    this.#events.onLook(this.#region, this.#first, perPage);
  }
}

const describe = ({ time, lane, warp, block, line }: MemoryAccess): string =>
  `time ${time}, line ${line}, by lane ${lane} of warp ${warp} of block ${block}`;

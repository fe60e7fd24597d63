import { fill, h } from "../dom.ts";
import type { MachineView, RegisterRow } from "../engine/protocol.ts";

/** The row of a register in the table. */
interface Row {
  readonly element: HTMLTableRowElement;
  readonly cells: readonly HTMLTableCellElement[];
  /** What the cells say. */
  readonly texts: readonly Text[];
  /** Whether it is in view, or not known yet to be out of it. */
  isSeen: boolean;
}

/** Milliseconds without a change after which rows that are out of view are brought up to date. */
const rest = 150;

/**
 * Registers of all lanes as a table: a row for each register, the present lane and what has changed marked. While time
 * goes by, only the cells that differ are changed, and only in rows that are in view.
 */
export class RegistersView {
  readonly element = h("div", { class: "registers" });
  readonly #onLane: (lane: number) => void;
  readonly #onLastWrite: (register: string) => void;
  readonly #caption = h("p", { class: "caption" });
  readonly #body = h("tbody");
  readonly #head = h("tr");
  readonly #table: HTMLElement;
  /** The lanes and registers that the table has. */
  #shape = "";
  #heads: readonly HTMLTableCellElement[] = [];
  #rows = new Map<string, Row>();
  #view: MachineView | null = null;
  #lanes: readonly number[] = [];
  #timer = 0;
  readonly #inView: IntersectionObserver;

  constructor(onLane: (lane: number) => void, onLastWrite: (register: string) => void) {
    this.#onLane = onLane;
    this.#onLastWrite = onLastWrite;
    this.#table = h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Registers of all lanes" },
      h("table", {}, h("thead", {}, this.#head), this.#body),
    );
    this.#inView = new IntersectionObserver((entries) => this.#see(entries));
  }

  show(view: MachineView | null, running: number): void {
    clearTimeout(this.#timer);
    this.#view = view;
    if (view === null || view.registers.length === 0) {
      this.#shape = "";
      fill(
        this.element,
        view !== null && h("p", { class: "faint" }, `Lane ${view.lane} ${view.why ?? "has no registers"}.`),
      );
      return;
    }
    const lanes = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) =>
      view.registers.some(({ values }) => values[lane] !== ""),
    );
    const shape = `${lanes.join()} ${view.registers.map(({ name, type }) => `${name} ${type}`).join()}`;
    if (shape !== this.#shape) this.#build(view.registers, lanes);
    this.#shape = shape;
    this.#lanes = lanes;
    this.#showCaption(view);
    lanes.forEach((lane, i) => {
      const head = this.#heads[i]!;
      setClass(head, `${lane === view.lane ? "focus" : ""} ${(running >>> lane) & 1 ? "" : "idle"}`);
      head.firstElementChild!.setAttribute("aria-pressed", String(lane === view.lane));
    });
    this.#arrange(view.registers);
    this.#showRows(({ isSeen }) => isSeen);
    this.#timer = window.setTimeout(() => this.#showRows(({ isSeen }) => !isSeen), rest);
  }

  /** Brings some rows up to date. */
  #showRows(which: (row: Row) => boolean): void {
    for (const register of this.#view?.registers ?? []) {
      const row = this.#rows.get(register.name)!;
      if (which(row)) this.#showRow(register, row);
    }
  }

  /** Learns which rows have come into view, or gone. */
  #see(entries: readonly IntersectionObserverEntry[]): void {
    const seen = new Map(entries.map(({ target, isIntersecting }) => [target, isIntersecting]));
    this.#showRows((row) => {
      const isSeen = seen.get(row.element);
      row.isSeen = isSeen ?? row.isSeen;
      return isSeen === true;
    });
  }

  #showCaption({ lane, stack, why, reason }: MachineView): void {
    fill(
      this.#caption,
      h("strong", {}, "Registers"),
      h("span", { class: "faint" }, `lane ${lane}: ${stack.map((f) => `${f.function}:${f.at.line}`).join(" ‹ ")}`),
      why !== null && h("span", { class: "faint" }, why),
      reason !== null && h("span", { class: "badge" }, reason),
    );
  }

  /** Registers whose values may still be read come first. */
  #arrange(registers: readonly RegisterRow[]): void {
    const isLive = ({ live, changed }: RegisterRow): boolean => live || changed !== 0;
    const wanted = [...registers.filter(isLive), ...registers.filter((r) => !isLive(r))];
    wanted.forEach(({ name }, i) => {
      const { element } = this.#rows.get(name)!;
      if (this.#body.children[i] !== element) this.#body.insertBefore(element, this.#body.children[i] ?? null);
    });
  }

  #showRow({ live, values, changed }: RegisterRow, { element, cells, texts }: Row): void {
    setClass(element, live ? "" : "dead");
    this.#lanes.forEach((lane, i) => {
      const text = short(values[lane] ?? "");
      if (texts[i]!.data !== text) texts[i]!.data = text;
      setClass(cells[i]!, `${(changed >>> lane) & 1 ? "changed" : ""} ${lane === this.#view?.lane ? "focus" : ""}`);
    });
  }

  #build(registers: readonly RegisterRow[], lanes: readonly number[]): void {
    this.#heads = lanes.map((lane) =>
      h(
        "th",
        { scope: "col" },
        h(
          "button",
          { type: "button", class: "plain", "aria-label": `Lane ${lane}`, onclick: () => this.#onLane(lane) },
          lane,
        ),
      ),
    );
    fill(this.#head, h("th", { scope: "col", class: "corner" }, "lane"), this.#heads);
    this.#inView.disconnect();
    this.#rows = new Map(registers.map((register) => [register.name, this.#row(register, lanes)]));
    for (const { element } of this.#rows.values()) this.#inView.observe(element);
    fill(this.#body);
    if (this.#table.parentElement !== this.element) fill(this.element, this.#caption, this.#table);
  }

  #row({ name, type }: RegisterRow, lanes: readonly number[]): Row {
    const texts = lanes.map(() => new Text());
    const cells = texts.map((text) => h("td", {}, text));
    const back = h(
      "button",
      {
        type: "button",
        class: "plain",
        title: `Back to where ${name} of the lane was last written`,
        "aria-label": `${name}, ${type}: back to where it was last written`,
        onclick: () => this.#onLastWrite(name),
      },
      name,
      h("span", { class: "faint" }, ` ${type}`),
    );
    return { element: h("tr", {}, h("th", { scope: "row" }, back), cells), cells, texts, isSeen: true };
  }
}

function setClass(element: HTMLElement, name: string): void {
  const wanted = name.trim();
  if (element.className !== wanted) element.className = wanted;
}

/** Large numbers in one form only, so that a table is not wider than it has to be. */
const short = (text: string): string => /\((0x[0-9a-f]+)\)$/.exec(text)?.[1]?.replace(/^0x0+(?=.)/, "0x") ?? text;

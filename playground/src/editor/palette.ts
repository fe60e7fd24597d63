import { fill, h } from "../dom.ts";

/** Something that one can go to. */
export interface PaletteItem {
  readonly label: string;
  /** In front of the label, pale: where it is, or what it is. */
  readonly place: string;
  readonly go: () => void;
}

/** A list of places over the page: what one types narrows it, arrows and Enter choose. */
export class Palette {
  readonly element: HTMLDialogElement;
  readonly #title = h("h2", { id: "palette-title" });
  readonly #filter = h("input", { type: "search", "aria-label": "Narrow the list", autocomplete: "off" });
  readonly #list = h("ul", {});
  #items: readonly PaletteItem[] = [];

  constructor() {
    this.element = h(
      "dialog",
      {
        class: "palette",
        "aria-labelledby": "palette-title",
        onclick: (e: Event) => e.target === this.element && this.element.close(),
        onkeydown: (e: KeyboardEvent) => this.#key(e),
      },
      this.#title,
      this.#filter,
      this.#list,
    );
    this.#filter.addEventListener("input", () => this.#show());
  }

  show(title: string, items: readonly PaletteItem[]): void {
    this.#title.textContent = title;
    this.#items = items;
    this.#filter.value = "";
    this.#show();
    this.element.showModal();
    this.#filter.focus();
  }

  #show(): void {
    const words = this.#filter.value.toLowerCase().split(/\s+/);
    const fits = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
    // A name that fits comes before a place that does.
    const found = this.#items.filter(({ label, place }) => fits(`${place} ${label}`));
    const sorted = [...found.filter(({ label }) => fits(label)), ...found.filter(({ label }) => !fits(label))];
    fill(
      this.#list,
      sorted.slice(0, 500).map(({ label, place, go }) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "plain",
              onclick: () => {
                this.element.close();
                go();
              },
            },
            h("span", { class: "faint" }, place),
            h("code", {}, label),
          ),
        ),
      ),
    );
  }

  #key(event: KeyboardEvent): void {
    const items = [...this.#list.querySelectorAll<HTMLElement>("button")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Enter" && at < 0) {
      event.preventDefault();
      items[0]?.click();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    (items[at + step] ?? this.#filter).focus();
  }
}

import { fill, h } from "../dom.ts";

/** What may be done at a line, by what the menu calls it. */
export type LineActions = Readonly<Record<string, () => void>>;

/** The menu of a line of the source. */
export class LineMenu {
  readonly element = h("div", { class: "line-menu", role: "menu", popover: "auto" });

  constructor() {
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows the menu at a place of the page. */
  show({ clientX, clientY }: MouseEvent, label: string, actions: LineActions): void {
    this.element.setAttribute("aria-label", label);
    fill(
      this.element,
      Object.entries(actions).map(([name, act]) =>
        h(
          "button",
          {
            type: "button",
            role: "menuitem",
            onclick: () => {
              this.element.hidePopover();
              act();
            },
          },
          name,
        ),
      ),
    );
    // Once the click that asked for it is over, which would close it again.
    setTimeout(() => {
      this.element.showPopover();
      const { width, height } = this.element.getBoundingClientRect();
      this.element.style.left = `${Math.max(4, Math.min(clientX + 6, innerWidth - width - 4))}px`;
      this.element.style.top = `${Math.max(4, Math.min(clientY, innerHeight - height - 4))}px`;
      this.#items[0]?.focus();
    });
  }

  get #items(): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>("button")];
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const items = this.#items;
    items[(items.indexOf(document.activeElement as HTMLElement) + step + items.length) % items.length]?.focus();
  }
}

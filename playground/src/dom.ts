type Child = Node | string | number | null | undefined | false;
type Attributes = Readonly<Record<string, unknown>>;

/**
 * Makes an element. Attributes whose names begin with `on` are listeners; `true` sets an attribute without a value,
 * and null, undefined and false leave it out.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly (Child | readonly Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value as EventListener);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Appends children; those that are missing are left out. */
function append(to: Element, children: readonly (Child | readonly Child[])[]): void {
  for (const child of children.flat() as readonly Child[]) {
    if (child !== null && child !== undefined && child !== false)
      to.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces all children. */
export function fill(element: Element, ...children: readonly (Child | readonly Child[])[]): void {
  element.replaceChildren();
  append(element, children);
}

const paths = {
  run: "M7 5v14l12-7z",
  stop: "M6 6h12v12H6z",
  shield: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z",
  back: "M15 6l-6 6 6 6",
  forward: "M9 6l6 6-6 6",
  first: "M18 6l-6 6 6 6M7 6v12",
  last: "M6 6l6 6-6 6M17 6v12",
  rewind: "M11 6l-7 6 7 6zM20 6l-7 6 7 6z",
  wind: "M13 6l7 6-7 6zM4 6l7 6-7 6z",
  share: "M14 5l6 6-6 6M20 11h-8c-5 0-8 3-8 8",
  sun: "M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M19 5l-1.5 1.5M6.5 17.5L5 19",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  open: "M12 16V4M7 9l5-5 5 5M4 16v4h16v-4",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  flame: "M12 3c1 4 5 6 5 11a5 5 0 01-10 0c0-2 1-3 2-4 0 2 1 3 2 3 1-3-1-6 1-10z",
  routes: "M5 4v5c0 4 14 3 14 8v3M19 4v5c0 4-14 3-14 8v3",
} as const;

export type IconName = keyof typeof paths;

/** A picture of 24 by 24 units, which screen readers pass over. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `icon icon-${name}`);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

/** Scrolls to an element of which little is seen: on narrow screens the panels are below each other. */
export function reveal(element: Element): void {
  const { top, bottom } = element.getBoundingClientRect();
  if (top < innerHeight * 0.55 && bottom > innerHeight * 0.45) return;
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  element.scrollIntoView({ behavior, block: "start" });
}

/** Lets the browser do what has come up meanwhile: long work is done in steps, so that the page answers in between. */
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly panel: HTMLElement;
}

/** Tabs over panels of which one is shown: arrow keys go from tab to tab. */
export class Tabs {
  readonly list: HTMLElement;
  readonly #tabs = new Map<string, { readonly tab: HTMLButtonElement; readonly panel: HTMLElement }>();
  readonly #onShow: (id: string) => void;
  #shown = "";

  constructor(label: string, tabs: readonly Tab[], onShow: (id: string) => void = () => {}) {
    this.#onShow = onShow;
    this.list = h("div", {
      role: "tablist",
      "aria-label": label,
      class: "tabs",
      onkeydown: (e: KeyboardEvent) => this.#key(e),
    });
    for (const { id, label: text, panel } of tabs) {
      const tab = h(
        "button",
        { role: "tab", type: "button", id: `tab-${id}`, "aria-controls": `panel-${id}`, onclick: () => this.show(id) },
        text,
      );
      panel.id = `panel-${id}`;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `tab-${id}`);
      this.#tabs.set(id, { tab, panel });
      this.list.append(tab);
    }
    const [first] = tabs;
    if (first !== undefined) this.#select(first.id);
  }

  get shown(): string {
    return this.#shown;
  }

  show(id: string): void {
    if (!this.#tabs.has(id)) return;
    this.#select(id);
    this.#onShow(id);
  }

  get panels(): readonly HTMLElement[] {
    return [...this.#tabs.values()].map(({ panel }) => panel);
  }

  /** Changes what a tab is called: `count` follows its label. */
  count(id: string, count: number | null): void {
    const { tab } = this.#tabs.get(id)!;
    tab.querySelector(".count")?.remove();
    if (count !== null) tab.append(h("span", { class: "count" }, count));
  }

  #select(id: string): void {
    this.#shown = id;
    for (const [name, { tab, panel }] of this.#tabs) {
      tab.setAttribute("aria-selected", String(name === id));
      tab.tabIndex = name === id ? 0 : -1;
      panel.hidden = name !== id;
    }
  }

  #key(event: KeyboardEvent): void {
    const ids = [...this.#tabs.keys()];
    const at = ids.indexOf(this.#shown);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const id = ids[(to + ids.length) % ids.length]!;
    this.show(id);
    this.#tabs.get(id)!.tab.focus();
  }
}

import { h, type IconName, icon } from "./dom.ts";

/** What the bar asks for. */
interface ToolbarEvents {
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly onExamples: () => void;
  readonly onOpen: () => void;
  readonly onShare: () => void;
  readonly onTheme: () => void;
}

/** The bar at the top of the page: how the program is run, and what else can be opened. */
export class Toolbar {
  readonly element: HTMLElement;
  readonly #title = h("span", { class: "title" });
  readonly #run: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #sanitize = h("input", { type: "checkbox" });
  readonly #engine = h(
    "select",
    {
      "aria-label": "Engine",
      title:
        "The compiler is fast, the interpreter is the reference; both: runs the kernel twice and compares the results",
    },
    h("option", { value: "both" }, "both engines"),
    h("option", { value: "jit" }, "compiled"),
    h("option", { value: "interpreter" }, "interpreter"),
  );

  constructor(events: ToolbarEvents) {
    this.#run = button("run", "Run", events.onRun, "primary");
    this.#stop = button("stop", "Stop", events.onStop, "stop");
    this.#stop.hidden = true;
    this.element = h(
      "header",
      { class: "bar" },
      h(
        "a",
        { class: "brand", href: "./" },
        // The icon is in the page from the beginning.
        document.querySelector(".brand svg")?.cloneNode(true),
        h("h1", {}, "Lanewise"),
      ),
      h(
        "div",
        { class: "actions" },
        this.#run,
        this.#stop,
        this.#engine,
        h(
          "label",
          { class: "check", title: "Look for undefined behaviour while the kernel runs" },
          this.#sanitize,
          "sanitize",
        ),
      ),
      h(
        "div",
        { class: "actions right" },
        this.#title,
        button("grid", "Examples", events.onExamples),
        button("open", "Open", events.onOpen),
        button("share", "Share", events.onShare),
        h(
          "button",
          { type: "button", class: "icon-button", "aria-label": "Light or dark", onclick: events.onTheme },
          icon("sun"),
        ),
      ),
    );
  }

  /** The engines that are chosen. */
  get engines(): readonly ("jit" | "interpreter")[] {
    const { value } = this.#engine;
    return value === "both" ? ["jit", "interpreter"] : [value as "jit" | "interpreter"];
  }

  get sanitize(): boolean {
    return this.#sanitize.checked;
  }

  set sanitize(wanted: boolean) {
    this.#sanitize.checked = wanted;
  }

  /** Whether something runs, which can be stopped. */
  get isBusy(): boolean {
    return this.#run.disabled;
  }

  set isBusy(busy: boolean) {
    this.#run.disabled = busy;
    this.#stop.hidden = !busy;
  }

  set title(title: string) {
    this.#title.textContent = title;
  }
}

const button = (name: IconName, label: string, act: () => void, kind = ""): HTMLButtonElement =>
  h("button", { type: "button", class: kind, onclick: act }, icon(name), h("span", { class: "button-label" }, label));

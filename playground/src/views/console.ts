import { h } from "../dom.ts";

/** The debugger's commands, as in the terminal. */
export class ConsoleView {
  readonly element: HTMLElement;
  readonly #log = h("pre", { class: "console-log", tabindex: 0, role: "log", "aria-label": "Answers of the debugger" });
  readonly #input = h("input", {
    type: "text",
    class: "console-input",
    "aria-label": "Command of the debugger",
    placeholder: "help, info lanes, print %r1, last-write %r1, watch …",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
  });
  readonly #history: string[] = [];
  #at = 0;

  constructor(run: (line: string) => Promise<string>) {
    this.begin(false);
    const form = h(
      "form",
      {
        class: "console-form",
        onsubmit: (event: Event) => {
          event.preventDefault();
          void this.#run(run);
        },
      },
      h("span", { class: "faint", "aria-hidden": "true" }, "(lanewise)"),
      this.#input,
    );
    this.#input.addEventListener("keydown", (event) => this.#recall(event));
    this.element = h("div", { class: "console-view" }, this.#log, form);
  }

  /** Begins anew, with a program that has run or with one that has not. */
  begin(hasRun: boolean): void {
    this.#log.textContent = hasRun
      ? "Ask: `help` lists the commands. Those that go through time, forwards or backwards, move the whole page.\n"
      : "Run the kernel, and then ask: time goes forwards and backwards here.\n";
  }

  async #run(run: (line: string) => Promise<string>): Promise<void> {
    const line = this.#input.value;
    if (line.trim() !== "") this.#history.push(line);
    this.#at = this.#history.length;
    this.#input.value = "";
    let text: string;
    try {
      text = await run(line);
    } catch (error) {
      text = (error as Error).message;
    }
    this.#log.append(h("b", {}, `(lanewise) ${line}\n`), `${text}${text === "" ? "" : "\n"}`);
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  #recall(event: KeyboardEvent): void {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.#at = Math.max(0, Math.min(this.#history.length, this.#at + step));
    this.#input.value = this.#history[this.#at] ?? "";
  }
}

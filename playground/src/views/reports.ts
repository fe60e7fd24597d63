import type { FileRange, Finding } from "../engine/protocol.ts";
import { fill, h } from "../dom.ts";

/** Diagnostics, faults and findings of sanitizers, with links to all the places that they name. */
export class ReportsView {
  readonly element = h("section", { class: "view reports-view", "aria-label": "Reports" });
  readonly #go: (range: FileRange) => void;

  constructor(go: (range: FileRange) => void) {
    this.#go = go;
    this.show([]);
  }

  show(findings: readonly Finding[]): void {
    if (findings.length === 0) fill(this.element, h("p", { class: "empty" }, "No errors, no warnings, no findings."));
    else
      fill(
        this.element,
        findings.map((finding) => this.#card(finding)),
      );
  }

  #card({ severity, code, message, help, at, notes, related, threads, stack }: Finding): HTMLElement {
    return h(
      "article",
      { class: `report ${severity}` },
      h("h3", {}, h("span", { class: "badge" }, severity), message),
      h(
        "p",
        { class: "faint" },
        code,
        at && [", ", this.#link(at)].map((part) => part),
        threads !== "" && `, ${threads}`,
      ),
      help !== null && h("p", { class: "help" }, help),
      notes.map((note) => h("p", { class: "note" }, note)),
      related.map(({ message: text, at: place, thread }) =>
        h(
          "p",
          { class: "note" },
          this.#link(place),
          ` ${text}`,
          thread !== null && h("span", { class: "faint" }, ` (${thread})`),
        ),
      ),
      stack.length > 1 &&
        h(
          "ol",
          { class: "stack", "aria-label": "Call stack" },
          stack.map((entry) => h("li", {}, h("code", {}, entry.function), " ", this.#link(entry.at))),
        ),
    );
  }

  #link(at: FileRange): HTMLElement {
    return h("button", { type: "button", class: "link", onclick: () => this.#go(at) }, `${at.path}:${at.line}`);
  }
}

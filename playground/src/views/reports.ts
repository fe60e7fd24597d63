import type { FileRange, Finding, TimedFinding } from "../engine/protocol.ts";
import { fill, h } from "../dom.ts";

/** Diagnostics, faults and findings of sanitizers, with links to all the places that they name. */
export class ReportsView {
  readonly element = h("section", { class: "view reports-view", "aria-label": "Reports" });
  readonly #empty = h("p", { class: "empty" });
  readonly #go: (range: FileRange) => void;
  readonly #goToTime: (time: number) => void;
  #findings: readonly Finding[] = [];
  #times: readonly TimedFinding[] = [];

  constructor(go: (range: FileRange) => void, goToTime: (time: number) => void) {
    this.#go = go;
    this.#goToTime = goToTime;
    this.explainNone(null);
    this.show([]);
  }

  /** Explains an empty list of findings: sanitizers have looked, or have not; null: nothing has run. */
  explainNone(sanitized: boolean | null): void {
    const texts = {
      null: "Errors, warnings and what sanitizers find will be here.",
      true: "No errors, no warnings, and the sanitizers have found nothing.",
      false: "No errors, no warnings. Check “sanitize” and run again to look for races and other undefined behaviour.",
    } as const;
    this.#empty.textContent = texts[`${sanitized}`];
  }

  /** Learns at which times findings were made. */
  know(times: readonly TimedFinding[]): void {
    this.#times = times;
    if (this.#findings.length > 0) this.show(this.#findings, times);
  }

  show(findings: readonly Finding[], times: readonly TimedFinding[] = []): void {
    this.#findings = findings;
    this.#times = times;
    if (findings.length === 0) fill(this.element, this.#empty);
    else
      fill(
        this.element,
        findings.map((finding) => this.#card(finding)),
      );
  }

  /** The time of a finding in the debugger, which has met it too; null if it has not. */
  #timeOf({ code, at }: Finding): number | null {
    const found = this.#times.find(({ finding }) => finding.code === code && finding.at?.from === at?.from);
    return found?.time ?? null;
  }

  #card(finding: Finding): HTMLElement {
    const { severity, code, message, help, at, notes, related, threads, stack } = finding;
    const time = this.#timeOf(finding);
    return h(
      "article",
      { class: `report ${severity}` },
      h("h2", {}, h("span", { class: "badge" }, severity), message),
      h(
        "p",
        { class: "faint" },
        code,
        at !== null && [", ", this.#link(at)],
        threads !== "" && `, ${threads}`,
        time !== null && [
          ", ",
          h("button", { type: "button", class: "link", onclick: () => this.#goToTime(time) }, `time ${time}`),
        ],
      ),
      help !== null && h("p", { class: "help" }, help),
      notes.map((note) => h("p", { class: "note" }, note)),
      related.map(({ message: text, at: place, thread }) =>
        h(
          "p",
          { class: "note" },
          this.#link(place),
          ` ${text}`,
          // Most messages name the thread themselves.
          thread !== null && !text.includes(thread) && h("span", { class: "faint" }, ` (${thread})`),
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

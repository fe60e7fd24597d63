import type { Report } from "../machine/reports/report.ts";
import type { FindingSink } from "../machine/state/launch-state.ts";
import type { Finding } from "./end.ts";

/** The output of the program and the reports of sanitizers, in the order of time. */
export class Chronicle {
  #output: { readonly time: number; readonly text: string }[] = [];
  #findings: Finding[] = [];
  /** Reports that have been recorded, as findings or as the end of time. */
  readonly #known = new Set<Report>();
  /** The report sink that was read last, and how many reports it had. */
  #sink: FindingSink | null = null;
  #taken = 0;

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** Returns what the instructions before a time have printed. */
  outputBefore(end: number): string {
    return this.#output.reduce((all, { time, text }) => (time < end ? all + text : all), "");
  }

  print(time: number, text: string): void {
    this.#output.push({ time, text });
  }

  /** Records the new reports, which are about the instruction at a time. */
  take(sink: FindingSink, time: number): void {
    const { reports } = sink;
    if (sink === this.#sink && reports.length === this.#taken) return;
    this.#sink = sink;
    this.#taken = reports.length;
    for (const report of reports) {
      if (this.#known.has(report)) continue;
      this.#known.add(report);
      this.#findings.push({ time, report });
    }
  }

  /** Marks a report as known, so that it does not become a finding. */
  know(report: Report): void {
    this.#known.add(report);
  }

  /** Forgets output and findings from a time on, because the future has changed. */
  cutFrom(time: number): void {
    this.forgetOutputFrom(time);
    this.#findings = this.#findings.filter((finding) => finding.time < time);
  }

  /** Forgets output from a time on, because it will be printed again. */
  forgetOutputFrom(time: number): void {
    this.#output = this.#output.filter((output) => output.time < time);
  }
}

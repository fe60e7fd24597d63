import type { Report } from "../machine/reports/report.ts";
import type { FindingSink } from "../machine/state/launch-state.ts";
import type { Finding } from "./end.ts";

/** What has been said in the course of time: by the program, and by sanitizers about it. In the order of time. */
export class Chronicle {
  #output: { readonly time: number; readonly text: string }[] = [];
  #findings: Finding[] = [];
  /** Reports that are findings or ends of time already. */
  readonly #known = new Set<Report>();
  /** Whose reports were looked at last, and how many there were. */
  #sink: FindingSink | null = null;
  #taken = 0;

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** What the instructions before a time have printed. */
  outputBefore(end: number): string {
    return this.#output.reduce((all, { time, text }) => (time < end ? all + text : all), "");
  }

  print(time: number, text: string): void {
    this.#output.push({ time, text });
  }

  /** The reports that have come of the instruction at a time. */
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

  /** A report that is not a finding. */
  know(report: Report): void {
    this.#known.add(report);
  }

  /** What has been behind a time will be another. */
  cutFrom(time: number): void {
    this.forgetOutputFrom(time);
    this.#findings = this.#findings.filter((finding) => finding.time < time);
  }

  /** It will be printed again. */
  forgetOutputFrom(time: number): void {
    this.#output = this.#output.filter((output) => output.time < time);
  }
}

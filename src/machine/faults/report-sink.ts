import type { Dim3, RelatedPlace, Report, StackEntry, ThreadId } from "../reports/report.ts";
import type { Activation } from "../state/activation.ts";
import type { Site } from "../state/code.ts";
import type { Fault } from "./fault.ts";

const maxThreads = 32;

const maxReports = 1000;

/** What is not said at an instruction beside the other: a value that comes too early or too late may be none at all. */
const superseded: Readonly<Record<string, string>> = { "uninitialized-read": "data-race" };

type Growing = { -readonly [K in keyof Report]: Report[K] } & { threads: ThreadId[] };

export interface Finding {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly help?: string | undefined;
  readonly notes?: readonly string[] | undefined;
  readonly related?: readonly RelatedPlace[] | undefined;
  readonly site: Site;
  readonly activation: Activation;
  readonly lanes: number;
  /** Where the activation is no longer in the function of the site. */
  readonly stack?: readonly StackEntry[] | undefined;
}

/** Collects what happened in a launch. The same thing at the same instruction is one report with more threads. */
export class ReportSink {
  readonly kernel: string;
  readonly #byPlace = new Map<Site, Map<string, Growing>>();
  readonly #reports: Growing[] = [];

  constructor(kernel: string) {
    this.kernel = kernel;
  }

  get reports(): readonly Report[] {
    return this.#reports;
  }

  get failed(): boolean {
    return this.#reports.some((r) => r.severity === "error");
  }

  fault(fault: Fault): void {
    const { code, message, site, activation, lanes } = fault;
    this.add({ code, severity: "error", message, site, activation, lanes, ...fault.details });
  }

  add(finding: Finding): void {
    const { code, site, activation, lanes } = finding;
    let here = this.#byPlace.get(site);
    if (here === undefined) this.#byPlace.set(site, (here = new Map()));
    let report = here.get(code);
    if (report === undefined) {
      if (here.has(superseded[code] ?? "")) return;
      for (const [lesser, greater] of Object.entries(superseded)) if (greater === code) this.#drop(here, lesser);
      if (this.#reports.length >= maxReports) return;
      report = this.#open(finding);
      here.set(code, report);
      this.#reports.push(report);
    }
    // Channels that execute without a work item (vISA's NoMask) are no threads; if there are only such, they stand for one.
    for (let m = lanes & activation.warp.lanes || lanes & -lanes; m !== 0; m &= m - 1) {
      report.count++;
      if (report.threads.length < maxThreads) report.threads.push(threadOf(activation, 31 - Math.clz32(m & -m)));
    }
  }

  #drop(here: Map<string, Growing>, code: string): void {
    const report = here.get(code);
    if (report === undefined) return;
    here.delete(code);
    this.#reports.splice(this.#reports.indexOf(report), 1);
  }

  #open({ code, severity, message, help, notes, related, site, activation, stack }: Finding): Growing {
    const { ir } = site.code;
    const { span } = site.instruction;
    return {
      code,
      severity,
      message,
      ...(help === undefined ? {} : { help }),
      kernel: this.kernel,
      source: ir.source,
      span,
      location: locationOf(site),
      threads: [],
      count: 0,
      stack: stack ?? stackOf(site, activation),
      notes: notes ?? [],
      ...(related === undefined ? {} : { related }),
    };
  }
}

/** Where an instruction comes from in the higher-level source, if the module says so. */
export function locationOf({ code, instruction }: Site): Report["location"] {
  const { location } = instruction;
  if (location === null) return null;
  const { file, line, column } = location;
  return { path: code.ir.files.get(file) ?? `file ${file}`, line, column };
}

/** Who a lane is. */
export function threadOf({ warp }: Activation, lane: number): ThreadId {
  const thread: Dim3 = [warp.tid[lane]!, warp.tid[32 + lane]!, warp.tid[64 + lane]!];
  return { block: warp.cta.id, thread };
}

/** The innermost activations; a deep recursion is cut. */
export function stackOf(site: Site, activation: Activation): StackEntry[] {
  const stack: StackEntry[] = [];
  let at: Site | null = site;
  for (let x: Activation | null = activation; x !== null && at !== null && stack.length < 64; x = x.caller) {
    stack.push({ function: x.code.ir.name, source: x.code.ir.source, span: at.instruction.span });
    at = x.callSite;
  }
  return stack;
}

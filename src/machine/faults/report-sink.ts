import { lowestLane } from "../../ir/lane-mask.ts";
import { type Instruction, type IrFunction, originOf } from "../../ir/index.ts";
import type { Dim3, Report, ReportListener, StackEntry, ThreadId } from "../reports/report.ts";
import type { CallFrame, Finding, FindingSink } from "../state/launch-state.ts";
import type { Site } from "../state/code.ts";
import type { Fault } from "./fault.ts";

const maxThreads = 32;
const maxReports = 1000;

/**
 * Codes that are dropped if the other is reported at the same instruction: in a race a read may come before the value.
 */
const superseded: Readonly<Record<string, string>> = { "uninitialized-read": "data-race" };

type Growing = { -readonly [K in keyof Report]: Report[K] } & { threads: ThreadId[] };

/** Collects the findings of a launch. The same code at the same instruction is one report with more threads. */
export class ReportSink implements FindingSink {
  readonly kernel: string;
  /** Null as long as there are none, as in most launches. */
  #byPlace: Map<Site, Map<string, Growing>> | null = null;
  readonly #reports: Growing[] = [];
  readonly #onReport: ReportListener | undefined;
  readonly #asked: ((thread: ThreadId) => ThreadId) | null;

  /**
   * `onReport` is called with each new report, as in a launch request. `asked`: which thread of the launch as it was
   * asked for one of the machine is; null: the same.
   */
  constructor(kernel: string, onReport?: ReportListener, asked: ((thread: ThreadId) => ThreadId) | null = null) {
    this.kernel = kernel;
    this.#onReport = onReport;
    this.#asked = asked;
  }

  get reports(): readonly Report[] {
    return this.#reports;
  }

  get failed(): boolean {
    return this.#reports.some((r) => r.severity === "error");
  }

  add(finding: Finding): void {
    const { code, site, activation, lanes } = finding;
    this.#byPlace ??= new Map();
    let here = this.#byPlace.get(site);
    if (here === undefined) this.#byPlace.set(site, (here = new Map()));
    let report = here.get(code);
    const isNew = report === undefined;
    if (report === undefined) {
      if (here.has(superseded[code] ?? "")) return;
      for (const [lesser, greater] of Object.entries(superseded)) if (greater === code) this.#drop(here, lesser);
      if (this.#reports.length >= maxReports) return;
      report = this.#open(finding);
      here.set(code, report);
      this.#reports.push(report);
    }
    // Channels without a work item (vISA's NoMask) are no threads; if there are no others, they count as one thread.
    for (let m = lanes & activation.warp.lanes || lanes & -lanes; m !== 0; m &= m - 1) {
      report.count++;
      if (report.threads.length >= maxThreads) continue;
      const thread = threadOf(activation, lowestLane(m));
      report.threads.push(this.#asked === null ? thread : this.#asked(thread));
    }
    if (isNew) this.#onReport?.(report, this.#reports);
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
      location: locationOf(ir, site.instruction),
      origin: originOf(ir, site.instruction),
      threads: [],
      count: 0,
      stack: stack ?? stackOf(site, activation),
      notes: notes ?? [],
      ...(related === undefined ? {} : { related }),
    };
  }
}

/** Adds the fault that ends a launch to its findings. */
export function addFault(findings: FindingSink, fault: Fault): void {
  const { code, message, site, activation, lanes } = fault;
  findings.add({ code, severity: "error", message, site, activation, lanes, ...fault.details });
}

/** Where an instruction comes from in the higher-level source, if the module says so. */
export function locationOf({ files }: IrFunction, { location }: Instruction): Report["location"] {
  if (location === null) return null;
  const { file, line, column } = location;
  return { path: files.get(file) ?? `file ${file}`, line, column };
}

/** The block and the thread of a lane. */
export function threadOf({ warp }: CallFrame, lane: number): ThreadId {
  const thread: Dim3 = [warp.tid[lane]!, warp.tid[32 + lane]!, warp.tid[64 + lane]!];
  return { block: warp.cta.id, thread };
}

/** The innermost activations, at most 64 of them. */
export function stackOf(site: Site, activation: CallFrame): StackEntry[] {
  const stack: StackEntry[] = [];
  let at: Site | null = site;
  for (let x: CallFrame | null = activation; x !== null && at !== null && stack.length < 64; x = x.caller) {
    stack.push({
      function: x.code.ir.name,
      source: x.code.ir.source,
      span: at.instruction.span,
      origin: originOf(x.code.ir, at.instruction),
    });
    at = x.callSite;
  }
  return stack;
}

import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import type { Report } from "../../src/machine/reports/report.ts";
import { readVisaCases, type VisaCase } from "../docs/visa-cases.ts";
import { diagnose } from "../visa/check/diagnose.ts";
import { runFault } from "../visa/run/faults/fault.ts";
import { faults as families } from "../visa/run/faults.ts";

const engines = ["interpreter", "jit"] as const;

/**
 * A message without the address of private memory. That is allocated when threads begin: later where compiled code has
 * run before, and given up.
 */
const withoutPlace = (message: string): string =>
  message.includes("private memory") ? message.replace(/ at 0x[0-9a-f]+/, "") : message;

const found = ({ code, message, source, span, help, notes, threads: named, count, stack }: Report) => ({
  ...{
    code,
    message: withoutPlace(message),
    path: source.path,
    line: source.position(span.start).line,
    help,
    notes,
    count,
  },
  threads: named,
  stack: stack.map(({ function: name, source: file, span: at }) => [name, file.path, at?.start]),
});

/** Those that end only where somebody counts steps. */
const endless = new Set(["no-progress"]);

/** Races and values that nobody wrote are found by sanitizers alone. */
const { races: _races, unwritten: _unwritten, ...unwatched } = families;

describe.each(Object.entries(unwatched))("%s", (_, faults) => {
  test.each(faults.filter((fault) => !endless.has(fault.report)))("$title: what the interpreter says", (fault) => {
    const [wanted, compiled] = engines.map((engine) => runFault(fault, engine).result.reports.map(found));
    expect(compiled).toEqual(wanted);
  });
});

const cases = ["ifcall", "visa"] as const;
const runnable = cases
  .flatMap((folder) => readVisaCases(folder))
  .filter(({ out, marks, bytes }) => out !== null || (marks.length > 0 && bytes.length === 0))
  .filter(({ text }) => !diagnose(text).some(({ severity }) => severity === "error"));

function outcome({ text, width, items }: VisaCase, engine: (typeof engines)[number]) {
  const device = new Device();
  const out = device.buffer("u32", width);
  const inputs = [
    { name: "OUT", kind: "arg", type: "u64" },
    { name: "LANES", kind: "lane-id", type: "u32" },
  ] as const;
  const module = device.load([{ path: "k.isaasm", text }], { inputs });
  const result = module.kernel("k").launch({ global: items, local: items, args: [out], engine });
  return { engine: result.engine, reports: result.reports.map(found), values: result.ok ? [...out.read()] : [] };
}

/** What compiled code leaves to the interpreter when it comes to it. */
const givenUp = new Set(["stack-overflow", "deadlock"]);

test.each(runnable.map((c) => [c.file, c.name, c] as const))("%s: %s", (_file, _name, c) => {
  const wanted = outcome(c, "interpreter");
  const engine = wanted.reports.some(({ code }) => givenUp.has(code)) ? "interpreter" : "jit";
  expect(outcome(c, "jit")).toEqual({ ...wanted, engine });
});

import { describe, expect, test, vi } from "vitest";
import { Device } from "../../../src/index.ts";
import { promoteFrames, readsOf } from "../../../src/ir/flow/index.ts";
import type { IrFunction, IrModule } from "../../../src/ir/index.ts";
import { parseJob } from "../../../src/runtime/job/job.ts";
import { runJob } from "../../../src/runtime/job/run-job.ts";
import { type CallCase, callCasesIn, readCallCases } from "../../docs/calls-cases.ts";
import { allJobFiles, present } from "../../runtime/conformance-jobs.ts";

/** Whether programs are changed on their way to the interpreter, and the last one that was. */
const promotion = vi.hoisted(() => ({ on: false, before: null as IrModule | null, after: null as IrModule | null }));

vi.mock(import("../../../src/ptx/lower/lower.ts"), async (original) => {
  const { lowerModules, ...others } = await original();
  const lower: typeof lowerModules = (...args) => {
    promotion.before = lowerModules(...args);
    promotion.after = promoteFrames(promotion.before);
    if (promotion.on && !usesFrames(promotion.before)) throw new Error("there is nothing to promote");
    return promotion.on ? promotion.after : promotion.before;
  };
  return { ...others, lowerModules: lower };
});

const usesFrames = ({ functions }: IrModule): boolean => functions.some((f) => f.frame.length > 0);

function promoted<T>(run: () => T): T {
  promotion.on = true;
  try {
    return run();
  } finally {
    promotion.on = false;
  }
}

function launch({ text, threads }: CallCase) {
  const device = new Device({ maxSteps: 10_000_000 });
  const out = device.buffer("u32", threads);
  const { reports } = device
    .load(text)
    .kernel("k")
    .launch({ grid: 1, block: threads, args: [out], engine: "interpreter" });
  return { out: [...out.read()], reports: reports.map((r) => `${r.code} ${r.span.start} ${r.message}`) };
}

/** The variables that a function finds in memory. */
function inMemory({ name, frame, params, returns, instructions }: IrFunction): string[] {
  const found = new Set<number>();
  for (const { storage } of [...params, ...returns]) if (storage.kind === "frame") found.add(storage.variable);
  for (const instruction of instructions) {
    readsOf(instruction, { frame: (leaf) => found.add(leaf.variable), variable: (v) => found.add(v) });
    const { op } = instruction;
    if (op.kind !== "call") continue;
    for (const result of op.results) if (result.kind === "frame") found.add(result.variable);
  }
  return [...found].map((v) => `${name} ${frame[v]!.name}`);
}

const cases = callCasesIn(new URL("frames/", import.meta.url)).map((c) => [c.name, c] as const);

test.each(cases)("%s", (_name, c) => {
  const plain = launch(c);
  expect(plain.reports).toEqual([]);
  expect(promoted(() => launch(c))).toEqual(plain);
  const expected = /\/\/ memory: (.*)/.exec(c.text)?.[1]?.split(", ") ?? [];
  expect(promotion.after!.functions.flatMap(inMemory).sort()).toEqual(expected.sort());
});

const calls = readCallCases().flatMap((c) => (c.runs ? [[c.file, c.name, c] as const] : []));

test.each(calls)("%s: %s", (_file, _name, c) => {
  const plain = launch(c);
  if (usesFrames(promotion.before!)) expect(promoted(() => launch(c))).toEqual(plain);
});

describe.skipIf(!present)("jobs", () => {
  const jobs = allJobFiles().map((file) => [file.source.path.replace(".json", ""), file] as const);
  test.each(jobs)("%s", (_name, file) => {
    const job = parseJob(file.source).job!;
    const run = (variant: string) => {
      const { ok, skipped, failure } = runJob(job, variant, file, { timeoutMs: 60_000, sanitize: null });
      return { ok, skipped, failure };
    };
    for (const variant of job.variants.keys()) {
      promotion.before = null;
      const found = promoted(() => run(variant));
      // The jobs say themselves what they must give; what the plain run says matters for those that do not.
      if (promotion.before !== null && usesFrames(promotion.before) && !found.ok) expect(found).toEqual(run(variant));
    }
  });
});

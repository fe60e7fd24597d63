import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import { diagnose, lineOf } from "../ptx/check/diagnose.ts";
import { readCallCases } from "./calls-cases.ts";

test.each(readCallCases().map((c) => [c.file, c.name, c] as const))("%s: %s", (_file, _name, c) => {
  const found = diagnose(c.text).map((d) => `${lineOf(d)} ${d.severity} ${d.code}`);
  expect(found).toEqual(c.diagnostics);
  expect(c.diagnostics.length + c.reports.length > 0 || c.out !== null).toBe(true);
  if (!c.runs) return;

  const device = new Device({ sanitize: "all", maxSteps: 10_000_000 });
  const out = device.buffer("u32", c.threads);
  const { reports } = device
    .load(c.text)
    .kernel("k")
    .launch({ grid: 1, block: c.threads, args: [out] });
  expect(reports.map((r) => `${r.source.position(r.span.start).line} ${r.code}`)).toEqual(c.reports);
  if (c.out) expect([...out.read()]).toEqual(Array.from({ length: c.threads }, (_, t) => c.out?.(t)));
});

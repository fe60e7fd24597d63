import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import { diagnose, lineOf } from "../ptx/check/diagnose.ts";
import { readCallCases } from "./calls-cases.ts";
import { markText } from "./case-files.ts";

test.each(readCallCases().map((c) => [c.file, c.name, c] as const))("%s: %s", (_file, _name, c) => {
  expect(c.marks.length > 0 || c.out !== null).toBe(true);
  const found = diagnose(c.text).map((d) => `${lineOf(d)} ${d.severity} ${d.code}`);
  expect(found).toEqual(c.marks.filter(({ kind }) => kind !== "report").map(markText));
  if (!c.runs) return;

  const device = new Device({ sanitize: "all", maxSteps: 10_000_000 });
  const out = device.buffer("u32", c.threads);
  const { reports } = device
    .load(c.text)
    .kernel("k")
    .launch({ grid: 1, block: c.threads, args: [out] });
  expect(reports.map((r) => `${r.source.position(r.span.start).line} report ${r.code}`)).toEqual(
    c.marks.filter(({ kind }) => kind === "report").map(markText),
  );
  if (c.out) expect([...out.read()]).toEqual(Array.from({ length: c.threads }, (_, t) => c.out?.(t)));
});

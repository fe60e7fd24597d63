import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";
import { casesIn, inFrame, launchesOf } from "./race-programs.ts";

/*
 * Programs, each after `==== name`, with `// launch: kernel grid block` for each launch (`k 1 64` if there is none).
 * They run with all sanitizers: `// report: data-race` at the end of a line expects that report there, and nothing else
 * may be reported. A body without a kernel gets one, with the registers and the memory that `frame` declares.
 */
const cases = casesIn("race");

test("there are cases enough", () => {
  expect(cases.flatMap(({ parts }) => parts).length).toBeGreaterThan(40);
});

/** The reports of a program's launches on a device of its own, as line and code. */
function reportsOf(body: string, text: string, seed?: number): string[] {
  const device = new Device({ sanitize: "all", maxSteps: 2_000_000, ...(seed === undefined ? {} : { seed }) });
  const out = device.buffer("u32", 4096);
  const module = device.load(text);
  const found = launchesOf(body).flatMap(
    ({ kernel, size }) => module.kernel(kernel).launch({ ...size, args: [out] }).reports,
  );
  return found.map((r) => `${r.source.position(r.span.start).line} ${r.code}`).sort();
}

describe.each(cases)("$file", ({ parts }) => {
  test.each(parts)("%s", (_, body) => {
    const text = inFrame(body);
    const wanted = text
      .split("\n")
      .flatMap((line, i) => (/\/\/ report: data-race$/.test(line) ? [`${i + 1} data-race`] : []));
    expect(reportsOf(body, text)).toEqual(wanted.sort());
    if (wanted.length > 0) return;
    for (const seed of [1, 2, 3]) expect(reportsOf(body, text, seed)).toEqual([]);
  });
});

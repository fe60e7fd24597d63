import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "lanewise-table-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The Markdown for kernels as `lanewise bench --json` describes them. */
function tableOf(kernels: readonly object[]): string {
  const path = join(folder, "bench.json");
  writeFileSync(path, JSON.stringify({ machine: "M", node: "v20", runs: 15, kernels }));
  const script = fileURLToPath(new URL("../../bench/table.mjs", import.meta.url));
  return spawnSync(process.execPath, [script, path], { encoding: "utf8" }).stdout;
}

const measured = (name: string, group: string, times: Readonly<Record<string, number>>): object => ({
  name,
  group,
  ...Object.fromEntries(Object.entries(times).map(([means, ms]) => [means, { ms }])),
});

test("both engines beside C and PoCL, with a mean for each group", () => {
  const text = tableOf([
    measured("a", "untuned", { jit: 4, machineCode: 1, native: 2, pocl: 8 }),
    measured("b", "untuned", { jit: 8, machineCode: 4, native: 1, pocl: 0.5 }),
    measured("c", "held-out", { jit: 0.03, machineCode: 0.01, native: 0.01, pocl: 120 }),
  ]);
  expect(text.split("\n\n")[1]!.trimEnd().split("\n")).toEqual([
    "| kernel | compiled | native | C | PoCL | compiled / C | native / C | compiled / PoCL | native / PoCL |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    "| a | 4.00 | 1.00 | 2.00 | 8.00 | 2.0 | 0.50 | 0.50 | 0.13 |",
    "| b | 8.00 | 4.00 | 1.00 | 0.500 | 8.0 | 4.0 | 16 | 8.0 |",
    "| geometric mean, untuned |  |  |  |  | 4.00 | 1.41 | 2.83 | 1.00 |",
    "| c | 0.0300 | 0.0100 | 0.0100 | 120 | 3.0 | 1.0 | 0.00025 | 0.000083 |",
    "| geometric mean, held-out |  |  |  |  | 3.00 | 1.00 | 0.000250 | 0.0000833 |",
  ]);
});

test("without machine code, one mean", () => {
  const text = tableOf([measured("a", "usual", { jit: 4, native: 2 }), measured("b", "usual", { jit: 9, native: 2 })]);
  expect(text.split("\n\n")[1]!.trimEnd().split("\n")).toEqual([
    "| kernel | one thread | C | / C |",
    "| --- | ---: | ---: | ---: |",
    "| a | 4.00 | 2.00 | 2.0 |",
    "| b | 9.00 | 2.00 | 4.5 |",
    "| geometric mean |  |  | 3.00 |",
  ]);
});

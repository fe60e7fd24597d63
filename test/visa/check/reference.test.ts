import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { caseFiles, casesOf, textOf } from "./cases.ts";

/* Checks the second column of the cases against GenX_IR. Skipped where it is not installed. */
const present = spawnSync("GenX_IR", ["-version"]).error === undefined;

/** Errors are in its output and in a file beside the text; out-of-bounds regions are warnings. */
function verdict(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "genx-"));
  try {
    writeFileSync(join(folder, "k.visaasm"), text);
    const options = ["k.visaasm", "-platform", "SKL", "-output", "-binary"];
    const run = spawnSync("GenX_IR", options, { cwd: folder, encoding: "utf8", timeout: 20_000 });
    const report = readdirSync(folder).filter((name) => name.includes("error"));
    const errors = report.map((name) => readFileSync(join(folder, name), "utf8")).join("");
    if (run.signal !== null || (run.status ?? 0) > 128) return "crash";
    if (run.status !== 0 || errors !== "") return "error";
    const said = (run.stdout + run.stderr).replace(/^GenX_IR.*\n/, "");
    return /WARNING|[Aa]ssert|rror/.test(said) ? "warning" : "ok";
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.skipIf(!present)("what the reference says", () => {
  for (const file of caseFiles) {
    test(file, () => {
      const cases = casesOf(file);
      const row = (reference: string, statements: string): string => `${reference} | ${statements}`;
      expect(cases.map((c) => row(verdict(textOf(c)), c.statements))).toEqual(
        cases.map((c) => row(c.reference, c.statements)),
      );
    });
  }
});

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { diagnose, lineOf } from "./diagnose.ts";

/*
 * Modules with their expected diagnostics: `// error: code` or `// warning: code` at the end of a line, several codes
 * separated by commas. Nothing else may be reported.
 */
const folder = new URL("cases/", import.meta.url);

for (const file of readdirSync(folder)) {
  test(file, () => {
    const text = readFileSync(new URL(file, folder), "utf8");
    const wanted = text.split("\n").flatMap((line, i) => {
      const [, severity, codes] = /\/\/ (error|warning): ([\w, -]+)$/.exec(line) ?? [];
      return codes?.split(",").map((code) => `${i + 1} ${severity} ${code.trim()}`) ?? [];
    });
    const found = diagnose(text).map((d) => `${lineOf(d)} ${d.severity} ${d.code}`);
    expect(found.sort()).toEqual(wanted.sort());
    expect(wanted.length).toBeGreaterThan(0);
  });
}

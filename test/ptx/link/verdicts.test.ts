import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { printLinked } from "../../../src/ptx/link/print.ts";
import { hasErrors } from "../../../src/source/index.ts";
import { checked, header, lines, linked, sourcesOf } from "./linked.ts";
import { objections } from "./ptxas.ts";

/*
 * Programs of several small modules with the verdict of nvlink 13.0 (each module through `ptxas -c` for sm_90), which
 * the linker must share:
 *
 *     ==== name: rejected (code of the diagnostic)
 *     items of the first module
 *     ----
 *     items of the second
 *
 * If the verdicts are meant to differ, the title says so and why. The text of every accepted program must be a module
 * that the checker accepts, and ptxas if it is installed.
 */
const [, ...cases] = readFileSync(new URL("verdicts.txt", import.meta.url), "utf8").split(/^==== /m);

describe("programs of several modules", () => {
  for (const part of cases) {
    const at = part.indexOf("\n");
    const [, name = "", verdict = "", ours = verdict, code = ""] =
      /^(\w+): (\w+)(?:; here (\w+): [^(]+)?(?: \(([\w-]+)\))?$/.exec(part.slice(0, at)) ?? [];
    const texts = part
      .slice(at + 1)
      .split(/^----\n/m)
      .map((text) => (text.startsWith(".version") ? text : header + text));
    test(name, () => {
      const program = linked(texts);
      const { diagnostics } = program;
      const wrong = hasErrors(diagnostics);
      expect(wrong ? "rejected" : "accepted", lines(diagnostics).join("\n")).toBe(ours);
      expect([...new Set(diagnostics.map((d) => d.code))].join()).toBe(code);
      if (wrong) return;
      const text = printLinked(program);
      checked(sourcesOf([text]));
      expect(objections(text)).toBe("");
    });
  }
});

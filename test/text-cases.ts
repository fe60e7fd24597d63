import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/** A text, and by section what is expected of it; the text itself is the section "text". */
interface Case {
  readonly title: string;
  readonly sections: Map<string, string>;
}

function readCases(text: string): Case[] {
  return text
    .split(/^==== /m)
    .slice(1)
    .map((part) => {
      const [head = "", ...rest] = part.split(/^---- /m);
      const split = (piece: string): [string, string] => {
        const at = piece.indexOf("\n");
        return [piece.slice(0, at).trim(), piece.slice(at + 1).replace(/\n+$/, "")];
      };
      const [title, input] = split(head);
      return { title, sections: new Map([["text", input], ...rest.map(split)]) };
    });
}

/**
 * Declares the tests of a folder's files of cases. `results`: by section, what a text gives; a case has the sections
 * that it is about, and the section "diagnostics" unless there are none. `UPDATE_CASES=1` writes the results into the
 * files.
 */
export function testTextCases(folder: URL, results: (text: string) => ReadonlyMap<string, string>): void {
  for (const file of readdirSync(folder)) {
    const cases = readCases(readFileSync(new URL(file, folder), "utf8"));
    if (process.env["UPDATE_CASES"] === "1") {
      const texts = cases.map(({ title, sections }) => {
        const now = results(sections.get("text") ?? "");
        const wanted = [...now].filter(([name, value]) => (name === "diagnostics" ? value !== "" : sections.has(name)));
        const shown = wanted.map(([name, value]) => `---- ${name}\n${value}\n`);
        return `==== ${title}\n${sections.get("text")}\n${shown.join("")}`;
      });
      writeFileSync(new URL(file, folder), texts.join("\n"));
    }
    describe(file, () => {
      for (const { title, sections } of cases) {
        test(title, () => {
          const now = results(sections.get("text") ?? "");
          expect(sections.size, "a case expects something").toBeGreaterThan(1);
          for (const [name, value] of now) {
            if (sections.has(name) || name === "diagnostics") expect(value, name).toBe(sections.get(name) ?? "");
          }
        });
      }
    });
  }
}

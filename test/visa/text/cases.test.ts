import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";

/*
 * A file of cases holds texts, each with what is expected of it:
 *
 *     ==== what the case shows
 *     the text
 *     ---- diagnostics     line:column-end code message [help]; none where the section is missing
 *     ---- printed         the canonical text, where it is the point
 *
 * `UPDATE_CASES=1` writes what the parser gives into the files, to be read over.
 */
const folder = new URL("cases/", import.meta.url);
const update = process.env["UPDATE_CASES"] === "1";

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

function results(text: string): Map<string, string> {
  const source = new SourceText("case.visaasm", text);
  const { tree, diagnostics } = parseVisa(source);
  const lines = diagnostics.map(({ span, code, message, help }) => {
    const { line, column } = source.position(span.start);
    return `${line}:${column}-${column + span.end - span.start} ${code} ${message}${help === undefined ? "" : ` [${help}]`}`;
  });
  return new Map([
    ["diagnostics", lines.join("\n")],
    ["printed", printVisa(tree).trimEnd()],
  ]);
}

for (const file of readdirSync(folder)) {
  const cases = readCases(readFileSync(new URL(file, folder), "utf8"));
  if (update) {
    const texts = cases.map(({ title, sections }) => {
      const now = results(sections.get("text") ?? "");
      const wanted = ["diagnostics", "printed"].filter((name) =>
        name === "printed" ? sections.has(name) : now.get(name) !== "",
      );
      const shown = wanted.map((name) => `---- ${name}\n${now.get(name)}\n`);
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

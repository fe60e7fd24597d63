import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { printPtx } from "../../../src/ptx/printer.ts";
import { SourceText } from "../../../src/source/index.ts";
import { dump } from "./dump.ts";

/*
 * A file of cases has texts, each with the expected results:
 *
 *     ==== what the case shows
 *     the text
 *     ---- tree            the tree (dump.ts)
 *     ---- diagnostics     line:column code message; none if the section is missing
 *     ---- printed         the canonical text, if the case is about it
 *
 * `UPDATE_CASES=1` writes the parser's results into the files; review the changes.
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
  const source = new SourceText("case.ptx", text);
  const { tree, diagnostics } = parsePtx(source);
  const lines = diagnostics.map(({ span, code, message }) => {
    const { line, column } = source.position(span.start);
    return `${line}:${column} ${code} ${message}`;
  });
  return new Map([
    ["tree", dump(tree)],
    ["diagnostics", lines.join("\n")],
    ["printed", printPtx(tree).trimEnd()],
  ]);
}

for (const file of readdirSync(folder)) {
  const cases = readCases(readFileSync(new URL(file, folder), "utf8"));
  if (update) {
    const texts = cases.map(({ title, sections }) => {
      const now = results(sections.get("text") ?? "");
      const wanted = ["tree", "diagnostics", "printed"].filter((name) =>
        name === "printed" || name === "tree" ? sections.has(name) : now.get(name) !== "",
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

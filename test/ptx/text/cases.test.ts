import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { printPtx } from "../../../src/ptx/printer.ts";
import { SourceText } from "../../../src/source/index.ts";
import { dump } from "./dump.ts";
import { testTextCases } from "../../text-cases.ts";

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

testTextCases(folder, results);

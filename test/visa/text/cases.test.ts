import { SourceText } from "../../../src/source/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import { testTextCases } from "../../text-cases.ts";

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

testTextCases(folder, results);

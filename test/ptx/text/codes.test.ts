import { syntaxCodes } from "../../../src/ptx/codes-syntax.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { SourceText } from "../../../src/source/index.ts";
import { testSyntaxPages } from "../../code-pages.ts";

const codesOf = (text: string): string[] =>
  parsePtx(new SourceText("example.ptx", text)).diagnostics.map((diagnostic) => diagnostic.code);

testSyntaxPages(syntaxCodes, codesOf, "ptx-too-many-tokens", {
  // The comment takes the end of the function along.
  "ptx-unterminated-comment": ["ptx-unclosed-brace"],
});

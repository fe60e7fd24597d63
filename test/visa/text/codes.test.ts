import { syntaxCodes } from "../../../src/visa/codes-syntax.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { SourceText } from "../../../src/source/index.ts";
import { testSyntaxPages } from "../../code-pages.ts";

const codesOf = (text: string): string[] =>
  parseVisa(new SourceText("example.visaasm", text)).diagnostics.map((diagnostic) => diagnostic.code);

testSyntaxPages(syntaxCodes, codesOf, "visa-too-many-tokens");

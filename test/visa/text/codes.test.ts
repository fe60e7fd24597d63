import { describe, expect, test } from "vitest";
import { type CodePage, SourceText } from "../../../src/source/index.ts";
import { syntaxCodes } from "../../../src/visa/codes-syntax.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";

const codesOf = (text: string): string[] =>
  parseVisa(new SourceText("example.visaasm", text)).diagnostics.map((diagnostic) => diagnostic.code);

describe("the pages of the syntax codes", () => {
  for (const [code, page] of Object.entries<CodePage>(syntaxCodes)) {
    test(code, () => {
      expect(page.title).toMatch(/^[^A-Z].*[^.]$/);
      expect(page.page.length).toBeGreaterThan(60);
      // An example for this code would be 40 MB long; robustness.test.ts provokes it.
      if (code === "visa-too-many-tokens") return;
      expect(codesOf(page.example!.bad)).toEqual([code]);
      expect(codesOf(page.example!.good)).toEqual([]);
    });
  }
});

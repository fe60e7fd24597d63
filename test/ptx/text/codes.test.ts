import { describe, expect, test } from "vitest";
import { syntaxCodes } from "../../../src/ptx/codes-syntax.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { type CodePage, SourceText } from "../../../src/source/index.ts";

const codesOf = (text: string): string[] =>
  parsePtx(new SourceText("example.ptx", text)).diagnostics.map((diagnostic) => diagnostic.code);

describe("the pages of the syntax codes", () => {
  for (const [code, page] of Object.entries<CodePage>(syntaxCodes)) {
    test(code, () => {
      expect(page.title).toMatch(/^[^A-Z].*[^.]$/);
      expect(page.page.length).toBeGreaterThan(60);
      // An example would be 40 MB long; robustness.test.ts provokes this diagnostic.
      if (code === "ptx-too-many-tokens") return;
      expect(codesOf(page.example!.bad)).toContain(code);
      expect(codesOf(page.example!.good)).toEqual([]);
    });
  }
});

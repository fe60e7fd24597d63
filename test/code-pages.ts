import { describe, expect, test } from "vitest";
import type { Catalogue } from "../src/source/index.ts";

/**
 * Declares the tests of the pages of syntax codes. `codesOf`: the codes that a text gives. `tooLong`: the code whose
 * example would be 40 MB long, which robustness.test.ts provokes. `besides`: by code, the others that its bad example
 * gives.
 */
export function testSyntaxPages(
  pages: Catalogue,
  codesOf: (text: string) => readonly string[],
  tooLong: string,
  besides: Readonly<Record<string, readonly string[]>> = {},
): void {
  describe("the pages of the syntax codes", () => {
    for (const [code, page] of Object.entries(pages)) {
      test(code, () => {
        expect(page.title).toMatch(/^[^A-Z].*[^.]$/);
        expect(page.page.length).toBeGreaterThan(60);
        if (code === tooLong) return;
        expect(codesOf(page.example!.bad)).toEqual([code, ...(besides[code] ?? [])]);
        expect(codesOf(page.example!.good)).toEqual([]);
      });
    }
  });
}

import { describe, expect, test } from "vitest";
import { checkCodes } from "../../../src/ptx/check/codes.ts";
import { instructionCodes } from "../../../src/ptx/check/codes-instruction.ts";
import type { CodePage } from "../../../src/source/index.ts";
import { diagnose, errorsOf, lines } from "./diagnose.ts";

describe("the pages of the checker's codes", () => {
  for (const [code, page] of Object.entries<CodePage>({ ...checkCodes, ...instructionCodes })) {
    test(code, () => {
      expect(page.title).toMatch(/^[^A-Z].*[^.]$/);
      expect(page.page.length).toBeGreaterThan(60);
      expect(diagnose(page.example!.bad).map((d) => d.code)).toContain(code);
      expect(lines(errorsOf(page.example!.good))).toEqual([]);
      expect(diagnose(page.example!.good).map((d) => d.code)).not.toContain(code);
    });
  }
});

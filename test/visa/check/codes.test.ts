import { describe, expect, test } from "vitest";
import type { CodePage } from "../../../src/source/index.ts";
import { visaCheckCodes } from "../../../src/visa/check/index.ts";
import { diagnose, lines } from "./diagnose.ts";

/** Provoked in trees.test.ts: they depend on the platform, or can occur only in a binary file. */
const withoutExample = ["visa-version-gate", "visa-platform", "visa-operand-not-allowed", "visa-number"];

describe("the pages of the checker's codes", () => {
  for (const [code, page] of Object.entries<CodePage>(visaCheckCodes)) {
    test(code, () => {
      expect(page.title).toMatch(/^[^A-Z].*[^.]$/);
      expect(page.page.length).toBeGreaterThan(20);
      if (withoutExample.includes(code)) return;
      expect(lines(diagnose(page.example!.bad)).map((line) => line.split(" ")[2])).toContain(`${code}:`);
      expect(lines(diagnose(page.example!.good))).toEqual([]);
    });
  }
});

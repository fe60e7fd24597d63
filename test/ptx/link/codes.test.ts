import { describe, expect, test } from "vitest";
import { linkCodes } from "../../../src/ptx/link/codes.ts";
import type { CodePage, Diagnostic } from "../../../src/source/index.ts";
import { linked } from "./linked.ts";

/** The files of an example, each after a comment with its name. */
const diagnose = (example: string): readonly Diagnostic[] =>
  linked(example.split(/^\/\/ \w+\.ptx\n/m).slice(1)).diagnostics;

describe("the pages of the linker's codes", () => {
  for (const [code, page] of Object.entries<CodePage>(linkCodes)) {
    test(code, () => {
      expect(page.title).toMatch(/^[^A-Z].*[^.]$/);
      expect(page.page.length).toBeGreaterThan(60);
      expect(diagnose(page.example!.bad).map((d) => d.code)).toEqual([code]);
      expect(diagnose(page.example!.good)).toEqual([]);
    });
  }
});

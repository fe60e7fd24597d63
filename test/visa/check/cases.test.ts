import { describe, expect, test } from "vitest";
import { caseFiles, casesOf, textOf } from "./cases.ts";
import { diagnose } from "./diagnose.ts";

for (const file of caseFiles) {
  describe(file, () => {
    for (const wanted of casesOf(file)) {
      test(wanted.statements, () => {
        const found = diagnose(textOf(wanted));
        expect([...new Set(found.map(({ code }) => code))].sort()).toEqual(wanted.codes);
      });
    }
  });
}

import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { commonOptions, describeOptions } from "../../src/cli/options/options.ts";
import { beside, hang, wrap } from "../../src/cli/terminal/wrap.ts";

test("paragraphs are broken between words; what is indented is kept", () => {
  expect(wrap("one two three\n  four five six", 9)).toBe("one two\nthree\n  four five six");
  expect(hang("one two three", 9, 2)).toBe("one two\n  three");
});

test("text goes next to a word if there is room for it, else below", () => {
  expect(beside("--a", { text: "one two", at: 8, columns: 40 })).toBe("  --a   one two");
  expect(beside("--a", { text: "one two", at: 20, columns: 40 })).toBe("  --a\n      one two");
});

test.each([40, 80, 100])("the options of every command fit into %i columns", async (columns) => {
  for (const load of Object.values(commands)) {
    const lines = describeOptions([...(await load()).options, ...commonOptions], columns).split("\n");
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
  }
});

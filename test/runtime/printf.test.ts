import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatPrintf, type PrintfArguments } from "../../src/runtime/launch/printf.ts";

/** A C constant as an argument of any kind. */
function constant(text: string): PrintfArguments {
  const integer = () => BigInt(text.replace(/U?L*$/, "").replace(/^-0x/, "0x"));
  return {
    int: () => Number(BigInt.asIntN(32, integer())),
    long: () => BigInt.asIntN(64, integer()),
    double: () => Number(text.replace("INFINITY", "Infinity")),
    string: () => JSON.parse(text) as string,
  };
}

const cases = readFileSync(new URL("printf.tsv", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split("\t") as [string, string, string]);

test.each(cases)("%s %s", (format, argument, expected) => {
  expect(formatPrintf(JSON.parse(format) as string, constant(argument))).toBe(expected);
});

test("a star reads its number from the arguments", () => {
  const numbers = [-6, 2];
  const args = { ...constant("3.14159"), int: () => numbers.shift()! };
  expect(formatPrintf("%*.*f|", args)).toBe("3.14  |");
});

test("unknown conversions are printed unchanged", () => {
  expect(formatPrintf("%y %", constant("1"))).toBe("%y %");
});

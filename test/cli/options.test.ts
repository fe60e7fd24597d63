import { describe, expect, test } from "vitest";
import { commonOptions, type OptionSpec, parseOptions } from "../../src/cli/options/options.ts";

const known: readonly OptionSpec[] = [
  ...commonOptions,
  { name: "arg", value: "VALUE", repeats: true, help: "" },
  { name: "output", short: "o", value: "FILE", help: "" },
];
const parse = (...words: string[]) => parseOptions(words, known);

test("values follow the option or its equals sign, and may begin with a minus", () => {
  const options = parse("a.ptx", "--arg", "-1", "--arg=f32[4]=iota", "-o", "x", "--json", "--", "--arg");
  expect(options.positionals).toEqual(["a.ptx", "--arg"]);
  expect(options.all("arg")).toEqual(["-1", "f32[4]=iota"]);
  expect(options.value("output")).toBe("x");
  expect(options.has("json")).toBe(true);
  expect(options.has("help")).toBe(false);
});

test("numbers and choices", () => {
  expect(parse("--seed", "7").integer("seed")).toBe(7);
  expect(parse("--timeout", "0.5").timeoutMs).toBe(500);
  expect(parse().integer("seed")).toBeNull();
  expect(parse("--engine", "jit").oneOf("engine", ["interpreter", "jit"])).toBe("jit");
});

describe("errors are reported", () => {
  test.each([
    [["--jsn"], "there is no option --jsn; --json exists"],
    [["-x"], "there is no option -x"],
    [["--arg"], "--arg needs a value: VALUE"],
    [["--json=1"], "--json takes no value"],
    [["--seed", "1", "--seed", "2"], "--seed is given twice"],
  ])("%j", (words, message) => expect(() => parse(...words)).toThrow(message));

  test.each(["-1", "1.5", "x", "", "1e400"])("--seed %s", (value) => {
    expect(() => parse("--seed", value).integer("seed")).toThrow("expected an integer of at least 0");
  });

  test("a number that is too small", () => {
    expect(() => parse("--threads", "0").integer("threads", 1)).toThrow("expected an integer of at least 1");
    expect(() => parse("--timeout", "soon").timeoutMs).toThrow("--timeout soon: expected a number of seconds");
  });

  test("a choice", () => {
    expect(() => parse("--color", "red").oneOf("color", ["auto", "always", "never"])).toThrow(
      "--color red: expected auto, always or never",
    );
  });
});

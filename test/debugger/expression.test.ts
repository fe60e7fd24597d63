import { describe, expect, test } from "vitest";
import { ExpressionError } from "../../src/debugger/expression/tree.ts";
import { formatValue } from "../../src/debugger/view/value.ts";
import { finish, openSession } from "./jobs.ts";

const session = openSession("calls.json");
finish(session.step({ kind: "into" }));
const value = (text: string): string => formatValue(session.evaluate(text));

describe("values", () => {
  test.each([
    // C's precedence, by hand.
    ["1 + 2 * 3", "7"],
    ["1 << 2 + 1", "8"],
    ["6 & 3 == 3", "0"],
    ["-7 / 2", "-3"],
    ["-7 % 3", "-1"],
    ["~0 & 0xff", "255"],
    ["!(3 > 2) || 1 == 1", "true"],
    ["0.5 + 1", "1.5"],
    ["7 / 2.0", "3.5"],
    ["18446744073709551615 % 10", "5"],
    // Names: lane 0 of the first block.
    ["ntid.x", "64"],
    ["%ntid.x == 64 && tid.x == 0", "true"],
    ["lane + warp + block", "0"],
    ["time", "1"],
    // 0x3f000000 is 0.5; a number is read as bits only where it has an address or a name.
    ["%t:f32", "0.0"],
    ["out == [0x40000000]:u64", "true"],
  ])("%s is %s", (text, expected) => {
    expect(value(text)).toBe(expected);
  });
});

describe("mistakes, at their place", () => {
  test.each([
    ["1 +", 3, 3],
    ["(1", 2, 2],
    ["1 2", 2, 3],
    ["%t:u31", 3, 6],
    ["1 / 0", 4, 5],
    ["[0]:u32", 0, 3],
    ["2 + %zz", 4, 7],
    ["1 ? 2", 2, 3],
    ["0.5 & 1", 0, 3],
    ["", 0, 0],
  ])("%s", (text, start, end) => {
    let found: unknown = null;
    try {
      session.evaluate(text);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(ExpressionError);
    expect((found as ExpressionError).span).toEqual({ start, end });
  });

  test("nesting has an end", () => {
    expect(() => session.evaluate("(".repeat(10_000))).toThrow("more than 64 levels");
    expect(() => session.evaluate("-".repeat(10_000))).toThrow("more than 64 levels");
  });
});

test("what changes is the register, and the time behind it", () => {
  const other = openSession("calls.json");
  finish(other.step({ kind: "into" }));
  other.assign("%t", "3");
  other.assign("%half", "2.5");
  expect(formatValue(other.evaluate("%t"))).toBe("3");
  expect(formatValue(other.evaluate("%half"))).toBe("2.5");
  expect(() => other.assign("3", "4")).toThrow("this cannot be given a value");
});

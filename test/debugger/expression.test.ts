import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arithmetic, comparisons, whole } from "../../src/debugger/expression/arithmetic.ts";
import { lanesWhere } from "../../src/debugger/expression/evaluate.ts";
import { parseExpression } from "../../src/debugger/expression/parse.ts";
import { ExpressionError } from "../../src/debugger/expression/tree.ts";
import { formatValue } from "../../src/debugger/view/value.ts";
import { finish, openSession } from "./jobs.ts";

const session = openSession("calls.json");
for (let i = 0; i < 4; i++) finish(session.step({ kind: "into" }));
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
    // Names, in lane 0 of the first block.
    ["ntid.x", "64"],
    ["%ntid.x == 64 && tid.x == 0", "true"],
    ["lane + warp + block", "0"],
    ["time", "4"],
    // 0x3f000000 is 0.5; only a number with an address or a name can be read as bits.
    ["%t:f32", "0.0"],
    ["out == [0x40000000]:u64", "true"],
    // Registers are integers, whatever JavaScript represents them as.
    ["-ntid.x", "-64"],
    ["~ntid.x", "-65"],
    ["ntid.x / 5", "12"],
    ["ntid.x * 0x100000001 * 16", "4398046512128"],
    ["(ntid.x << 58) >> 58", "64"],
    ["%half:b32 >> 16", "16128"],
    ["%half + ntid.x", "64.5"],
  ])("%s is %s", (text, expected) => {
    expect(value(text)).toBe(expected);
  });
});

describe("mistakes are marked at their place", () => {
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

  test("nesting is limited", () => {
    expect(() => session.evaluate("(".repeat(10_000))).toThrow("more than 64 levels");
    expect(() => session.evaluate("-".repeat(10_000))).toThrow("more than 64 levels");
  });
});

test("an assignment changes the register and the time after it", () => {
  const other = openSession("calls.json");
  finish(other.step({ kind: "into" }));
  other.assign("%t", "3");
  other.assign("%half", "2.5");
  expect(formatValue(other.evaluate("%t"))).toBe("3");
  expect(formatValue(other.evaluate("%half"))).toBe("2.5");
  other.assign("%half:u16", "0xffff");
  expect(formatValue(other.evaluate("%half:b32"), "hex")).toBe("0x4020ffff");
  for (const nowhere of ["3", "%t[1]", "%odd[1]", "%t:u64", "[8]:u32"]) {
    expect(() => other.assign(nowhere, "4"), nowhere).toThrow("this cannot be given a value");
  }
});

test("integer arithmetic agrees with BigInt, whichever path computes it", () => {
  const big = fc.oneof(fc.bigInt(-(2n ** 70n), 2n ** 70n), fc.bigInt(-(2n ** 33n), 2n ** 33n), fc.bigInt(-9n, 9n));
  const plain = {
    "+": (a: bigint, b: bigint) => a + b,
    "-": (a: bigint, b: bigint) => a - b,
    "*": (a: bigint, b: bigint) => a * b,
    "/": (a: bigint, b: bigint) => (b === 0n ? 0n : a / b),
    "%": (a: bigint, b: bigint) => (b === 0n ? 0n : a % b),
    "&": (a: bigint, b: bigint) => a & b,
    "|": (a: bigint, b: bigint) => a | b,
    "^": (a: bigint, b: bigint) => a ^ b,
  };
  fc.assert(
    fc.property(big, big, (a, b) => {
      for (const [name, expected] of Object.entries(plain)) {
        if (b === 0n && (name === "/" || name === "%")) continue;
        expect(BigInt(arithmetic[name as keyof typeof plain](whole(a), whole(b)))).toBe(expected(a, b));
      }
      expect(comparisons["<"](whole(a), whole(b))).toBe(a < b);
      expect(comparisons["=="](whole(a), whole(b))).toBe(a === b);
    }),
    { numRuns: 300 },
  );
});

describe("variables that a function declares can be named there", () => {
  const tile = openSession("tile.json");
  finish(tile.goTo(7));
  const of = (text: string): string => formatValue(tile.evaluate(text));

  test.each([
    ["numbers", "139706747060224 (0x00007f1003080000)"],
    ["tile.numbers == numbers", "true"],
    ["[numbers + 4 * 31]:u32", "31"],
    ["mine[1]:u32", "0"],
    ["tile", "1342177280 (0x0000000050000000)"],
  ])("%s", (text, expected) => {
    expect(of(text)).toBe(expected);
  });

  test("misspelt names are corrected", () => {
    expect(() => of("numbrs")).toThrow("there is no numbrs here; did you mean numbers?");
  });
});

describe("variables of C++ have their names in the source", () => {
  const scopes = openSession("scopes.json");
  const of = (text: string): string => formatValue(scopes.evaluate(text));

  test.each([
    ["[ns::table + 4]:u32", "20"],
    ["[table]:u32", "10"],
    ["[ns::inner::limit]:u32", "7"],
    ["_ZN2ns5tableE == ns::table", "true"],
    // The name as it is in the program comes before those of C++.
    ["[limit]:u32", "9"],
  ])("%s", (text, expected) => expect(of(text)).toMatch(new RegExp(`^${expected}\\b`)));

  test("one that there is not", () => expect(() => of("ns::tabel")).toThrow("there is no ns::tabel here"));
});

test("a condition is evaluated for the lanes that arrive, each with its own values", () => {
  const { scope } = session;
  const where = (text: string, lanes = -1): number => lanesWhere(parseExpression(text), scope, lanes);
  expect(where("%t % 5 == 2")).toBe((1 << 2) | (1 << 7) | (1 << 12) | (1 << 17) | (1 << 22) | (1 << 27));
  expect(where("laneid > 29")).toBe(3 << 30);
  expect(where("%odd", 0xff)).toBe(0xaa);
  // Memory that has not been written; the low half of 0x3f000000.
  expect(where("%half:u16 == 0 && [out + 4 * lane]:u32 == 0", 0b101)).toBe(0b101);
  expect(where("[out]:u32 != 0")).toBe(0);
});

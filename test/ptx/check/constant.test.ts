import { describe, expect, test } from "vitest";
import { evaluateConstant } from "../../../src/ptx/check/constant.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { SourceText } from "../../../src/source/index.ts";

/** The value as `kind value`, or the message reported. */
function evaluate(text: string): string {
  const { tree } = parsePtx(new SourceText("c.ptx", `.global .b64 g = ${text};`));
  const [item] = tree.items;
  const expr = item?.kind === "variable" ? item.declarators[0]?.initializer : null;
  if (!expr || expr.kind === "initializer-list" || expr.kind === "initializer-field")
    throw new Error(`no value: ${text}`);
  let problem = "none";
  const value = evaluateConstant(expr, (_, message) => {
    problem = message;
  });
  if (value === null) return problem;
  return value.kind === "float" ? `f${value.width} ${value.value}` : `${value.unsigned ? "u64" : "s64"} ${value.value}`;
}

const all = 0xffff_ffff_ffff_ffffn;

// Types and values according to 4.5.1 to 4.5.6.
describe("constant expressions", () => {
  test.each([
    ["42", "s64 42"],
    ["0x1234", "s64 4660"],
    ["0123", "s64 83"],
    ["0xfabc123400000000", `u64 ${0xfabc_1234_0000_0000n}`],
    ["42U", "u64 42"],
    ["+123", "s64 123"],
    ["-(-42)", "s64 42"],
    ["-1U", `u64 ${all}`],
    ["-0xfabc123400000000", `u64 ${0x0543_edcc_0000_0000n}`],
    ["!5", "s64 0"],
    ["!0U", "s64 1"],
    ["~0", `u64 ${all}`],
    ["1 + 2 * 3", "s64 7"],
    ["1 - 2", "s64 -1"],
    ["1U - 2", `u64 ${all}`],
    ["-7 / 2", "s64 -3"],
    ["-7 / 2U", `u64 ${(all - 6n) / 2n}`],
    // "Remainder (%) interprets the operands as unsigned."
    ["-7 % 10", `s64 ${(all - 6n) % 10n}`],
    ["-8 >> 1", "s64 -4"],
    ["0xfffffffffffffff8 >> 1", `u64 ${0x7fff_ffff_ffff_fffcn}`],
    ["1 << 63", `s64 ${-(1n << 63n)}`],
    // As in the object files of ptxas 13.0; the manual says nothing of these.
    ["1 << 64", "s64 1"],
    ["5U << 0x83", "u64 40"],
    ["-1 >> 1000", "s64 -1"],
    ["0x7fffffffffffffff >> 2147483648", "s64 9223372036854775807"],
    ["1 << -1", `s64 ${-(1n << 63n)}`],
    ["6 & 3 | 8 ^ 1", "s64 11"],
    ["2U && 0", "s64 0"],
    ["0 || 3U", "s64 1"],
    ["-1 < 1", "s64 1"],
    ["-1 < 1U", "s64 0"],
    ["1 == 1U", "s64 1"],
    ["(.u64)-1 > 0", "s64 1"],
    ["(.s64)0xffffffffffffffff", "s64 -1"],
    ["1 ? 2 : 3U", "u64 2"],
    ["0 ? 2.5 : 3.5", "f64 3.5"],
    ["1.5 * 2.0 + 1.0", "f64 4"],
    ["1.0 / 0.0", "f64 Infinity"],
    ["1.0 < 2.0", "s64 1"],
    ["-0.0", "f64 0"],
    ["0f3F800000", "f32 1"],
    ["0d4000000000000000", "f64 2"],
    ["WARP_SZ * 2", "none"],
    ["0x7fffffffffffffff + 1", `s64 ${-(1n << 63n)}`],
    ["0x8000000000000000 * 2", "u64 0"],
    ["1 / 0", "division by zero in a constant expression"],
    ["1 % 0", "division by zero in a constant expression"],
    ["1 + 2.0", "integer and floating-point constants cannot be mixed"],
    ["1 ? 2 : 3.0", "integer and floating-point constants cannot be mixed"],
    ["~1.0", "'~' takes integers, but this is floating-point"],
    ["1.0 % 2.0", "'%' takes integers, but this is floating-point"],
    ["1.0 ? 2 : 3", "the condition of `?:` takes integers, but this is floating-point"],
    ["-0f3F800000", "a 0f constant cannot be part of an expression"],
  ])("%s", (text, wanted) => {
    expect(evaluate(text)).toBe(wanted);
  });
});

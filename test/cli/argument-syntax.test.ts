import { describe, expect, test } from "vitest";
import { parseArgument, parseDim, parseOutput } from "../../src/cli/options/argument-syntax.ts";
import { writeNumpy } from "../../src/runtime/data/npy.ts";

const files: Readonly<Record<string, Uint8Array>> = {
  "x.npy": writeNumpy({ type: "s32", shape: [2], bytes: new Uint8Array([1, 0, 0, 0, 255, 255, 255, 255]) }),
  "x.bin": new Uint8Array(8),
};

const parse = (text: string) => parseArgument(text, (path) => files[path]!);

describe("scalars", () => {
  test.each([
    ["42", null, 42],
    ["-1", null, -1],
    ["0xff", null, 255],
    ["1.5", null, 1.5],
    [".5", null, 0.5],
    ["-inf", null, -Infinity],
    ["u64:0xff", "u64", 255],
    ["u64:18446744073709551615", "u64", 0xffff_ffff_ffff_ffffn],
    ["f32:1e-3", "f32", 1e-3],
    ["f32:nan", "f32", NaN],
    ["s8:-128", "s8", -128],
  ])("%s", (text, type, value) => {
    expect(parse(text)).toEqual({ kind: "scalar", spec: { kind: "scalar", type, value } });
  });
});

describe("buffers", () => {
  test.each([
    ["f32[1024]", "f32", 1024, { gen: "zero" }],
    ["f32[4]=iota", "f32", 4, { gen: "iota", start: 0, step: 1 }],
    ["f64[4]=fill:2", "f64", 4, { gen: "fill", value: 2 }],
    ["s32[4]=lcg:7", "s32", 4, { gen: "lcg", seed: 7, lo: 0, hi: 1, mod: null, add: 0, scale: 1 }],
    ["@x.npy", "s32", 2, { gen: "bytes", data: new Uint8Array([1, 0, 0, 0, 255, 255, 255, 255]) }],
    [
      "s64@x.npy",
      "s64",
      2,
      { gen: "bytes", data: new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0].concat(Array(8).fill(255))) },
    ],
    ["f32@x.bin", "f32", 2, { gen: "bytes", data: new Uint8Array(8) }],
  ])("%s", (text, type, n, init) => {
    expect(parse(text)).toEqual({ kind: "buffer", spec: { type, n, init, sha256: null } });
  });
});

describe("refused", () => {
  test.each([
    ["x", "--arg x: expected a number"],
    ["f31:1", '--arg f31:1: there is no type "f31"'],
    ["s8:256", "256 does not fit s8"],
    ["u32:1.5", "1.5 is no integer, which u32 holds"],
    ["f32[9999999999]", "a buffer of f32 has at most 536870911 elements"],
    ["s32[4]=fill:1.5", "1.5 is no integer, which s32 holds"],
    ["s32[4]=noise", 'buffers are filled by zero, iota, fill:V or lcg:SEED, not "noise"'],
    ["s32[4]=lcg:-1", "a seed is an integer of 32 bits"],
    ["@x.bin", "raw bytes need a type, as in f32@x.bin"],
    ["u8[2]=fill:x", '"x" is no number'],
    ["", "expected a number"],
  ])("%s", (text, message) => expect(() => parse(text)).toThrow(message));
});

test("sizes and outputs", () => {
  expect(parseDim("grid", "16")).toEqual([16, 1, 1]);
  expect(parseDim("grid", "16,2,3")).toEqual([16, 2, 3]);
  for (const text of ["0", "1,2,3,4", "x", "-1", "1,,2", ""]) expect(() => parseDim("grid", text)).toThrow("--grid");
  expect(parseOutput("3=a=b.npy")).toEqual({ argument: 3, path: "a=b.npy" });
  expect(() => parseOutput("y.npy")).toThrow("expected N=FILE");
});

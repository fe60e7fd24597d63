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
    ["f32[4]=1,2,3,4", "f32", 4, { gen: "list", values: [1, 2, 3, 4] }],
    ["f32[]=1,-2.5,nan", "f32", 3, { gen: "list", values: [1, -2.5, NaN] }],
    ["u64=1,0xffffffffffffffff", "u64", 2, { gen: "list", values: [1, 0xffff_ffff_ffff_ffffn] }],
    ["s32[1]=7", "s32", 1, { gen: "list", values: [7] }],
  ])("%s", (text, type, n, init) => {
    expect(parse(text)).toEqual({ kind: "buffer", spec: { type, n, init, sha256: null } });
  });
});

/** Layouts as g++ and nvcc have them (x86-64): `sizeof` and `offsetof` of the struct in the comment. */
describe("structs", () => {
  test.each([
    // struct { float a; unsigned long b; }
    ["{f32:1, u64:2}", "0000803f00000000" + "0200000000000000", []],
    // struct { char a; short b; char c; }
    ["{u8:1,u16:2,u8:3}", "010002000300", []],
    // struct { struct { char a; int b; } s; char c; }
    ["{{u8:1,u32:2},u8:3}", "010000000200000003000000", []],
    // struct { int a; float4 b; }
    ["{s32:1,f32v:1,2,3,4}", `01000000${"00".repeat(12)}0000803f000000400000404000008040`, []],
    // struct { int a; float b[4]; }
    ["{s32:1,f32:1,2,3,4}", "010000000000803f000000400000404000008040", []],
    // struct { char a; float3 b; }
    ["{u8:1,f32v:1,2,3}", "010000000000803f0000004000004040", []],
    // struct { int n; float* x; }
    ["{u32:16,f32[16]=iota}", `10000000${"00".repeat(12)}`, [8]],
    // struct { float* x; float* y; char n; }
    ["{f32[]=1,2,f32[2],u8:9}", `${"00".repeat(16)}09${"00".repeat(7)}`, [0, 8]],
    ["{bytes:0a0b,u8:1}", "0a0b01", []],
  ])("%s", (text, hex, pointers) => {
    const argument = parse(text);
    if (argument.kind !== "struct") throw new Error(argument.kind);
    expect(Buffer.from(argument.spec.bytes).toString("hex")).toBe(hex);
    expect(argument.spec.pointers.map(({ at }) => at)).toEqual(pointers);
  });

  test("bytes are given as they are", () => {
    const bytes = (data: Uint8Array) => ({ kind: "vector", spec: { kind: "bytes", bytes: data, pointers: [] } });
    expect(parse("bytes:00ff12")).toEqual(bytes(new Uint8Array([0, 255, 18])));
    expect(parse("bytes@x.bin")).toEqual(bytes(new Uint8Array(8)));
  });
});

describe("refused", () => {
  test.each([
    ["x", "--arg x: expected a number"],
    ["f31:1", '--arg f31:1: there is no type "f31"'],
    ["s8:256", "256 does not fit s8"],
    ["u32:1.5", "1.5 is not an integer, which u32 holds"],
    ["f32[9999999999]", "a buffer of f32 has at most 536870911 elements"],
    ["s32[4]=fill:1.5", "1.5 is not an integer, which s32 holds"],
    ["s32[4]=noise", 'buffers are filled by zero, iota, fill:V, lcg:SEED or a list, not "noise"'],
    ["s32[4]=lcg:-1", "a seed is an integer of 32 bits"],
    ["@x.bin", "raw bytes need a type, as in f32@x.bin"],
    ["u8[2]=fill:x", '"x" is not a number'],
    ["", "expected a number"],
    ["f32[4]=1", "1 value for 4 elements; f32[4]=fill:1 repeats it"],
    ["f32[2]=1,2,3", "3 values for 2 elements"],
    ["f32[]=iota", "how many elements? As in f32[1024]=iota"],
    ["u8[]=1,256", "256 does not fit u8"],
    ["float[4]", 'there is no type "float"; did you mean f32?'],
    ["s32[4]=ioto", "did you mean iota?"],
    ["{1,2}", "a number has a type there, as in f32:1 or u64:2"],
    ["{f32:1", "a struct ends with }"],
    ["{f32:1,{u8:1}", "a } is missing"],
    ["{f32:1}}", "there is a } too many"],
    ["{}", "a struct has members"],
    ["{f32:1,,u8:2}", "a member is missing before a comma"],
    [`${"{".repeat(40)}u8:1${"}".repeat(40)}`, "structs lie within each other more than 32 deep"],
    ["bytes:0", "expected pairs of hexadecimal digits"],
  ])("%s", (text, message) => expect(() => parse(text)).toThrow(message));
});

test("sizes and outputs", () => {
  expect(parseDim("grid", "16")).toEqual([16, 1, 1]);
  expect(parseDim("grid", "16,2,3")).toEqual([16, 2, 3]);
  expect(parseDim("grid", "16x2")).toEqual([16, 2, 1]);
  expect(parseDim("grid", "16x2x3")).toEqual([16, 2, 3]);
  for (const text of ["0", "1,2,3,4", "x", "-1", "1,,2", ""]) expect(() => parseDim("grid", text)).toThrow("--grid");
  expect(parseOutput("3=a=b.npy")).toEqual({ of: { argument: 3, byte: null }, path: "a=b.npy" });
  expect(parseOutput("0+16=y.npy")).toEqual({ of: { argument: 0, byte: 16 }, path: "y.npy" });
  expect(parseOutput("sum=y.npy")).toEqual({ of: "sum", path: "y.npy" });
  expect(() => parseOutput("y.npy")).toThrow("expected N=FILE");
});

import { expect, test } from "vitest";
import { bufferMisfit, parameterType, parameterTypes } from "../../src/runtime/data/parameter-type.ts";
import type { ElementType } from "../../src/runtime/data/element.ts";

test.each([
  ["float const*", "pointer", "f32"],
  ["double*", "pointer", "f64"],
  ["int const volatile*", "pointer", "s32"],
  ["unsigned long*", "pointer", "u64"],
  ["__half*", "pointer", "f16"],
  ["__half2 const*", "pointer", "f16"],
  ["__nv_bfloat162*", "pointer", "bf16"],
  ["float4*", "pointer", "f32"],
  ["double4_32a*", "pointer", "f64"],
  ["ulonglong2*", "pointer", "u64"],
  ["uchar4*", "pointer", null],
  ["char*", "pointer", null],
  ["bool*", "pointer", null],
  ["void*", "pointer", null],
  ["float**", "pointer", null],
  ["Parameters const*", "pointer", null],
  ["float5*", "pointer", null],
  ["float", "scalar", "f32"],
  ["bool", "scalar", "u8"],
  ["unsigned int", "scalar", "u32"],
  ["__nv_bfloat16", "scalar", "bf16"],
  ["Parameters", "other", null],
  ["float4", "other", null],
  ["float&", "other", null],
  ["int (*)(int)", "other", null],
])("%s", (text, kind, element) => {
  expect(parameterType(text)).toEqual({ text, kind, element });
});

test.each<[ElementType, string, boolean]>([
  ["f32", "float*", true],
  ["f64", "float*", false],
  ["f16", "float*", false],
  ["u32", "float*", false],
  ["f32", "int*", false],
  ["u32", "int*", true],
  ["s32", "unsigned int*", true],
  ["s64", "int*", false],
  ["u16", "__half*", true],
  ["s16", "__nv_bfloat16*", true],
  ["bf16", "__half*", false],
  ["f16", "unsigned short*", false],
  ["u8", "float*", true],
  ["f64", "void*", true],
  ["f64", "char const*", true],
  ["f32", "float4*", true],
  ["f64", "float4*", false],
  ["f64", "Parameters*", true],
  ["f64", "Parameters", true],
])("a buffer of %s for %s: %s", (given, text, fits) => {
  expect(bufferMisfit(given, parameterType(text)) === null).toBe(fits);
});

test("types are known only if they fit the parameters", () => {
  expect(parameterTypes("_Z5scaleIfEvPT_S0_i", [8, 4, 4])?.map(({ element }) => element)).toEqual([
    "f32",
    "f32",
    "s32",
  ]);
  for (const sizes of [[8, 4], [8, 8, 4], [2, 4, 4], []])
    expect(parameterTypes("_Z5scaleIfEvPT_S0_i", sizes)).toBeNull();
  expect(parameterTypes("scale", [8, 4, 4])).toBeNull();
});

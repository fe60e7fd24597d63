import type { ElementType } from "./element.ts";

/** The types of numbers that CUDA's vectors and OpenCL C name alike. */
export const cTypes = {
  char: "s8",
  uchar: "u8",
  short: "s16",
  ushort: "u16",
  int: "s32",
  uint: "u32",
  long: "s64",
  ulong: "u64",
  float: "f32",
  double: "f64",
} as const satisfies Readonly<Record<string, ElementType>>;

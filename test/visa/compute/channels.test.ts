import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { DataType } from "../../../src/visa/types.ts";
import { type Register, run } from "../memory/machine.ts";

/**
 * Kernels of a few instructions, whose registers are checked at the end. Rows: text, the registers' contents before,
 * and after.
 */

const arrays = {
  ud: Uint32Array,
  d: Int32Array,
  uw: Uint16Array,
  w: Int16Array,
  ub: Uint8Array,
  b: Int8Array,
  f: Float32Array,
  df: Float64Array,
} as const;
type Held = keyof typeof arrays;
type Values = readonly [type: Held, ...values: number[]];

const register = ([type, ...values]: Values): Register => ({
  type: type as DataType,
  bytes: new Uint8Array(new arrays[type](values).buffer),
});

const valuesOf = (type: Held, bytes: Uint8Array): number[] => [...new arrays[type](bytes.slice().buffer)];

interface Example {
  readonly title: string;
  readonly text: string;
  readonly given: Readonly<Record<string, Values>>;
  readonly wanted: Readonly<Record<string, readonly number[]>>;
  readonly grfBytes?: 32 | 64;
  readonly width?: 16 | 32;
  readonly surfaceVariables?: Readonly<Record<string, number>>;
}

function check({ text, given, wanted, grfBytes = 32, width = 16, surfaceVariables = {} }: Example): void {
  const registers = Object.fromEntries(Object.entries(given).map(([name, values]) => [name, register(values)]));
  for (const generate of [true, false]) {
    const outcome = run({
      text: `    .decl P2 v_type=P num_elts=32\n    .decl P3 v_type=P num_elts=32\n    .decl A0 v_type=A num_elts=16\n${text}`,
      registers: () => registers,
      surfaceVariables,
      generate,
      grfBytes,
      width,
    });
    expect(outcome.reports).toEqual([]);
    for (const [name, values] of Object.entries(wanted)) {
      expect(valuesOf(given[name]![0], outcome.registers[name]!), name).toEqual(values);
    }
  }
}

const upTo = (n: number, f: (i: number) => number = (i) => i): number[] => Array.from({ length: n }, (_, i) => f(i));
const sixteen = upTo(16);

describe("regions and operands (5_operands.md)", () => {
  test.each<Example>([
    {
      title: "<v;w,h>: channel i reads element (i div w) * v + (i mod w) * h",
      text: "mov (M1, 8) D(0,0)<1> S(0,1)<4;2,1>",
      given: { S: ["d", ...sixteen], D: ["d", ...upTo(8, () => -1)] },
      wanted: { D: [1, 2, 5, 6, 9, 10, 13, 14] },
    },
    {
      title: "a destination's stride",
      text: "mov (M1, 4) D(0,1)<2> S(0,0)<1;1,0>",
      given: { S: ["d", 5, 6, 7, 8], D: ["d", ...upTo(8, () => -1)] },
      wanted: { D: [-1, 5, -1, 6, -1, 7, -1, 8] },
    },
    {
      title: "rows are registers, columns elements; of 64 bytes on PVC",
      text: "mov (M1, 4) D(1,1)<1> S(0,0)<1;1,0>",
      given: { S: ["w", 5, 6, 7, 8], D: ["w", ...upTo(40, () => -1)] },
      wanted: { D: [...upTo(33, () => -1), 5, 6, 7, 8, -1, -1, -1] },
      grfBytes: 64,
    },
    {
      title: "channels of M3 are 8 to 15, and elements count from the operand's first",
      text: "mov (M3, 8) D(0,0)<1> S(0,0)<1;1,0>",
      given: { S: ["d", ...upTo(8)], D: ["d", ...upTo(8, () => -1)] },
      wanted: { D: upTo(8) },
    },
    {
      title: "an instruction reads all sources before it writes",
      text: "mov (M1, 8) D(0,1)<1> D(0,0)<1;1,0>",
      given: { D: ["d", ...upTo(9)] },
      wanted: { D: [0, 0, 1, 2, 3, 4, 5, 6, 7] },
    },
    {
      title: "V is a vector of 8 signed words, repeated",
      text: "mov (M1, 16) D(0,0)<1> 0xfedcba98:v",
      given: { D: ["w", ...upTo(16, () => 99)] },
      wanted: { D: [-8, -7, -6, -5, -4, -3, -2, -1, -8, -7, -6, -5, -4, -3, -2, -1] },
    },
    {
      title: "UV is a vector of 8 unsigned words",
      text: "add (M3, 8) D(0,0)<1> 0x76543210:uv 100:w",
      given: { D: ["w", ...upTo(8, () => 99)] },
      wanted: { D: upTo(8, (i) => 100 + i) },
    },
    {
      title: "VF is a vector of 4 restricted floats",
      text: "mov (M1, 4) D(0,0)<1> 0x80483830:vf",
      given: { D: ["f", ...upTo(4, () => 99)] },
      wanted: { D: [1, 1.5, 3, -0] },
    },
    {
      title: "r[A(k),off]<v;w,h>: one address for a region",
      text: ["addr_add (M1_NM, 1) A0(2)<1> &S 8:uw", "mov (M1, 4) D(0,0)<1> r[A0(2),4]<2;1,0>:d"].join("\n"),
      given: { S: ["d", ...sixteen], D: ["d", ...upTo(4, () => -1)] },
      wanted: { D: [3, 5, 7, 9] },
    },
    {
      title: "r[A(k),off]<w,h>: an address for each row",
      text: [
        "addr_add (M1_NM, 1) A0(0)<1> &S 16:uw",
        "addr_add (M1_NM, 1) A0(1)<1> &S[4] 0:uw",
        "mov (M1, 4) D(0,0)<1> r[A0(0),0]<2,1>:d",
      ].join("\n"),
      given: { S: ["d", ...sixteen], D: ["d", ...upTo(4, () => -1)] },
      wanted: { D: [4, 5, 1, 2] },
    },
    {
      title: "an indirect destination",
      text: ["addr_add (M1_NM, 1) A0(0)<1> &D 8:uw", "mov (M1, 2) r[A0(0),0]<2>:d S(0,0)<1;1,0>"].join("\n"),
      given: { S: ["d", 7, 8], D: ["d", ...upTo(8, () => -1)] },
      wanted: { D: [-1, -1, 7, -1, 8, -1, -1, -1] },
    },
    {
      title: "addr_add of a vector of offsets, and of a negative one",
      text: [
        "addr_add (M1_NM, 4) A0(0)<1> &S V(0,0)<1;1,0>",
        "addr_add (M1_NM, 4) A0(4)<1> A0(0)<4> 0xfffc:uw",
        "mov (M1, 4) D(0,0)<1> r[A0(4),0]<1,0>:d",
      ].join("\n"),
      given: { S: ["d", ...sixteen], V: ["uw", 4, 16, 8, 60], D: ["d", ...upTo(4, () => -1)] },
      wanted: { D: [0, 3, 1, 14] },
    },
    {
      title: "writes to %null go nowhere, and it reads as 0",
      text: ["mov (M1, 16) %null(0,0)<1> S(0,0)<1;1,0>", "mov (M1, 2) D(0,0)<1> %null(0,0)<0;1,0>"].join("\n"),
      given: { S: ["ud", ...sixteen], D: ["ud", 9, 9, 9] },
      wanted: { D: [0, 0, 9] },
    },
  ])("$title", check);
});

describe("predicates", () => {
  const bits = (word: number): string => `setp (M1_NM, 32) P2 ${word}:ud`;
  const seen = (name = "P2"): string => `(${name}) sel (M1, 16) D(0,0)<1> 1:d 0:d`;
  const D: Values = ["d", ...upTo(16, () => 7)];
  const asBits = (word: number): number[] => upTo(16, (i) => (word >> i) & 1);
  test.each<Example>([
    {
      title: "SETP: each bit of a scalar, for the channels of the execution size",
      text: [bits(0), "setp (M1_NM, 8) P2 0xffa5:uw", seen()].join("\n"),
      given: { D },
      wanted: { D: asBits(0xa5) },
    },
    {
      title: "SETP: the upper half of the predicate",
      text: [bits(0), "setp (M5_NM, 16) P2 0xa5:uw", "(P2) sel (M5, 16) D(0,0)<1> 1:d 0:d"].join("\n"),
      given: { D },
      wanted: { D: asBits(0xa5) },
      width: 32,
    },
    {
      title: "SETP: the LSB of each element",
      text: ["setp (M1_NM, 16) P2 S(0,0)<1;1,0>", seen()].join("\n"),
      given: { S: ["ub", ...upTo(16, (i) => i * i + 2)], D },
      wanted: { D: upTo(16, (i) => i & 1) },
    },
    {
      title: "MOV: the predicate as an unsigned integer, element 0 in the LSB",
      text: [bits(0x8000_4321 | 0), "mov (M1_NM, 1) D(0,0)<1> P2"].join("\n"),
      given: { D: ["ud", 7, 7] },
      wanted: { D: [0x8000_4321, 7] },
    },
    {
      title: "AND, OR, XOR and NOT of predicates",
      text: [
        bits(0xff0f),
        "setp (M1_NM, 32) P3 0x0ff3:ud",
        "and (M1, 16) P3 P2 P3",
        "xor (M1, 16) P3 P3 P2",
        "not (M1, 16) P3 P3",
        "or (M1, 8) P3 P3 P2",
        seen("P3"),
      ].join("\n"),
      given: { D },
      wanted: { D: asBits(0x0fff) },
    },
    {
      title: "SEL with any and all: the channels of the instruction, then the inversion",
      text: [
        bits(0xff01),
        "(P2.any) sel (M1, 4) D(0,0)<1> 1:d 0:d",
        "(P2.all) sel (M1, 4) D(0,4)<1> 1:d 0:d",
        "(!P2.any) sel (M1, 4) D(1,0)<1> 1:d 0:d",
        "(P2.all) sel (M3, 4) D(1,4)<1> 1:d 0:d",
      ].join("\n"),
      given: { D },
      wanted: { D: [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1] },
    },
    {
      title: "CMP writes the channels of its execution size",
      text: [bits(0xffff), "cmp.gt (M1, 8) P2 S(0,0)<1;1,0> 3:d", seen()].join("\n"),
      given: { S: ["d", ...upTo(8)], D },
      wanted: { D: asBits(0xfff0) },
    },
  ])("$title", check);
});

describe("handles of surfaces", () => {
  test("MOVS: the index is written and read back", () =>
    check({
      title: "",
      text: ["movs (M1_NM, 1) T6(0) 0x5:ud", "movs (M1_NM, 1) T7(0) T6(0)", "movs (M1_NM, 1) D(0,1)<1> T7(0)"].join(
        "\n",
      ),
      given: { D: ["ud", 9, 9] },
      wanted: { D: [9, 5] },
      surfaceVariables: { T6: 0, T7: 0 },
    }));
});

describe("instructions over several elements", () => {
  const a = [1, 2, 3, 4, 0.5, 0.25, 2, 8];
  const b = [10, 20, 30, 40, 2, 4, 8, 1];
  const dot = (n: number, last = 0): number[] =>
    [0, 4].flatMap((g) => {
      let sum = last * b[g + 3]!;
      for (let i = 0; i < n; i++) sum += a[g + i]! * b[g + i]!;
      return [sum, sum, sum, sum];
    });
  const floats = { S: ["f", ...a], T: ["f", ...b], D: ["f", ...upTo(8, () => 99)] } as const satisfies Example["given"];
  const product = (name: string): string => `${name} (M1, 8) D(0,0)<1> S(0,0)<1;1,0> T(0,0)<1;1,0>`;
  test.each<Example>([
    { title: "DP2", text: product("dp2"), given: floats, wanted: { D: dot(2) } },
    { title: "DP3", text: product("dp3"), given: floats, wanted: { D: dot(3) } },
    { title: "DP4", text: product("dp4"), given: floats, wanted: { D: dot(4) } },
    {
      title: "DPH: 1 stands for src0's fourth component",
      text: product("dph"),
      given: floats,
      wanted: { D: dot(3, 1) },
    },
    {
      title: "LINE: src0.0 * src1 + src0.3",
      text: "line (M1, 8) D(0,0)<1> S(0,0)<0;1,0> T(0,0)<1;1,0>",
      given: { ...floats, S: ["f", 2, 99, 99, 0.5] },
      wanted: { D: b.map((x) => 2 * x + 0.5) },
    },
    {
      title: "PLANE (PLN): src0.0 * u + src0.1 * v + src0.3; u and v of channels 8 to 15 follow",
      text: "plane (M1, 16) D(0,0)<1> S(0,0)<0;1,0> T(0,0)<1;1,0>",
      given: { S: ["f", 2, 3, 99, 0.5], T: ["f", ...upTo(32)], D: ["f", ...upTo(16, () => 99)] },
      wanted: {
        D: upTo(16, (i) => {
          const u = (i >> 3) * 16 + (i & 7);
          return 2 * u + 3 * (u + 8) + 0.5;
        }),
      },
    },
    {
      // Its page says that regions are ignored, but GenX_IR for SKL moves operands to where the hardware needs them by
      // their regions.
      title: "LRP: operands by their regions",
      text: "lrp (M1, 4) D(0,0)<2> S(0,0)<2;1,0> T(0,4)<1;1,0> T(0,0)<0;1,0>",
      given: { ...floats, S: ["f", 0, 99, 1, 99, 0.5, 99, 0.25, 99] },
      wanted: { D: [10, 99, 4, 99, 9, 99, 7.75, 99] },
    },
    {
      title: "SAD2: |a0 - b0| + |a1 - b1| for the even channel of a pair, and here for the odd one too",
      text: "sad2 (M1, 4) D(0,0)<2> S(0,0)<1;1,0> T(0,0)<1;1,0>",
      given: { S: ["ub", 10, 200, 3, 255], T: ["ub", 20, 100, 255, 0], D: ["w", ...upTo(8, () => 0)] },
      wanted: { D: [110, 0, 110, 0, 507, 0, 507, 0] },
    },
    {
      title: "SAD2ADD adds src2",
      text: "sad2add.sat (M1, 2) D(0,0)<2> S(0,0)<1;1,0> T(0,0)<1;1,0> V(0,0)<1;1,0>",
      given: { S: ["ub", 10, 200], T: ["ub", 20, 100], V: ["w", 32700, 0], D: ["w", 0, 0] },
      wanted: { D: [32767, 0] },
    },
    {
      title: "MADW: low doublewords, and in the next registers high ones",
      text: "madw (M1, 8) D(0,0)<1> S(0,0)<1;1,0> S(0,0)<1;1,0> 1:d",
      given: { S: ["d", 0, 1, -1, 65536, -65536, 3, 0x7fff_ffff, -0x8000_0000], D: ["d", ...upTo(16, () => 9)] },
      wanted: { D: [1, 2, 2, 1, 1, 10, 2, 1, 0, 0, 0, 1, 1, 0, 0x3fff_ffff, 0x4000_0000] },
    },
    {
      title: "MADW with a stride: the high doublewords follow all low ones",
      text: "madw (M1, 8) D(0,0)<2> S(0,0)<1;1,0> S(0,0)<1;1,0> 1:d",
      given: { S: ["d", 0, 1, -1, 65536, -65536, 3, 0x7fff_ffff, -0x8000_0000], D: ["d", ...upTo(32, () => 9)] },
      wanted: {
        D: [1, 2, 2, 1, 1, 10, 2, 1, 0, 0, 0, 1, 1, 0, 0x3fff_ffff, 0x4000_0000].flatMap((word) => [word, 9]),
      },
    },
    {
      title: "MADW of unsigned doublewords; registers of 64 bytes leave a gap",
      text: "madw (M1, 2) D(0,0)<1> S(0,0)<1;1,0> S(0,0)<1;1,0> S(0,0)<1;1,0>",
      given: { S: ["ud", 0xffff_ffff, 2], D: ["ud", ...upTo(18, () => 9)] },
      wanted: { D: [0, 6, ...upTo(14, () => 9), 0xffff_ffff, 0] },
      grfBytes: 64,
    },
  ])("$title", check);
});

/*
 * Results of the pages' formulas for random operands, computed in Python with exact rationals and unbounded integers.
 * Sums of floats are chosen so that no step rounds, as the pages do not say how; the odd channels of SAD2, which they
 * leave undefined, are not written.
 */
describe("formulas.json", () => {
  const examples = JSON.parse(readFileSync(new URL("formulas.json", import.meta.url), "utf8")) as readonly Example[];
  test.each(examples)("$title", check);
});

test("%tsc counts clocks", () => {
  const { registers } = run({
    text: [
      "mov (M1_NM, 2) A(0,0)<1> %tsc(0,0)<1;1,0>",
      "mov (M1_NM, 2) B(0,0)<1> %tsc(0,0)<1;1,0>",
      "mov (M1_NM, 1) C(0,0)<1> %tsc(0,2)<0;1,0>",
    ].join("\n"),
    registers: () => ({ A: register(["ud", 9, 9]), B: register(["ud", 9, 9]), C: register(["ud", 9]) }),
  });
  const clock = (name: string): bigint => new BigUint64Array(registers[name]!.slice().buffer)[0]!;
  expect(clock("B")).toBeGreaterThan(clock("A"));
  expect(valuesOf("ud", registers["C"]!)).toEqual([0]);
});

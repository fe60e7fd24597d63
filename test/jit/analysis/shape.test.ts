import { describe, expect, test } from "vitest";
import type { LaunchShape } from "../../../src/jit/abi/launch-shape.ts";
import { Analysed, anyBlock, oneRow } from "./analysed.ts";

// How values vary over the 16 lanes of a chunk. In a block whose rows are whole chunks, lane l has %tid.x = base + l
// with a base that is a multiple of 16. All else follows from arithmetic modulo 2^32 and 2^64 (see
// src/jit/compile/analysis/values/linear-form.ts).

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x];\n";

const block = "mov.u32 %r1, %ctaid.x;";

const shapeOf = (body: string, register: string, shape: LaunchShape = oneRow) => {
  const code = new Analysed(`${begin}${body}\nret;`, shape);
  return code.analysis.register(code.number(register));
};

const uniform = { kind: "uniform" };
const aligned = (alignment: number) => ({ kind: "uniform", alignment });
const vector = { kind: "vector" };
const affine = (stride: number) => ({ kind: "affine", stride });
const threads = { kind: "affine", stride: 1, width: 16 };
const farThreads = { ...threads, isFar: true };
const multiples = (stride: number, above = 0) => ({ ...farThreads, stride, ...(above === 0 ? {} : { above }) });
const indexed = (scale: number, signed: boolean, stride: number | null) => ({ kind: "indexed", scale, signed, stride });

test.each([
  // Leaves.
  ["a parameter", "add.u32 %r1, %s0, 1;", "%r1", uniform],
  ["the thread's number", "", "%r0", threads],
  // A row is one y: the chunk lies in it.
  ["the number in another dimension", "mov.u32 %r1, %tid.y;", "%r1", uniform],
  [
    "what lanes load from addresses of their own",
    "mad.wide.u32 %x1, %r0, 4, %x0; ld.global.u32 %r1, [%x1];",
    "%r1",
    vector,
  ],
  ["what all lanes load from one address", "ld.global.u32 %r1, [%x0];", "%r1", uniform],
  // Rule 1: steps add up; what cancels leaves nothing.
  ["a sum with what is uniform", "add.u32 %r1, %r0, %s0;", "%r1", affine(1)],
  ["a sum of two numbers", "add.u32 %r1, %r0, %r0;", "%r1", affine(2)],
  ["a difference of two numbers", "add.u32 %r1, %r0, %s0; sub.u32 %r1, %r1, %r0;", "%r1", uniform],
  ["a number that goes down", "sub.u32 %r1, %s0, %r0;", "%r1", affine(-1)],
  // Rule 2: a factor has to be known; n * tid is affine, but its stride is not a number.
  ["a multiple", "mul.lo.u32 %r1, %r0, 12;", "%r1", affine(12)],
  ["a multiple that wraps around modulo 2^32", "mul.lo.u32 %r1, %r0, 0x40000001;", "%r1", affine(0x4000_0001)],
  ["a multiple by a parameter", "mul.lo.u32 %r1, %r0, %s0;", "%r1", vector],
  ["a square", "mul.lo.u32 %r1, %r0, %r0;", "%r1", vector],
  // Rule 3: by 31 the step is 2^31; by 32 PTX gives 0 in all lanes, which nothing here needs to know.
  ["a shift", "shl.b32 %r1, %r0, 4;", "%r1", multiples(16)],
  ["a shift by more than an address needs", "shl.b32 %r1, %r0, 5;", "%r1", affine(32)],
  ["a shift by 31", "shl.b32 %r1, %r0, 31;", "%r1", affine(2 ** 31)],
  ["a shift by 32", "shl.b32 %r1, %r0, 32;", "%r1", vector],
  ["a shift by what is not known", "shl.b32 %r1, %r0, %s0;", "%r1", vector],
  // Rule 5: extend(tid + n) is not linear, since tid + n may wrap around between two lanes.
  ["a zero extension", "cvt.u64.u32 %x1, %r0;", "%x1", indexed(1, false, 1)],
  ["a sign extension", "cvt.s64.s32 %x1, %r0;", "%x1", indexed(1, true, 1)],
  ["an element's address", "mad.wide.s32 %x1, %r0, 4, %x0;", "%x1", indexed(4, true, 1)],
  [
    "an address as a shift and a sum",
    "cvt.u64.u32 %x1, %r0; shl.b64 %x1, %x1, 3; add.u64 %x1, %x0, %x1;",
    "%x1",
    indexed(8, false, 1),
  ],
  ["an address that goes down", "mul.wide.u32 %x1, %r0, 4; sub.u64 %x1, %x0, %x1;", "%x1", vector],
  ["a product before it is extended", "mul.lo.u32 %r1, %r0, 8; cvt.u64.u32 %x1, %r1;", "%x1", indexed(1, false, 8)],
  ["an extended vector", "mul.lo.u32 %r1, %r0, %r0; mad.wide.u32 %x1, %r1, 4, %x0;", "%x1", indexed(4, false, null)],
  ["a sum of two indices", "cvt.u64.u32 %x1, %r0; add.u64 %x1, %x1, %x1;", "%x1", vector],
  ["a multiple with too large a scale", "cvt.u64.u32 %x1, %r0; shl.b64 %x1, %x1, 31;", "%x1", vector],
  // Rule 4: either extension leaves the low half alone, so the step comes back, modulo 2^32.
  ["the low half of an extension", "cvt.s64.s32 %x1, %r0; cvt.u32.u64 %r1, %x1;", "%r1", affine(1)],
  ["the low half of an address", "mad.wide.u32 %x1, %r0, 12, %x0; cvt.u32.u64 %r1, %x1;", "%r1", affine(12)],
  [
    "the low half of steps of 2^32",
    "mul.lo.u32 %r1, %r0, 0x10000; mul.wide.u32 %x1, %r1, 0x10000; cvt.u32.u64 %r1, %x1;",
    "%r1",
    uniform,
  ],
  // Rule 6.
  ["a function of uniform values", "xor.b32 %r1, %s0, 5;", "%r1", uniform],
  ["a function of a number", "xor.b32 %r1, %r0, 5;", "%r1", vector],
  // A chunk has 16 numbers from a multiple of 16 on: they differ in the low 4 bits alone.
  ["the number within a chunk", "and.b32 %r1, %r0, 15;", "%r1", threads],
  ["the number within half a chunk", "and.b32 %r1, %r0, 7;", "%r1", vector],
  ["bits above those", "and.b32 %r1, %r0, 0x30;", "%r1", aligned(16)],
  ["the number of a chunk", "shr.u32 %r1, %r0, 4;", "%r1", uniform],
  ["the number of half a chunk", "shr.u32 %r1, %r0, 3;", "%r1", vector],
  ["the number of a chunk, counted from 1", "add.u32 %r1, %r0, 1; shr.u32 %r1, %r1, 4;", "%r1", vector],
  ["below a multiple of 16", "setp.lt.u32 %p1, %r0, 48;", "%p1", uniform],
  ["at most a multiple of 16", "setp.le.u32 %p1, %r0, 48;", "%p1", vector],
  ["at most one less", "setp.le.u32 %p1, %r0, 47;", "%p1", uniform],
  ["above one less", "setp.gt.u32 %p1, %r0, 47;", "%p1", uniform],
  ["a sum below what is a multiple of 16 more", "add.u32 %r1, %r0, 127; setp.lt.u32 %p1, %r1, 255;", "%p1", uniform],
  ["a sum below anything else", "add.u32 %r1, %r0, 127; setp.lt.u32 %p1, %r1, 256;", "%p1", vector],
  ["a difference below a number with a sign", "add.s32 %r1, %r0, -5; setp.lt.s32 %p1, %r1, 11;", "%p1", uniform],
  // Thread 4 has 2^32 - 1, thread 5 has 0.
  ["a difference below one without", "add.s32 %r1, %r0, -5; setp.lt.u32 %p1, %r1, 11;", "%p1", vector],
  [
    "a difference of whole chunks below one without",
    "add.s32 %r1, %r0, -32; setp.lt.u32 %p1, %r1, 16;",
    "%p1",
    uniform,
  ],
  ["the bits of a sum", "add.u32 %r1, %r0, 8; shr.u32 %r2, %r1, 4;", "%r2", vector],
  // Four times the numbers: 64 k to 64 k + 60 in steps of four.
  ["a multiple and a constant", "mad.lo.u32 %r1, %r0, 4, 70;", "%r1", multiples(4, 6)],
  ["a multiple and one of what the chunk spans", "mad.lo.u32 %r1, %r0, 4, 128;", "%r1", multiples(4)],
  ["a multiple below one of 64", "shl.b32 %r1, %r0, 2; setp.lt.u32 %p1, %r1, 128;", "%p1", uniform],
  ["below one that is between two chunks", "shl.b32 %r1, %r0, 2; setp.lt.u32 %p1, %r1, 125;", "%p1", uniform],
  ["below the last lane's", "shl.b32 %r1, %r0, 2; setp.lt.u32 %p1, %r1, 124;", "%p1", vector],
  ["at most the last lane's", "shl.b32 %r1, %r0, 2; setp.le.u32 %p1, %r1, 124;", "%p1", uniform],
  ["below the second lane's", "shl.b32 %r1, %r0, 2; setp.lt.u32 %p1, %r1, 66;", "%p1", vector],
  ["a multiple that may wrap around", "mad.lo.s32 %r1, %r0, 4, 6; setp.lt.s32 %p1, %r1, 70;", "%p1", vector],
  ["what all lanes' multiples have", "shl.b32 %r1, %r0, 2; shr.u32 %r2, %r1, 6;", "%r2", uniform],
  ["what they do not have", "shl.b32 %r1, %r0, 2; shr.u32 %r2, %r1, 5;", "%r2", vector],
  ["the low bits of multiples", "shl.b32 %r1, %r0, 2; and.b32 %r2, %r1, 63;", "%r2", multiples(4)],
  ["three times a number", "mul.lo.u32 %r1, %r0, 3; setp.lt.u32 %p1, %r1, 48;", "%p1", vector],
  ["the bits of a sum with whole chunks", "add.u32 %r1, %r0, 48; shr.u32 %r2, %r1, 4;", "%r2", uniform],
  [
    "a quotient, as of a number with a sign",
    "shr.s32 %r1, %r0, 31; shr.u32 %r2, %r1, 28; add.s32 %r3, %r0, %r2; shr.s32 %r4, %r3, 4;",
    "%r4",
    uniform,
  ],
  ["below anything", "setp.lt.u32 %p1, %r0, %s0;", "%p1", vector],
  // Global indices: what all lanes share is a multiple of 16, as is the size of blocks that consist of whole chunks.
  ["a global index", `${block} mad.lo.u32 %r2, %r1, 64, %r0;`, "%r2", farThreads],
  ["one of blocks of half a chunk", `${block} mad.lo.u32 %r2, %r1, 8, %r0;`, "%r2", affine(1)],
  [
    "the number of its chunk in the grid",
    `${block} mad.lo.u32 %r2, %r1, 64, %r0; shr.u32 %r2, %r2, 4;`,
    "%r2",
    uniform,
  ],
  ["where its chunk begins", `${block} mad.lo.u32 %r2, %r1, 48, %r0; and.b32 %r2, %r2, -16;`, "%r2", aligned(16)],
  [
    "its number less where its chunk begins",
    `${block} mad.lo.u32 %r2, %r1, 48, %r0; and.b32 %r3, %r2, -16; sub.u32 %r2, %r2, %r3;`,
    "%r2",
    farThreads,
  ],
  ["its number within the chunk", `${block} mad.lo.u32 %r2, %r1, 48, %r0; and.b32 %r2, %r2, 15;`, "%r2", threads],
  [
    "its chunk and what is added",
    `${block} mad.lo.u32 %r2, %r1, 48, %r0; add.u32 %r2, %r2, 3;`,
    "%r2",
    { ...farThreads, above: 3 },
  ],
  // It may be 2^31 - 16, so that the sums of the last lanes are negative.
  [
    "a sum of it below a number",
    `${block} mad.lo.u32 %r2, %r1, 48, %r0; add.u32 %r2, %r2, 3; setp.lt.s32 %p1, %r2, 19;`,
    "%p1",
    vector,
  ],
  [
    "it, below what is a multiple",
    `${block} mad.lo.u32 %r2, %r1, 48, %r0; shl.b32 %r3, %s0, 4; setp.lt.s32 %p1, %r2, %r3;`,
    "%p1",
    uniform,
  ],
  [
    "it, at most a multiple",
    `${block} mad.lo.u32 %r2, %r1, 48, %r0; shl.b32 %r3, %s0, 4; setp.le.s32 %p1, %r2, %r3;`,
    "%p1",
    vector,
  ],
  // Alignment.
  ["a multiple by an even number", "mul.lo.u32 %r1, %s0, 24;", "%r1", aligned(8)],
  ["a sum of multiples", "mul.lo.u32 %r1, %s0, 24; shl.b32 %r2, %s0, 2; sub.u32 %r1, %r1, %r2;", "%r1", aligned(4)],
  [
    "a product of multiples",
    "mul.lo.u32 %r1, %s0, 24; shl.b32 %r2, %s0, 1; mul.lo.u32 %r1, %r1, %r2;",
    "%r1",
    aligned(16),
  ],
  ["a multiple divided", "mul.lo.u32 %r1, %s0, 24; shr.u32 %r1, %r1, 2;", "%r1", aligned(2)],
  ["a multiple with other bits", "mul.lo.u32 %r1, %s0, 24; or.b32 %r1, %r1, 4;", "%r1", aligned(4)],
  ["a multiple masked", "mul.lo.u32 %r1, %s0, 24; and.b32 %r1, %r1, 0xf2;", "%r1", aligned(8)],
  ["a multiple in 64 bits", "mul.lo.u32 %r1, %s0, 24; cvt.s64.s32 %x1, %r1;", "%x1", aligned(8)],
  [
    "what lies at a multiple",
    "mul.lo.u32 %r1, %s0, 24; cvt.s64.s32 %x1, %r1; ld.global.u32 %r1, [%x1];",
    "%r1",
    uniform,
  ],
  // Half of a register of 32 bits is no base that strides could be added to.
  ["16 bits of a number", "cvt.u16.u32 %h1, %r0;", "%h1", vector],
])("%s", (_, body, register, shape) => {
  expect(shapeOf(body, register)).toEqual(shape);
});

test("in blocks that are not rows of chunks a thread's numbers may be anything", () => {
  expect(shapeOf("", "%r0", anyBlock)).toEqual(vector);
  expect(shapeOf("mov.u32 %r1, %tid.y;", "%r1", anyBlock)).toEqual(vector);
  expect(shapeOf("mov.u32 %r1, %laneid;", "%r1", anyBlock)).toEqual(threads);
});

test("a multiple whose stride would not be exact is a vector", () => {
  // 2^31 * 2^16 is beyond 2^46, from where 32 lanes of it do not fit in 53 bits.
  expect(shapeOf("shl.b32 %r1, %r0, 31; shl.b32 %r2, %r1, 16;", "%r2")).toEqual(vector);
});

describe("in a chunk of two rows of eight threads", () => {
  const twoRows: LaunchShape = { ...anyBlock, rowLength: 8, full: true };
  const row = "mov.u32 %r1, %tid.y;";
  const steps = (x: number, y: number | null) => ({ x, y, length: 8, areWhole: true });
  const rows = (x: number, y: number | null) => ({ kind: "rows", rows: steps(x, y) });
  // The sum of a multiple of the chunk's lanes and steps.
  const fromLanes = (x: number, y: number) => ({ kind: "rows", rows: { ...steps(x, y), lanes: 16 } });

  // Thread (x, y) is lane 8y + x, less what the chunk begins with.
  test.each([
    ["the number along the row", "", "%r0", fromLanes(1, 0)],
    ["that of the row", row, "%r1", fromLanes(0, 1)],
    ["rows that continue each other", `${row} mad.lo.u32 %r2, %r1, 8, %r0;`, "%r2", farThreads],
    ["the number of their chunk", `${row} mad.lo.u32 %r2, %r1, 8, %r0; shr.u32 %r2, %r2, 4;`, "%r2", uniform],
    ["a number within it", `${row} add.u32 %r1, %r1, 1; mad.lo.u32 %r2, %r1, 8, %r0;`, "%r2", affine(1)],
    [
      "and their words",
      `${row} mad.lo.u32 %r2, %r1, 8, %r0; mad.wide.u32 %x1, %r2, 4, %x0;`,
      "%x1",
      indexed(4, false, 1),
    ],
    ["with an offset", `${row} add.u32 %r1, %r1, %s0; shl.b32 %r1, %r1, 3; sub.u32 %r2, %r1, %r0;`, "%r2", rows(-1, 8)],
    ["rows that lie apart", `${row} mad.lo.u32 %r2, %r1, 9, %r0;`, "%r2", fromLanes(1, 9)],
    ["rows at a distance that nothing tells", `${row} mad.lo.u32 %r2, %r1, %s0, %r0;`, "%r2", rows(1, null)],
    [
      "and their words",
      `${row} mad.lo.u32 %r2, %r1, %s0, %r0; mad.wide.u32 %x1, %r2, 4, %x0;`,
      "%x1",
      { ...indexed(4, false, null), rows: steps(1, null) },
    ],
    ["what is the same along a row", `${row} max.s32 %r2, %r1, 3; shr.u32 %r2, %r2, %s0;`, "%r2", rows(0, null)],
    ["a condition on rows", `${row} setp.lt.s32 %p0, %r1, 3;`, "%p0", rows(0, null)],
    ["a condition within them", "setp.lt.s32 %p0, %r0, 3;", "%p0", vector],
    ["a product of what varies along rows", `${row} mul.lo.u32 %r2, %r1, %r0;`, "%r2", vector],
    ["lanes and rows", `${row} mov.u32 %r2, %laneid; mad.lo.u32 %r2, %r1, -8, %r2;`, "%r2", rows(1, 0)],
    ["what cancels", "sub.u32 %r2, %r0, %r0;", "%r2", uniform],
    ["what is written under a condition", `${row} setp.eq.u32 %p0, %r1, 1; @%p0 mov.u32 %r1, 5;`, "%r1", vector],
    ["what wraps around", `${row} and.b32 %r2, %r1, 1;`, "%r2", rows(0, null)],
  ])("%s", (_, body, register, shape) => {
    expect(shapeOf(body, register, twoRows)).toEqual(shape);
  });
});

test.each([4, 12])("rows of %i threads are too short, or end within a chunk: their numbers are vectors", (length) => {
  const someRows: LaunchShape = { ...anyBlock, rowLength: length, full: true };
  const steps = { x: 1, y: 3, length, areWhole: false };
  const row = "mov.u32 %r1, %tid.y;";
  expect(shapeOf(`${row} mad.lo.u32 %r2, %r1, 3, %r0; add.u32 %r2, %r2, %s0;`, "%r2", someRows)).toEqual({
    ...{ kind: "vector", rows: steps },
  });
  expect(shapeOf(`${row} mul.lo.u32 %r2, %r1, %s0;`, "%r2", someRows)).toEqual(vector);
  expect(shapeOf(`${row} max.s32 %r2, %r1, 3;`, "%r2", someRows)).toEqual(vector);
});

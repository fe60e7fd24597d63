import { expect, test } from "vitest";
import { Batch } from "./batch.ts";
import { parseFormula } from "./formula.ts";
import { homeOfVector } from "./home.ts";
import { run } from "./run.ts";
import { parseWarpVectors } from "./warp-vectors.ts";

/** The vectors of a file of one group, whose first line after the heading is line 2. */
const parse = (...lines: string[]) => parseWarpVectors("x.warp-vectors", ["## manual 1", ...lines].join("\n"));

const word = "memory global u32[32] = i";

test.each([
  ["memory global u32 = i", 'expected "memory SPACES TYPE[COUNT] = FORMULA"'],
  ["memory globl u32[32] = i", 'there is no space "globl": there is global, shared'],
  ["block 33", 'a block has up to 1024 threads in whole warps, not "33"'],
  ["deviates", '"deviates" needs a reason'],
  ["ld.global.u33 [global] = 1", 'ld.global.u33: no such form: ".u33" does not fit'],
  ["ld.global.u32 [global] 5 = 1", "ld.global.u32: no form takes these operands"],
  ["ld.global.u32 [shared] = 1", "[shared] is not in the space that the opcode names"],
  ["ld.global.u32 [global] = 1 2", "2 results, and the instruction has 1"],
  ["ld.global.v2.u32 [global] = {1}", "result 1 has 1 elements, and the destination 2"],
  ["ld.global.u32 [global] = lane+", "a formula has its end where a value is expected"],
  ["ld.global.u32 [global] = 1)", '")" follows a complete formula'],
  ["ld.global.u32 [global] = half(1)", 'there is no function "half"'],
  ["ld.shared.u32 [shared] = 1", "nothing says what shared memory holds before"],
  ["@5..2 ld.global.u32 [global] = 1", '"5..2" is no list of threads'],
  ["@30..33 ld.global.u32 [global] = 1", "there is no thread 32 in a block of 32"],
  ["st.global.u32 [global] 1 ; global 1", 'expected "SPACE = FORMULA" after ";", not "global 1"'],
])("%s", (line, message) => {
  expect(() => parse(word, "", line)).toThrow(`x.warp-vectors:4: ${message}`);
});

test("a line needs an origin", () => {
  expect(() => parseWarpVectors("x", "\nblock 64")).toThrow(
    'x:2: a line needs an origin before it (a line that starts with "## ")',
  );
});

/** What is said of one vector. */
function problems(...lines: string[]): string[] {
  const [vector] = parse(...lines) as [ReturnType<typeof parse>[number]];
  const batch = new Batch([{ vector, guarding: "branch" }], homeOfVector(vector));
  return batch.problems(run(batch, "interpreted")!);
}

test("what is not as expected is told by lane and by element", () => {
  expect(problems(word, "ld.global.u32 [global+lane*4] = lane==7?0:lane")).toEqual([
    "x.warp-vectors:3: ld.global.u32 [global+lane*4] = lane==7?0:lane: lane 7: d is 0x7, expected 0x0",
  ]);
  expect(problems(word, "st.global.u32 [global+12] 5")).toEqual([
    "x.warp-vectors:3: st.global.u32 [global+12] 5: global[3] is 0x5, expected 0x3",
  ]);
  expect(problems(word, "@0..3 ld.global.u32 [global+256] = fault trap")).toEqual([
    expect.stringContaining("the fault is global-out-of-bounds, expected trap"),
  ]);
  expect(problems("@3 exit")).toEqual([expect.stringContaining("lane 3: the mark of a thread that goes on")]);
  expect(problems(word, "atom.global.add.u32 [global] 1 = any-order:lane*2 ; global = i==0?32:i")).toEqual([
    expect.stringContaining("d is 0x0 0x1 0x2"),
  ]);
});

test("formulas", () => {
  const value = (text: string, lane = 5) => parseFormula(text)({ names: { lane: BigInt(lane) }, position: lane });
  expect(value("lane*3+1&~1")).toBe(16n);
  expect(value("lane<6?[0..2,7:9]:0")).toBe(7n);
  expect(value("ballot(l%8==lane)|1<<32")).toBe(0x1_2020_2020n);
  expect(value("sext(8,0x80+lane)")).toBe(-123n);
  expect(value("f32(lane*0.5-1)")).toBe(0x3fc0_0000n);
  expect(value("f16(-0.0)")).toBe(0x8000n);
  expect(value("f16(1/1024/16384)")).toBe(1n);
  expect(value("f16(65504)")).toBe(0x7bffn);
  expect(value("bf16(-3)")).toBe(0xc040n);
  expect(() => value("f32(0.1)")).toThrow("0.1 is no f32");
  expect(() => value("[0..4]")).toThrow("a list has no element 5");
  expect(() => value("i+1")).toThrow('there is no "i" here: there is lane');
});

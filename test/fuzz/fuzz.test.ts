import { expect, test } from "vitest";
import { compareEngines, compareOutcomes } from "./compare.ts";
import { type Engine, engines } from "./engine.ts";
import type { PtxProgram } from "./ptx-program.ts";
import { allFamilies, linesOf, programOf, withLines } from "./program.ts";
import { reduceLines, reduceProgram } from "./reduce.ts";
import { scales } from "./scale.ts";

/** Compared with the interpreter, in turn. */
const others: readonly Engine[] = [engines.seeded, engines.closures, engines.jit, engines.jit];
/** Where it shows which lanes or which of several faults come first: seeds change that, too. */
const inOrder: ReadonlySet<string> = new Set([
  ...["print", "printingCalls", "warp", "tables", "strides", "rows", "trips", "mixed", "faults"],
]);
const seeds = Array.from({ length: 8 }, (_, seed) => seed);

test.each(allFamilies)("%s: with much memory, compiled code reports what the interpreter does", (family) => {
  for (let seed = 1; seed <= 3; seed++) {
    expect(compareEngines(programOf(family, seed), engines.roomy, engines.large)).toBeNull();
  }
});

test.each(allFamilies)("%s: all engines compute the same, whatever the schedule", (family) => {
  const differences = seeds.flatMap((seed) => {
    const program = programOf(family, seed);
    const outcome = engines.interpreter.run(program);
    if (family !== "faults") expect({ seed, reports: outcome.reports }).toEqual({ seed, reports: [] });
    const next = others[seed % others.length]!;
    const other = next === engines.seeded && inOrder.has(family) ? engines.jit : next;
    const difference = compareOutcomes(outcome, other.run(program), ["interpreter", other.name]);
    return difference === null ? [] : [{ seed, ...difference }];
  });
  expect(differences).toEqual([]);
});

test("small programs compute the same, too, and have little more than half of the lines", () => {
  const lines = { usual: 0, small: 0 };
  for (const family of allFamilies) {
    const [usual, small] = [scales.usual, scales.small].map((scale) => programOf(family, 5, scale));
    expect({ family, difference: compareEngines(small!, engines.interpreter, engines.jit) }).toEqual({
      family,
      difference: null,
    });
    if (small!.isa === "visa") continue;
    lines.usual += linesOf(usual!).length;
    lines.small += linesOf(small!).length;
  }
  expect(lines.small).toBeLessThan(0.6 * lines.usual);
});

test.each([
  ["graph", 262_484_861],
  ["graph", 272_035_789],
  ["mixed", 500_000_027],
  ["visaPauses", 453_101_462],
  ["visaCompute", 453_101_550],
] as const)("compiled code was wrong once: %s %i", (family, seed) => {
  expect(compareEngines(programOf(family, seed), engines.interpreter, engines.jit)).toBeNull();
});

test("a finding about random values is no difference between a watched engine and one that is not", () => {
  const program = programOf("asynchronous", 901_106_067);
  expect(engines.watched.run(program).reports).toEqual(["operand-out-of-range in line 276 of input.ptx"]);
  expect(compareEngines(program, engines.interpreter, engines.watched)).toBeNull();
});

test("faults end most of the programs that are to have some", () => {
  const many = Array.from({ length: 40 }, (_, seed) => seed);
  const ended = many.filter((seed) => engines.interpreter.run(programOf("faults", seed)).reports.length > 0);
  expect(ended.length).toBeGreaterThan(many.length / 2);
});

test("a program is the same for the same seed, and another for another", () => {
  for (const family of ["mixed", "visa"] as const) {
    expect(linesOf(programOf(family, 1))).toEqual(linesOf(programOf(family, 1)));
    expect(linesOf(programOf(family, 1))).not.toEqual(linesOf(programOf(family, 2)));
  }
});

test("lines are left out as long as what is looked for is there", () => {
  const lines = Array.from({ length: 100 }, (_, i) => `${i}`);
  const has = (some: readonly string[]): boolean => some.includes("17") && some.includes("80");
  expect(reduceLines(lines, has, () => false)).toEqual(["17", "80"]);
});

/** One thread computes, stores, and computes more. */
const small: PtxProgram = {
  isa: "ptx",
  title: "small",
  seed: 0,
  text: `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .align 16 .b8 blob[16])
{
.reg .b64 %out;
.reg .b32 %r<4>;
ld.param.u64 %out, [out];
mov.u32 %r0, %tid.x;
add.u32 %r1, %r0, 5;
brev.b32 %r2, %r1;
mul.lo.u32 %r3, %r1, %r1;
st.global.u32 [%out], %r3;
st.global.u32 [%out+4], %r2;
st.global.u32 [%out+8], %r1;
ret;
}`,
  grid: [2, 1, 1],
  block: [1, 1, 1],
  cluster: null,
  buffers: [new Uint8Array(16)],
  blob: new Uint8Array(16),
  tensors: [],
  images: [],
};

test("a difference is found, and its program made smaller until the cause is left", () => {
  /** An engine with a mistake: it takes `brev` for `not`. */
  const wrong: Engine = {
    name: "wrong",
    run: (program) =>
      engines.interpreter.run(
        withLines(
          program,
          linesOf(program).map((line) => line.replace("brev.b32", "not.b32")),
        ),
      ),
  };
  const pair = [engines.interpreter, wrong] as const;
  const difference = compareEngines(small, ...pair)!;
  expect(difference.kind).toBe("buffer");
  const { text, grid } = reduceProgram(small, pair, difference, 20) as PtxProgram;
  expect(grid).toEqual([1, 1, 1]);
  expect(text.slice(text.indexOf("ld.param"))).toBe(`ld.param.u64 %out, [out];
mov.u32 %r0, %tid.x;
add.u32 %r1, %r0, 5;
brev.b32 %r2, %r1;
st.global.u32 [%out+4], %r2;
}`);
});

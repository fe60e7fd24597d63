import { expect, test } from "vitest";
import { compareEngines, compareOutcomes } from "./compare.ts";
import { type Engine, engines } from "./engine.ts";
import { allFamilies, linesOf, programOf, withLines } from "./program.ts";
import { reduceLines, reduceProgram } from "./reduce.ts";

/** Compared with the interpreter, in turn. */
const others: readonly Engine[] = [engines.seeded, engines.closures];
const seeds = Array.from({ length: 5 }, (_, seed) => seed);

test.each(allFamilies)("%s: all engines compute the same, whatever the schedule", (family) => {
  const differences = seeds.flatMap((seed) => {
    const program = programOf(family, seed);
    const outcome = engines.interpreter.run(program);
    expect({ seed, reports: outcome.reports }).toEqual({ seed, reports: [] });
    const other = others[seed % others.length]!;
    const difference = compareOutcomes(outcome, other.run(program), ["interpreter", other.name]);
    return difference === null ? [] : [{ seed, ...difference }];
  });
  expect(differences).toEqual([]);
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
  const seed = Array.from({ length: 1000 }, (_, i) => i).find((i) =>
    linesOf(programOf("arithmetic", i)).some((line) => line.startsWith("    brev.b32")),
  )!;
  const program = programOf("arithmetic", seed);
  const pair = [engines.interpreter, wrong] as const;
  const difference = compareEngines(program, ...pair)!;
  expect(difference.kind).toBe("buffer");
  const lines = linesOf(reduceProgram(program, pair, difference, 20));
  expect(lines.filter((line) => line.includes("brev.b32"))).toHaveLength(1);
  expect(lines.length).toBeLessThan(linesOf(program).length / 5);
});

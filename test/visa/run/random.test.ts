import { expect, test } from "vitest";
import { randomProgram } from "./random-program.ts";
import { runProgram } from "./run-program.ts";

const seeds = Array.from({ length: 120 }, (_, seed) => seed);

test("random programs compute what each of their lanes would compute alone", () => {
  for (const seed of seeds) {
    const program = randomProgram(seed);
    const [width] = program.widths;
    const values = Array.from({ length: width! }, (_, id) => program.expected(id, width!) >>> 0);
    const outcome = runProgram(program, width!, { generate: true, watched: seed % 4 === 0 });
    expect({ seed, ...outcome }).toEqual({ seed, reports: [], values });
  }
});

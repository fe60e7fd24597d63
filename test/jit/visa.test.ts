import { describe, expect, test } from "vitest";
import { deepCalls } from "../../src/jit/abi/give-up-reasons.ts";
import { families } from "../visa/run/programs.ts";
import { runProgram } from "../visa/run/run-program.ts";

/** The host's stack is too small for thousands of activations: the launch is given up. */
const deep = new Set(["a sum of thousands of numbers, an activation for each"]);

describe.each(Object.entries(families))("%s", (_, programs) => {
  describe.each(programs)("$title", (program) => {
    test.each(program.widths)("in threads of %d lanes", (width) => {
      const items = Array.from({ length: program.items ?? width }, (_, id) => id);
      const values = items.map((id) => program.expected(id, width) >>> 0);
      const outcome = runProgram(program, width, { generate: true, watched: false, compiled: true });
      expect(outcome).toEqual({ reports: [], values, obstacle: deep.has(program.title) ? deepCalls : null });
    });
  });
});

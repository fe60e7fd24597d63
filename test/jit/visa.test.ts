import { describe, expect, test } from "vitest";
import { families } from "../visa/run/programs.ts";
import { runProgram } from "../visa/run/run-program.ts";

/** What is not compiled; a launch then is the interpreter's. */
const obstacles = ["pauses in functions"];

describe.each(Object.entries(families))("%s", (_, programs) => {
  describe.each(programs)("$title", (program) => {
    test.each(program.widths)("in threads of %d lanes", (width) => {
      const items = Array.from({ length: program.items ?? width }, (_, id) => id);
      const values = items.map((id) => program.expected(id, width) >>> 0);
      const outcome = runProgram(program, width, { generate: true, watched: false, compiled: true });
      if (outcome.obstacle !== null) expect(obstacles).toContain(outcome.obstacle);
      expect(outcome).toEqual({ reports: [], values, obstacle: outcome.obstacle });
    });
  });
});

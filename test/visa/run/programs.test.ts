import { describe, expect, test } from "vitest";
import { families } from "./programs.ts";
import { runProgram } from "./run-program.ts";

const modes = [
  { generate: true, watched: false },
  { generate: false, watched: false },
  { generate: true, watched: true },
];

describe.each(Object.entries(families))("%s", (_, programs) => {
  describe.each(programs)("$title", (program) => {
    test.each(program.widths)("in threads of %d lanes", (width) => {
      const items = Array.from({ length: program.items ?? width }, (_, id) => id);
      const values = items.map((id) => program.expected(id, width) >>> 0);
      for (const mode of modes) expect(runProgram(program, width, mode)).toEqual({ reports: [], values });
    });
  });
});

import { expect, test } from "vitest";
import { engines } from "./engine.ts";
import { type MisuseName, misuses, withMisuse } from "./misuse.ts";
import { programOf } from "./program.ts";

/** Reports that are about what random arithmetic does, not about the mistake. */
const ofArithmetic = new Set(["operand-out-of-range", "division-by-zero"]);

/** Programs with a mistake, of those of the first seeds. That a wait never ends takes long to find. */
const wantedFor = (codes: readonly string[]): number => (codes.includes("deadlock") ? 1 : 2);

test.each(Object.keys(misuses) as MisuseName[])("%s is named", (name) => {
  const codes: readonly string[] = misuses[name].codes;
  const wanted = wantedFor(codes);
  let found = 0;
  for (let seed = 1; found < wanted && seed < 20; seed++) {
    const program = withMisuse(programOf("asynchronous", seed), name, seed);
    if (program === null) continue;
    const reported = engines.watched.run(program).reports.map((report) => report.split(" ")[0]!);
    const about = reported.filter((code) => !ofArithmetic.has(code));
    // The line may be one that no thread comes to, or that another one makes up for.
    if (about.length === 0) continue;
    expect(codes, `seed ${seed}: ${reported.join(", ")}`).toContain(about[0]);
    found++;
  }
  expect(found).toBe(wanted);
});

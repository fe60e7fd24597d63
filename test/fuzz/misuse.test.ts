import { expect, test } from "vitest";
import { isOfOpenResult } from "./compare.ts";
import { engines } from "./engine.ts";
import { type MisuseName, misuses, withMisuse } from "./misuse.ts";
import { programOf } from "./program.ts";

/** Programs with a mistake, of those of the first seeds. That a wait never ends takes long to find. */
const wantedFor = (codes: readonly string[]): number => (codes.includes("deadlock") ? 1 : 2);

test.each(Object.keys(misuses) as MisuseName[])("%s is named", (name) => {
  const codes: readonly string[] = misuses[name].codes;
  const wanted = wantedFor(codes);
  let found = 0;
  for (let seed = 1; found < wanted && seed < 20; seed++) {
    const program = withMisuse(programOf("asynchronous", seed), name, seed);
    if (program === null) continue;
    const { reports } = engines.watched.run(program);
    const about = reports.filter((report) => !isOfOpenResult(report)).map((report) => report.split(" ")[0]!);
    // The line may be one that no thread comes to, or that another one makes up for.
    if (about.length === 0) continue;
    expect(codes, `seed ${seed}: ${reports.join(", ")}`).toContain(about[0]);
    found++;
  }
  expect(found).toBe(wanted);
});

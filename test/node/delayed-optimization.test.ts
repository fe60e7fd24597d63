import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { delayingFlag } from "../../src/node/delayed-optimization.ts";

/** Calls a function until it is optimized, and prints how often. */
const counting = `
  const sum = new Function("n", "let s = 0; for (let i = 0; i < n; i++) s = (s + i * i) | 0; return s;");
  let calls = 0;
  for (; !%ActiveTierIsTurbofan(sum); calls++) sum(10);
  console.log(calls);
`;

/** How often a process that is started with some flags calls a function until V8 has optimized it. */
function callsUntilOptimized(flags: readonly string[]): number {
  // So that it does not depend on how fast other threads are.
  const steady = ["--allow-natives-syntax", "--no-concurrent-recompilation", "--no-use-osr"];
  const { stdout, stderr } = spawnSync(process.execPath, [...steady, ...flags, "-e", counting], { encoding: "utf8" });
  expect(stderr).toBe("");
  return Number(stdout);
}

test.skipIf(delayingFlag() === null)("V8 optimizes a function after it has run several times as long", () => {
  const usual = callsUntilOptimized([]);
  expect(usual).toBeGreaterThan(10);
  expect(callsUntilOptimized([delayingFlag()!])).toBeGreaterThan(4 * usual);
});

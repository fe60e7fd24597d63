// The one command that tells whether all is well: types, lint, unused code, tests. Runs on after a failure and says at
// the end which of them failed.
import { spawnSync } from "node:child_process";

const steps = [
  ["types", "npm run --silent types"],
  ["lint", "npm run --silent lint"],
  ["unused", "npm run --silent unused"],
  ["tests", "npm test --silent"],
];
const failed = [];
for (const [name, command] of steps) {
  const started = Date.now();
  const { status } = spawnSync(command, { shell: true, stdio: "inherit" });
  console.error(`${status === 0 ? "ok" : "FAILED"}  ${name}  ${((Date.now() - started) / 1000).toFixed(1)} s`);
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) console.error(`failed: ${failed.join(", ")}`);
process.exit(failed.length > 0 ? 1 : 0);

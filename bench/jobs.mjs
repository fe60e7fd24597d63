// Thread-instructions a second of the launches of every conformance job, slowest first: the first time, when
// instructions are compiled, and when each launch is repeated until it is warm.
//
//     node bench/jobs.mjs [NAME]      jobs whose name contains NAME
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kernel, parseJob, runJob } from "../dist/index.js";
import { SourceText } from "../dist/source/index.js";
import { cpuMilliseconds } from "./time.mjs";

const root = fileURLToPath(new URL("../../shared/conformance/", import.meta.url));
const wanted = process.argv[2] ?? "";

/** Milliseconds for which a launch is repeated. */
const patience = 300;
let steps, first, warm;
const { launch } = Kernel.prototype;
Kernel.prototype.launch = function (options) {
  let result;
  first += cpuMilliseconds(() => (result = launch.call(this, options)));
  steps += result.steps;
  const limits = { maxSteps: 100 * result.steps + 1e6, timeoutMs: 10 * patience };
  let best = 0;
  for (const end = performance.now() + patience; performance.now() < end; ) {
    let again;
    const ms = cpuMilliseconds(() => (again = launch.call(this, { ...options, ...limits })));
    best = Math.max(best, again.steps / ms);
  }
  warm += result.steps / best;
  return result;
};

const rows = [];
for (const folder of ["cuda", "hand"]) {
  for (const name of readdirSync(join(root, folder)).filter((n) => n.endsWith(".json") && n.includes(wanted))) {
    const path = join(root, folder, name);
    const { job } = parseJob(new SourceText(name, readFileSync(path, "utf8")));
    const variant = job?.variants.keys().next().value;
    if (variant === undefined) continue;
    steps = first = warm = 0;
    runJob(job, [...job.variants.keys()].includes("sm_90") ? "sm_90" : variant, {
      read: (file) => readFileSync(join(dirname(path), file)),
    });
    if (steps > 0)
      rows.push({ name: name.replace(".json", ""), steps, first: steps / first / 1e3, warm: steps / warm / 1e3 });
  }
}
rows.sort((a, b) => a.warm - b.warm);
const column = (x) => x.toFixed(1).padStart(8);
console.log(`${"".padEnd(28)} ${"warm".padStart(8)} ${"first".padStart(8)}  M thread-instructions/s`);
for (const row of rows) {
  console.log(`${row.name.padEnd(28)} ${column(row.warm)} ${column(row.first)}  ${(row.steps / 1e3).toFixed(1)} k`);
}

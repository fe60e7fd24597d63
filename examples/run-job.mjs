import { readFileSync } from "node:fs";
import { parseJob, runJob, SourceText } from "lanewise";

// A compiler under test would be called here. What it returns is found by the name that the job gives to it.
const folder = new URL("divergence/", import.meta.url);
const read = (path) => readFileSync(new URL(path, folder));

const { job, diagnostics } = parseJob(new SourceText("levels.json", read("levels.json").toString()));
if (job === null) throw new Error(diagnostics[0].message);
for (const variant of job.variants.keys()) {
  for (const engine of ["interpreter", "jit"]) {
    const { ok, checks, reports } = runJob(job, variant, { read }, { engine });
    console.log(variant, engine, ok ? "ok" : "FAIL", `${checks[0].n} elements compared, ${reports.length} reports`);
  }
}

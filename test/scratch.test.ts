import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { parseJob } from "../src/runtime/job/job.ts";
import { runJob } from "../src/runtime/job/run-job.ts";
import { sanitizerNames } from "../src/runtime/launch/launch-options.ts";
import { SourceText } from "../src/source/index.ts";

const paths = (process.env.JOBS ?? "").split(" ").flatMap((p) => statSync(p).isDirectory() ? readdirSync(p).filter((n) => n.endsWith(".json")).map((n) => join(p, n)) : [p]);
test("jobs", () => {
  const engines = (process.env.ENGINES ?? "interpreter jit").split(" ");
  const lines: string[] = [];
  for (const path of paths) {
    const { job, diagnostics } = parseJob(new SourceText(path, readFileSync(path, "utf8"))) as any;
    if (!job) { lines.push(`BAD ${path} ${JSON.stringify(diagnostics?.map((d: any) => d.message))}`); continue; }
    for (const variant of job.variants.keys()) for (const engine of engines) {
      const sanitize = process.env.SAN ? { sanitize: new Set(sanitizerNames) } : {};
      const seed = process.env.SEED ? { seed: Number(process.env.SEED) } : {};
      const t0 = Date.now();
      const r: any = runJob(job, variant, { read: (f: string) => readFileSync(join(dirname(path), f)) }, { engine, ...sanitize, ...seed } as any);
      const word = r.ok ? "ok" : r.skipped ? "SKIP" : "FAIL";
      const why = r.ok ? "" : r.skipped ?? r.failure ?? r.problem?.message ?? r.defect?.stack ?? "";
      const reports = (r.ok ? [] : r.reports ?? []).map((x: any) => `${x.code}@${x.site?.line ?? x.line ?? ""}: ${x.message}`).slice(0, 3).join(" | ");
      const checks = (r.checks ?? []).filter((c: any) => !c.ok).map((c: any) => JSON.stringify(c).slice(0, 300)).join(" ");
      const diags = (r.diagnostics ?? []).map((d: any) => d.message).slice(0, 2).join(" | ");
      lines.push(`${word} ${path.split("/").slice(-2).join("/")} ${variant} ${engine} ran=${r.launches?.map((l: any) => l.engine).join(",")} ${Date.now() - t0}ms ${why} ${reports} ${checks} ${diags}`);
    }
  }
  console.log(lines.join("\n"));
}, 600000);

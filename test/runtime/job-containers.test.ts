import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type JobFiles, parseJob, runJob } from "../../src/index.ts";
import { SourceText } from "../../src/source/index.ts";
import { fixture } from "../container/fixtures.ts";
import { zipOf } from "../container/zip-of.ts";

/*
 * Jobs whose programs are in files of compilers, through the library. The sources say what they compute:
 * test/container/fixtures/sum.cu (twice the sum) and scale.cl (x[i] *= k).
 */
const held: Readonly<Record<string, Uint8Array>> = {
  "sum.fatbin": fixture("sum-zstd.fatbin"),
  "scale.bin": fixture("scale.bin"),
  "dumps.zip": zipOf({ "OCL_asm1.progbin": fixture("scale.bin"), "readme.txt": "" }, true),
  "readme.zip": zipOf({ "readme.txt": "" }, true),
};
const files: JobFiles = { read: (path) => held[path]!, yaml: parse, shown: (path) => `kernels/${path}` };

function run(job: object, variant: string, among: JobFiles = files) {
  const { job: parsed } = parseJob(new SourceText("job.json", JSON.stringify(job)));
  return runJob(parsed!, variant, among);
}

const iota = (n: number) => ({ type: "f32", n, init: { gen: "iota" } });

test("PTX in a fat binary", () => {
  const result = run(
    {
      variants: { fatbin: ["sum.fatbin"] },
      buffers: { x: iota(64), out: { type: "f32", n: 1 } },
      launches: [{ kernel: "sum", grid: [1], block: [256], args: [{ buf: "x" }, { buf: "out" }, { u32: 64 }] }],
      checks: [{ buf: "out", all: [4032] }],
    },
    "fatbin",
  );
  expect(result).toMatchObject({ ok: true, failure: null });
});

describe("vISA in what ocloc writes", () => {
  const job = {
    isa: "visa",
    variants: {
      bin: { modules: ["scale.bin"] },
      zip: { modules: ["dumps.zip"] },
      none: { modules: ["readme.zip"] },
    },
    buffers: { x: iota(32) },
    launches: [{ kernel: "scale", global: [32], local: [16], args: [{ buf: "x" }, { f32: 3 }] }],
    checks: [{ buf: "x", all: Array.from({ length: 32 }, (_, i) => 3 * i) }],
  };

  test.each(["bin", "zip"])("%s", (variant) => {
    expect(run(job, variant)).toMatchObject({ ok: true, failure: null });
  });

  test("a file without vISA is named", () => {
    const { ok, problem } = run(job, "none");
    expect(ok).toBe(false);
    expect(problem?.message).toBe("kernels/readme.zip has no vISA text (.visaasm), nor a binary of ocloc with some");
  });

  test("nothing reads YAML", () => {
    const { ok, skipped } = run(job, "bin", { read: files.read });
    expect(ok).toBe(false);
    expect(skipped).toMatch(/is YAML, and nothing is there that reads it/);
  });
});

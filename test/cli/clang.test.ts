import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuiltCli } from "./built-cli.ts";

const hasClang = spawnSync("clang", ["--version"]).status === 0;
if (!hasClang) console.warn("clang is not here: its PTX is not tested");

/** CUDA without the headers of a toolkit; line 14 reads one element too many. */
const source = `#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

struct Weights { float scale; int offset; };

__device__ static float weighted(float x, const Weights &w) {
  float y = x * w.scale;
  return y + w.offset;
}

__global__ void weigh(const float *in, float *out, int n, Weights w) {
  int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  if (i <= n) {
    float sum = weighted(in[i], w);
    out[i] = sum;
  }
}
`;

describe.skipIf(!hasClang)("PTX of clang", () => {
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await BuiltCli.build();
  });
  afterAll(() => {
    cli.remove();
  });

  /** Compiles the source in the folder where the command line runs. */
  function compile(name: string, ...flags: readonly string[]): void {
    cli.write("weigh.cu", source);
    const device = ["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib", "-S"];
    const { status, stderr } = spawnSync("clang", [...device, ...flags, "weigh.cu", "-o", name], {
      cwd: cli.work,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stderr);
  }

  const launch = ["--grid", "2", "--block", "32", "--arg", "f32[40]=iota", "--arg", "f32[41]", "--arg", "40"];
  const weights = ["--arg", "{f32:2, s32:1}"];

  test.each([["-O0"], ["-O2"]])("with -g and %s: a report has the line of the source", (level) => {
    compile("weigh.ptx", "-g", level);
    expect(cli.run("check", "weigh.ptx")).toMatchObject({ status: 0, stdout: "1 file checked, no errors\n" });
    const { status, stdout } = cli.run("run", "weigh.ptx", ...launch, ...weights);
    expect(status).toBe(3);
    expect(stdout).toMatch(/^weigh\.cu:14:26: error: loads 4 bytes .* after the end of buffer "argument 0"/m);
    expect(stdout).toContain("   14 |     float sum = weighted(in[i], w);\n");
    expect(stdout).toContain("thread 8 of block (1,0,0)");
  });

  test("with -g and -O0 the debugger knows variables, also those of a function that is called", () => {
    compile("weigh.ptx", "-g", "-O0");
    cli.write("commands", "break weigh.cu:8\nrun\nprint y\nprint w\nup\nprint i\nprint n\nprint w.scale\n");
    const { stdout } = cli.run("debug", "weigh.ptx", ...launch, ...weights, "-x", "commands");
    expect(stdout).toContain("weigh.cu:8");
    const printed = [...stdout.matchAll(/^\(lanewise\) print .*\n(.*)$/gm)].map(([, value]) => value);
    expect(printed).toEqual(["0", expect.stringContaining("{scale = 2, offset = 1}"), "0", "40", "2"]);
  });
});

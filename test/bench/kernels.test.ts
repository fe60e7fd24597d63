import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type BenchKernel, initialValues } from "../../bench/suite/kernel.ts";
import { difference, measure, modelResults } from "../../bench/suite/run.ts";
import { benchKernels } from "../../bench/suite/suite.ts";

const bench = new URL("../../bench/", import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, bench), "utf8");
const named = (name: string): BenchKernel => benchKernels.find((k) => k.name === name)!;

/** A benchmark at its small size, the interpreter's results and those of the model. */
function results(kernel: BenchKernel) {
  const plan = kernel.plan(kernel.quickSize);
  const initial = initialValues(plan);
  const path = `kernels/${kernel.file}.ptx`;
  const once = { runs: 1, milliseconds: 0 };
  const { results: got, engine } = measure(kernel, { path, text: textOf(path) }, plan, initial, once, {});
  return { got, want: modelResults(kernel, plan, initial), engine };
}

// Compiled: also pipelines of asynchronous copies, and a warp that copies by TMA for warpgroups that wait at mbarriers.
test.each(benchKernels.map((k) => [k.name, k] as const))("%s, compiled, computes what its model says", (_, kernel) => {
  const { got, want, engine } = results(kernel);
  expect(engine).toBe("jit");
  expect(difference(kernel, got, want)).toBe(null);
});

test("a result that differs is found", () => {
  const kernel = named("saxpy");
  const { got, want } = results(kernel);
  got.get("y")!.set(17, 5);
  expect(difference(kernel, got, want)).toMatch(/^y\[17\] is 5, not .* \(1 differ\)$/);
});

test("a fault of a kernel ends its measurement", () => {
  const kernel = named("saxpy");
  const plan = kernel.plan(64);
  const path = "kernels/saxpy.ptx";
  const text = textOf(path).replace("%rd5, %r1, 4;", "%rd5, %r1, 8;");
  const run = () => measure(kernel, { path, text }, plan, initialValues(plan), { runs: 1, milliseconds: 0 }, {});
  expect(run).toThrow(/^loads 4 bytes .* after the end of x/);
});

test("each kernel has its files, and each file its kernel", () => {
  const files = (folder: string, suffix: string): string[] =>
    readdirSync(new URL(folder, bench))
      .filter((f) => f.endsWith(suffix) && f !== `main${suffix}` && f !== `host${suffix}`)
      .map((f) => f.slice(0, -suffix.length))
      .sort();
  const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort();
  const all = sorted(benchKernels.map((k) => k.file));
  // What `visa-twins.mjs` compares with PTX: some of them have no peer in C.
  const twins = files("visa/opencl", ".visaasm").map((f) => f.split(".")[0]!);
  expect(files("kernels", ".cu")).toEqual(sorted([...all, ...twins]));
  expect(files("kernels", ".ptx")).toEqual(sorted([...all, ...twins]));
  expect(files("native", ".c")).toEqual(all);
  expect(files("tuned", ".c")).toEqual(
    benchKernels
      .filter((k) => k.tuned)
      .map((k) => k.file)
      .sort(),
  );
  expect(files("opencl", ".cl")).toEqual(
    sorted([...benchKernels.filter((k) => k.opencl).map((k) => k.file), ...twins]),
  );
});

// What nvcc might have optimised away, and then nothing of the kind would be measured.
test.each([
  ["indirect", /call \(retval0\),\s*%rd\d+,[^;]*, prototype_0;/],
  ["indirect", /\.global .* steps\[4\] = \{_Z3mixjj, _Z5weighjj, _Z6largerjj, _Z4turnjj\}/],
  ["matmul-tiled", /st\.shared[\s\S]*bar\.sync[\s\S]*ld\.shared/],
  ["reduce-shuffle", /shfl\.sync\.down\.b32/],
  ["histogram", /atom\.shared\.add\.u32/],
  ["mandelbrot", /fma\.rn\.f32/],
  ["mma-f16", /cp\.async\.cg[\s\S]*ldmatrix[\s\S]*mma\.sync\.aligned\.m16n8k16/],
  ["mma-s8", /cp\.async\.cg[\s\S]*ldmatrix[\s\S]*mma\.sync\.aligned\.m16n8k32/],
  ["attention", /ldmatrix[^;]*\.trans/],
  ["sha256", /ld\.const\.u32/],
])("the PTX of %s has %s", (name, pattern) => expect(textOf(`kernels/${name}.ptx`)).toMatch(pattern));

test("the function of recursion calls itself twice", () => {
  const [body] = textOf("kernels/recursion.ptx").split(".visible .entry");
  expect(body!.match(/call\.uni \(retval0\),\s*_Z9fibonaccij,/g)).toHaveLength(2);
});

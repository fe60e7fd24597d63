import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findingPage } from "../../src/cli/options/finding-page.ts";
import { originReader } from "../../src/cli/terminal/origin-files.ts";
import { renderReport } from "../../src/cli/terminal/render-report.ts";
import { Device } from "../../src/index.ts";
import type { Report } from "../../src/machine/reports/report.ts";
import { profileOf, Profiler } from "../../src/profiler/index.ts";
import { findingOfReport, parseRule, sarifLog } from "../../src/reports/index.ts";
import { headOf, isSystemPath, originToJson } from "../../src/source/index.ts";

const folder = fileURLToPath(new URL("../../examples/cuda/", import.meta.url));
const read = (name: string): string => readFileSync(`${folder}${name}`, "utf8");

/** The number of the only line of scan.cu that contains a text: expectations come from the source, not from the PTX. */
function lineWith(text: string): number {
  const found = read("scan.cu")
    .split("\n")
    .flatMap((line, i) => (line.includes(text) ? [i + 1] : []));
  expect(found).toHaveLength(1);
  return found[0]!;
}

function reportOf(kernel: string, block: number, args: readonly ("f32" | "s32")[], size: number): Report {
  const device = new Device();
  const buffers = args.map((type) => device.buffer(type, size));
  if (kernel === "histogram") buffers[0]!.write(Int32Array.from({ length: size }, (_, i) => 2 * i));
  const launch = device.load({ path: "scan.ptx", text: read("scan.ptx") }).kernel(kernel);
  const { reports } = launch.launch({ grid: 1, block, args: buffers, sanitize: "all" });
  expect(reports.length).toBeGreaterThan(0);
  return reports[0]!;
}

const outOfBounds = (): Report => reportOf("sum", 64, ["f32", "f32"], 32);

test("a report has the line of the CUDA source, and where its function was inlined", () => {
  const source = originToJson(outOfBounds().origin ?? null)!;
  expect(source).toMatchObject({ path: "/build/kernels/scan.cu", line: lineWith("return in[i]"), column: 73 });
  expect(source.function).toBe("_Z7elementPKfi");
  expect(source.inlinedAt.map(({ line }) => line)).toEqual([
    lineWith("T sum = warpSum(element(in, i))"),
    lineWith("float total = blockSum("),
  ]);
  expect(source.inlinedAt.map((at) => at.function)).toEqual(["_Z8blockSumIfET_PKS0_i", "sum"]);
});

test("a function of the toolkit's headers is passed over: the line of the user that calls it comes first", () => {
  const report = reportOf("histogram", 32, ["s32", "s32"], 32);
  const source = originToJson(report.origin ?? null)!;
  expect(source).toMatchObject({
    path: "/build/kernels/scan.cu",
    line: lineWith("atomicAdd(&bins"),
    function: "histogram",
  });
  expect(source.inlinedAt).toEqual([]);
  expect(source.inner!.map(({ path }) => path.split("/").at(-1))).toEqual(["device_atomic_functions.hpp"]);
  expect(report.location!.path).toMatch(/device_atomic_functions\.hpp$/);
});

test("the text of a report begins with the line of the source, and the PTX is below", () => {
  const text = renderReport(outOfBounds(), { readOrigin: originReader([folder]) }).split("\n");
  expect(text[0]).toMatch(/scan\.cu:2:73: error: loads 4 bytes \(global\)/);
  expect(text[1]).toContain("return in[i]; }");
  expect(text.findIndex((line) => /^scan\.ptx:\d+:2: note: compiled to this/.test(line))).toBeGreaterThan(3);
});

test("without the file, the line is named", () => {
  const text = renderReport(outOfBounds(), {}).split("\n");
  expect(text[0]).toMatch(/^\/build\/kernels\/scan\.cu:2:73: error/);
  expect(text[1]).toContain("is inlined into");
});

test("stack entries and the other side of a race have their lines too", () => {
  const report = reportOf("last", 64, ["s32"], 1);
  expect(report.code).toBe("data-race");
  expect(report.stack.map(({ origin }) => origin![headOf(origin!)]!.line)).toEqual([
    lineWith("{ *at = value; }"),
    lineWith("put(out, threadIdx.x)"),
  ]);
  expect(report.related![0]!.origin![0]!.line).toBe(lineWith("{ *at = value; }"));
});

test("SARIF results are at the line of the source, with the instruction as a related location", () => {
  const log = sarifLog([{ finding: findingOfReport(outOfBounds()), suppression: null }], {
    version: "1",
    page: () => undefined,
    completed: true,
  });
  const result = log.runs[0]!.results[0]!;
  expect(result.locations[0]!.physicalLocation).toEqual({
    artifactLocation: { uri: "file:///build/kernels/scan.cu" },
    region: { startLine: 2, startColumn: 73 },
  });
  expect(result.relatedLocations!.map(({ message }) => message.text)).toContain("compiled to this instruction");
});

test("the page shows the source, the instruction and where functions were inlined", () => {
  const judged = [{ finding: findingOfReport(outOfBounds()), suppression: null }];
  const page = findingPage(judged, { title: "t", page: () => undefined, readOrigin: originReader([folder]) });
  expect(page).toMatch(/<code>[^<]*scan\.cu:2:73<\/code>/);
  // The column is wrong, because `__device__` is a macro: all of the line is marked.
  expect(page).toMatch(/<mark>__device__ .* return in\[i\]; \}<\/mark>/);
  expect(page).toContain("ld.global.f32");
  expect(page).toMatch(/is inlined into `sum`/);
});

test("a file is found in a folder that the user names, before the path that the program has", () => {
  const read = originReader([folder]);
  expect(read("/build/kernels/scan.cu", "elsewhere/scan.ptx")!.line(1)).toMatch(/^\/\/ Sums of warps/);
  expect(originReader([])("/build/kernels/scan.cu", `${folder}scan.ptx`)!.path).toMatch(/examples\/cuda\/scan\.cu$/);
  expect(originReader([])("/build/kernels/none.cu", `${folder}scan.ptx`)).toBeNull();
});

test("rules may name the source, one of its lines, or a function that was inlined", () => {
  const finding = findingOfReport(outOfBounds());
  const applies = (rule: string): boolean => parseRule(rule, "test").applies(finding);
  expect(applies("global-out-of-bounds scan.cu:2")).toBe(true);
  expect(applies("global-out-of-bounds scan.cu:3")).toBe(false);
  expect(applies("* scan.cu:14")).toBe(true);
  expect(applies("* * in _Z7elementPKfi")).toBe(true);
  expect(applies("* * in element")).toBe(true);
  expect(applies("* * in elements")).toBe(false);
});

test("a profile counts what was inlined from headers at the user's line", () => {
  const device = new Device();
  const buffers = [device.buffer("s32", 32), device.buffer("s32", 32)];
  const profiler = new Profiler();
  const kernel = device.load({ path: "scan.ptx", text: read("scan.ptx") }).kernel("histogram");
  kernel.launch({ grid: 1, block: 32, args: buffers, observers: [profiler] });
  const { sources, origins } = profileOf(profiler);
  const line = lineWith("atomicAdd(&bins");
  expect(sources.find((at) => at.line === line)!.counts.atomicRequests).toBe(1);
  expect(origins.find((at) => at.line === line)!.counts.atomicRequests).toBe(0);
  expect(sources.every(({ path }) => path === "/build/kernels/scan.cu")).toBe(true);
});

test("folders of compilers are told from folders of users", () => {
  for (const path of [
    "/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp",
    "/usr/include/c++/14/bits/stl_algobase.h",
    "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4\\include\\cuda_fp16.hpp",
    "/opt/conda/lib/python3.12/site-packages/nvidia/cuda_runtime/include/cooperative_groups.h",
    "/opt/conda/lib/python3.12/site-packages/triton/language/standard.py",
    "/usr/lib/llvm-18/lib/clang/18/include/__clang_cuda_intrinsics.h",
  ]) {
    expect([path, isSystemPath(path)]).toEqual([path, true]);
  }
  for (const path of ["/home/me/cuda/reduce.cu", "kernel.cu", "/work/include/my.h", "/home/me/cuda/include/mine.cuh"]) {
    expect([path, isSystemPath(path)]).toEqual([path, false]);
  }
});

test("a function that is inlined at two places has the chain of the place that was named last", () => {
  // The directives are those that nvcc 13.0 writes for two calls of `middle`, which calls `inner`.
  const chain = (line: number) => `.loc 1 ${line} 3
.loc 1 3 3, function_name $L__info_string0, inlined_at 1 ${line} 3
.loc 1 1 73, function_name $L__info_string1, inlined_at 1 3 3
`;
  const text = (first: string) => `.version 8.0\n.target sm_75\n.address_size 64\n.visible .entry two()\n{
.reg .b64 %rd<2>;\n${chain(6)}mov.u64 %rd1, 0;\n${first}${chain(7)}st.global.u32 [%rd1], 0;\nret;\n}
.file 1 "two.cu"\n.section .debug_str\n{\n$L__info_string0:\n.b8 109,105,100,0
$L__info_string1:\n.b8 105,110,0\n}\n`;
  const origin = (first: string) => {
    const kernel = new Device().load({ path: "two.ptx", text: text(first) }).kernel("two");
    const { reports } = kernel.launch({ grid: 1, block: 1 });
    return reports[0]!.origin!.map((at) => `${at.function}:${at.line}`);
  };
  expect(origin("st.global.u32 [%rd1], 0;\n")).toEqual(["in:1", "mid:3", "two:6"]);
  expect(origin("")).toEqual(["in:1", "mid:3", "two:7"]);
});

test("a chain of inlining that refers to itself stays short", () => {
  const locs = Array.from({ length: 5000 }, () => "\t.loc 1 5 5, function_name $L__info_string0, inlined_at 1 5 5\n");
  const text = `.version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;
${locs.join("")}\tmov.u64 %rd1, 0;\n\tst.global.u32 [%rd1], 0;\n\tret;\n}\n.file 1 "a.cu"
.section .debug_str\n{\n$L__info_string0:\n.b8 102,0\n}\n`;
  const { reports } = new Device().load({ path: "a.ptx", text }).kernel("k").launch({ grid: 1, block: 1 });
  expect(reports[0]!.origin!.length).toBeLessThan(100);
  expect(reports[0]!.origin![0]!.function).toBe("f");
});

// How fast the interpreter runs vISA, against PTX: lane-instructions a second of compiled and hand-written kernels, as
// a multiple of what the PTX mandelbrot takes for one in the same rounds. Medians.
//
//     node bench/visa.mjs [NAME] [ROUNDS]      kernels whose name contains NAME
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { Device, scalar } from "../dist/index.js";
import { cpuMilliseconds } from "./time.mjs";

const shared = fileURLToPath(new URL("../../shared/", import.meta.url));
const own = fileURLToPath(new URL("visa/", import.meta.url));
const [wanted = "", rounds = "7"] = process.argv.slice(2);

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const f32 = (value) => scalar("f32", value);
const s32 = (value) => scalar("s32", value);

/** A kernel of the conformance cases, in a larger launch. */
function compiled(name, variant, size, args) {
  const path = join(shared, "visa/kernels", `${name}.json`);
  if (!existsSync(path)) return null;
  const job = JSON.parse(readFileSync(path, "utf8"));
  const { modules, zeinfo } = job.variants[variant];
  const read = (file) => readFileSync(join(dirname(path), file));
  const device = new Device();
  const module = device.load(
    modules.map((file) => ({ path: file, bytes: read(file) })),
    { isa: "visa", target: variant.split(".")[0].replace("igc2-", ""), zeinfo: parse(read(zeinfo).toString()) },
  );
  return launcher(module.kernel(job.launches[0].kernel), { ...size, args: args(device) });
}

/** A kernel of this folder, which writes a number for each work item. */
function handwritten(name, global) {
  const device = new Device();
  const bytes = readFileSync(join(own, `${name}.isaasm`));
  const inputs = [
    { name: "OUT", kind: "arg", type: "u64" },
    { name: "ID", kind: "lane-id", type: "u32" },
  ];
  const module = device.load({ path: `${name}.isaasm`, bytes }, { isa: "visa", target: "skl", inputs });
  return launcher(module.kernel(name), { global, local: 64, args: [device.buffer("u32", global)] });
}

function ptx(name, size, args) {
  const device = new Device();
  const source = readFileSync(join(shared, "conformance/cuda/ptx", `${name}.sm_90.ptx`), "utf8");
  return launcher(device.load(source).kernel(name), { ...size, args: args(device) });
}

/** Lane-instructions, and milliseconds for all of them. */
const launcher = (kernel, options) => () => {
  let result;
  const ms = cpuMilliseconds(() => (result = kernel.launch(options)));
  if (!result.ok) throw new Error(result.reports[0].message);
  return { steps: result.steps, ms };
};

const side = 512;
const image = { global: [side, side, 1], local: [16, 8, 1] };
const mandelbrot = (d) => [
  d.buffer("u32", side * side),
  f32(-2.2),
  f32(-1.25),
  f32(3 / side),
  f32(2.5 / side),
  s32(256),
];
const n = 1 << 18;
const line = { global: n, local: 64 };
const reduction = (d) => [d.buffer("s32", n), d.buffer("s32", n / 64), s32(n - 5)];
const pair = (type) => (d) => [d.buffer(type, n), d.buffer(type, n)];

const cases = {
  ...Object.fromEntries(
    ["skl.simd8", "skl.simd16", "skl.simd32", "tgllp.simd16", "dg2.simd16", "pvc.simd16", "pvc.simd32"]
      .concat(["igc2-dg2.simd16", "igc2-bmg.simd16", "igc2-bmg.simd32"])
      .map((variant) => [`mandelbrot ${variant}`, () => compiled("k03_mandel", variant, image, mandelbrot)]),
  ),
  "saxpy skl.simd16": () =>
    compiled("k01_saxpy", "skl.simd16", line, (d) => [d.buffer("f32", n), d.buffer("f32", n), f32(2.5), s32(n)]),
  "saxpy pvc.simd32": () =>
    compiled("k01_saxpy", "pvc.simd32", line, (d) => [d.buffer("f32", n), d.buffer("f32", n), f32(2.5), s32(n)]),
  "reduction in SLM skl.simd16": () => compiled("k02_reduce_slm", "skl.simd16", line, reduction),
  "matrix product in SLM pvc.simd16": () =>
    compiled("k17_matmul_slm", "pvc.simd16", { global: [128, 128, 1], local: [16, 16, 1] }, (d) => [
      ...[0, 1, 2].map(() => d.buffer("f32", 128 * 128)),
      s32(128),
    ]),
  "int64 skl.simd16": () => compiled("k12_int64", "skl.simd16", line, pair("s64")),
  "half skl.simd16": () => compiled("k10_half", "skl.simd16", line, (d) => [...pair("f16")(d), f32(0.75)]),
  "function pointers skl.simd16": () => compiled("k07_fptr", "skl.simd16", line, pair("s32")),
  "divergent calls": () => handwritten("calls", 4096),
  recursion: () => handwritten("fib", 256),
};

const reference = ptx("mandelbrot", { grid: [32, 64], block: [16, 8] }, (d) => [
  d.buffer("u32", side * side),
  side,
  side,
  -2.2,
  -1.25,
  3 / side,
  2.5 / side,
  256,
]);
reference();
const ns = ({ steps, ms }) => (1e6 * ms) / steps;
const column = (x, digits) => x.toFixed(digits).padStart(8);
console.log(`${"".padEnd(34)}    first     warm  M lane-instructions/s;  each, against PTX;  launch`);
for (const [name, make] of Object.entries(cases)) {
  if (!name.includes(wanted)) continue;
  const run = make();
  if (run === null) continue;
  const first = run();
  const [here, there] = [[], []];
  for (let i = 0; i < Number(rounds); i++) {
    there.push(reference());
    here.push(run());
  }
  const each = median(here.map(ns));
  const ratio = median(here.map((r, i) => ns(r) / ns(there[i])));
  const warm = column(1e3 / each, 0);
  const ms = median(here.map((r) => r.ms));
  const whole = `${column(ms, 1)} ms${name.startsWith("mandelbrot") ? ` (${(ms / median(there.map((r) => r.ms))).toFixed(2)} x PTX)` : ""}`;
  console.log(`${name.padEnd(34)} ${column(1e3 / ns(first), 0)} ${warm} ${column(ratio, 2)} x ${whole}`);
}

// Kernels of opencl/ as Intel's compiler makes vISA of them, against the PTX that nvcc makes of their twins in
// kernels/:
// both compiled by Lanewise, both on the same buffers; and against the same in C and on PoCL, each with one thread, where
// there are gcc and PoCL. Milliseconds (those of Lanewise of processor time), the least of the rounds, and the ratios
// to PTX.
//
//     node bench/visa-twins.mjs [NAME] [ROUNDS]      kernels whose name contains NAME
//
// 32 lanes on Skylake are what the compiler chooses by itself for most kernels there.
//
// The texts in visa/opencl/ are those of IGC 1.0.12504 (`IGC_ShaderDumpEnable=1 IGC_ForceOCLSIMDWidth=WIDTH ocloc
// compile -file X.cl -device PLATFORM --format zebin`), without their comments; each with its section .ze_info.
// Those of calls are made from LLVM's IR (`clang -target spir64 -cl-std=CL2.0 -O2 -emit-llvm`, `ocloc compile
// -llvm_input`), which may have function pointers, with IGC_FunctionControl=3; their functions are in the same file.
import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { Device, scalar } from "../dist/index.js";
import { cpuMilliseconds } from "./time.mjs";
import { TwinPeers } from "./twin-peers.mjs";

const [wanted = "", rounds = "5"] = process.argv.slice(2);
const variants = ["skl.16", "skl.32", "dg2.16", "pvc.32"];
/** Kernels of calls are forced to have them, at the width for which they were made. */
const hasVariant = (name, variant) => existsSync(new URL(`visa/opencl/${name}.${variant}.visaasm`, import.meta.url));

const f32 = (value) => scalar("f32", value);
const s32 = (value) => scalar("s32", value);
const tiles = (side, x, y) => [Math.ceil(side / x), Math.ceil(side / y), 1];
const line = (threads, block) => [Math.ceil(threads / block), 1, 1];

/** A buffer with numbers in [0, 1), or, of integers, with any. */
function noise(device, type, length) {
  let state = length;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
  const values = Array.from({ length }, () => (type === "f32" ? next() / 2 ** 32 : next() % 1000));
  const buffer = device.buffer(type, length);
  buffer.write(values);
  return buffer;
}

const square = (name, kernel, n, x, y, lists) => ({
  name,
  kernel,
  grid: tiles(n, x, y),
  block: [x, lists.rows ?? y, 1],
  args: (d) => [s32(n), ...Array.from({ length: lists.in }, () => noise(d, "f32", n * n)), d.buffer("f32", n * n)],
});

const n = 1 << 20;
const rows = [
  {
    name: "saxpy",
    grid: line(n, 256),
    block: [256, 1, 1],
    args: (d) => [s32(n), f32(2.5), noise(d, "f32", n), noise(d, "f32", n)],
  },
  square("matmul-tiled", "matmul_tiled", 256, 16, 16, { in: 2 }),
  square("matmul-naive", "matmul_naive", 256, 16, 16, { in: 2 }),
  square("transpose", "transpose", 1024, 32, 32, { in: 1, rows: 8 }),
  square("stencil", "stencil", 2048, 32, 8, { in: 1 }),
  {
    name: "mandelbrot",
    grid: tiles(512, 16, 8),
    block: [16, 8, 1],
    args: (d) => [s32(512), f32(-2.25), f32(-1.5), f32(3 / 512), s32(256), d.buffer("s32", 512 * 512)],
  },
  {
    name: "nbody",
    grid: line(2048, 256),
    block: [256, 1, 1],
    args: (d) => [
      ...[s32(2048), f32(1 / 1024), f32(1 / 128), noise(d, "f32", 8192), noise(d, "f32", 8192)],
      ...[d.buffer("f32", 8192), d.buffer("f32", 8192)],
    ],
  },
  {
    name: "blackscholes",
    grid: line(n / 4, 128),
    block: [128, 1, 1],
    args: (d) => [
      ...[s32(n / 4), f32(1 / 64), f32(0.25), noise(d, "f32", n / 4), noise(d, "f32", n / 4), noise(d, "f32", n / 4)],
      ...[d.buffer("f32", n / 4), d.buffer("f32", n / 4)],
    ],
  },
  {
    name: "reduce-tree",
    kernel: "reduce_tree",
    grid: line(n, 512),
    block: [256, 1, 1],
    args: (d) => [s32(n), noise(d, "f32", n), d.buffer("f32", n / 512)],
  },
  {
    name: "reduce-shuffle",
    kernel: "reduce_shuffle",
    grid: [1024, 1, 1],
    block: [256, 1, 1],
    args: (d) => [s32(n), noise(d, "u32", n), d.buffer("u32", 1)],
  },
  {
    name: "histogram",
    grid: [1024, 1, 1],
    block: [256, 1, 1],
    args: (d) => [s32(n / 4), noise(d, "u8", n), d.buffer("u32", 256)],
  },
  {
    name: "bitonic",
    grid: line(n / 2, 256),
    block: [256, 1, 1],
    args: (d) => [s32(n / 2), s32(1024), s32(256), noise(d, "s32", n)],
  },
  ...[
    ["direct", 256],
    ["table", 64],
    ["recursion", 12],
  ].map(([name, count]) => ({
    name: `calls-${name}`,
    kernel: `calls_${name}`,
    grid: line(1 << 14, 128),
    block: [128, 1, 1],
    args: (d) => [s32(count), d.buffer("u32", 1 << 14)],
  })),
];

/** Loads a kernel; what it returns runs it once. */
function twin({ name, kernel = name, grid, block, args }, variant) {
  const device = new Device({ kernelStore: false });
  const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
  const file = `visa/opencl/${name}.${variant}`;
  const module =
    variant === null
      ? device.load(read(`kernels/${name}.ptx`))
      : device.load(
          { path: `${name}.visaasm`, text: read(`${file}.visaasm`) },
          { target: variant.split(".")[0], zeinfo: parse(read(`${file}.yaml`)) },
        );
  const list = args(device);
  const size = variant === null ? { grid, block } : { global: grid.map((count, i) => count * block[i]), local: block };
  return () => {
    let result;
    const ms = cpuMilliseconds(() => (result = module.kernel(kernel).launch({ ...size, args: list })));
    if (!result.ok) throw new Error(result.reports[0].message);
    return ms;
  };
}

const column = (text, width) => String(text).padStart(width);
const peers = new TwinPeers();
process.on("exit", () => peers.remove());
const heads = [column("C", 9), column("PoCL", 9), column("PTX", 9), ...variants.map((v) => column(v, 18))];
console.log(`${"".padEnd(16)}${heads.join("")}`);
const ratios = variants.map(() => []);
for (const row of rows) {
  if (!row.name.includes(wanted)) continue;
  const own = variants.map((variant) => (hasVariant(row.name, variant) ? twin(row, variant) : null));
  const runs = [twin(row, null), ...own];
  for (const run of runs) run?.();
  const least = runs.map(() => Number.POSITIVE_INFINITY);
  const others = { c: [], pocl: [] };
  const same = { ...row, list: row.args(new Device({ kernelStore: false })) };
  for (let round = 0; round < Number(rounds); round++) {
    for (const [i, run] of runs.entries()) if (run !== null) least[i] = Math.min(least[i], run());
    if (round < 3) for (const peer of ["c", "pocl"]) others[peer].push(peers.least(peer, same));
  }
  const ofPeer = (list) => column(list.includes(null) || list.length === 0 ? "-" : Math.min(...list).toFixed(1), 9);
  const [ptx, ...visa] = least;
  for (const [i, ms] of visa.entries()) if (own[i] !== null) ratios[i].push(ms / ptx);
  const cells = visa.map((ms, i) =>
    column(own[i] === null ? "-" : `${ms.toFixed(1)} (${(ms / ptx).toFixed(2)} x)`, 18),
  );
  console.log(
    `${row.name.padEnd(16)}${ofPeer(others.c)}${ofPeer(others.pocl)}${column(ptx.toFixed(1), 9)}${cells.join("")}`,
  );
}
const mean = (list) => Math.exp(list.reduce((sum, ratio) => sum + Math.log(ratio), 0) / list.length);
console.log(`${"geometric mean".padEnd(43)}${ratios.map((list) => column(`${mean(list).toFixed(2)} x`, 18)).join("")}`);

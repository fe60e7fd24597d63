// How fast the interpreter runs: thread-instructions a second of two kernels, first launch and warm; then the cost of a
// launch, of a device, of a block, and of large memory.
//
//     node bench/launch.mjs
import { readFileSync } from "node:fs";
import { Device } from "../dist/index.js";
import { cpuMilliseconds, milliseconds } from "./time.mjs";

const source = (name) =>
  readFileSync(new URL(`../../shared/conformance/cuda/ptx/${name}.sm_90.ptx`, import.meta.url), "utf8");
const megabytes = () => Math.round(process.memoryUsage().rss / 1e6);

function rate(name, device, args, grid, block) {
  const kernel = device.load(source(name)).kernel(name);
  const rates = Array.from({ length: 6 }, () => {
    let result;
    const ms = cpuMilliseconds(() => (result = kernel.launch({ grid, block, args })));
    if (!result.ok) throw new Error(result.reports[0].message);
    return Math.round(result.steps / ms / 1e3);
  });
  console.log(`${name.padEnd(12)} ${rates[0]} M thread-instructions/s at first, ${Math.max(...rates)} warm`);
}

const device = new Device({ engine: "interpreter" });
const n = 1 << 20;
rate("saxpy", device, [n, 2.5, device.buffer("f32", n), device.buffer("f32", n)], n / 256, 256);
const image = device.buffer("u32", 512 * 512);
rate("mandelbrot", device, [image, 512, 512, -2.2, -1.25, 3 / 512, 2.5 / 512, 256], [32, 64], [16, 8]);

const empty = ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() { ret; }";
const store = `.version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {
  .reg .b64 a; .reg .b32 t; ld.param.u64 a, [p]; mov.u32 t, %ctaid.x; st.u32 [a], t; ret; }`;
const report = (what, count, run) => {
  const before = megabytes();
  const ms = milliseconds(run);
  console.log(
    `${what.padEnd(34)} ${(1e3 * (ms / count)).toFixed(1).padStart(8)} us each, ${megabytes() - before} MB more`,
  );
};

const small = new Device();
const kernel = small.load(empty).kernel("k");
for (const sanitize of [[], "all"]) {
  for (let round = 0; round < 2; round++) {
    report(`10,000 launches, sanitizers ${sanitize === "all" ? "on" : "off"}`, 10_000, () => {
      for (let i = 0; i < 10_000; i++) kernel.launch({ grid: 1, block: 32, sanitize });
    });
  }
}
report("1,000,000 blocks of 32 threads", 1e6, () => {
  const target = small.buffer("u32", 1);
  small
    .load(store)
    .kernel("k")
    .launch({ grid: 1e6, block: 32, args: [target] });
});
report("1,000 blocks of 1024 threads", 1000, () => kernel.launch({ grid: 1000, block: 1024 }));
report("1,000 modules in 1,000 devices", 1000, () => {
  for (let i = 0; i < 1000; i++) new Device().load(empty).kernel("k").launch({ grid: 1, block: 32 });
});
report("1,000 modules in one device", 1000, () => {
  for (let i = 0; i < 1000; i++) small.load(empty);
});
report("10,000 buffers made and freed", 10_000, () => {
  for (let i = 0; i < 10_000; i++) small.buffer("u8", 4096).free();
});
report("a buffer of 1 GiB", 1, () => {
  const large = new Device();
  const buffer = large.buffer("u32", 1 << 28);
  const result = large
    .load(store)
    .kernel("k")
    .launch({ grid: 1, block: 32, args: [buffer.at(2 ** 30 - 4)] });
  if (!result.ok) throw new Error(result.reports[0].message);
});
report("a buffer of 3 GiB", 1, () => {
  const large = new Device();
  const buffer = large.buffer("u8", 3 * 2 ** 30);
  const result = large
    .load(store)
    .kernel("k")
    .launch({ grid: 1, block: 32, args: [buffer.at(3 * 2 ** 30 - 4)] });
  if (!result.ok) throw new Error(result.reports[0].message);
});

// What sanitizers cost: processor time of the kernels of the suite under each, as a multiple of the interpreter's
// without any.
//
//     node bench/sanitizers.mjs [NAME...]
import { readFileSync } from "node:fs";
import { load, source } from "./bundle.mjs";
import { cpuMilliseconds } from "./time.mjs";

const { benchKernels, initialValues, Device } = await load(`
  export { initialValues } from ${source("../bench/suite/kernel.ts")};
  export { benchKernels } from ${source("../bench/suite/suite.ts")};
  export { Device } from ${source("index.ts")};`);

/** Milliseconds that a run without sanitizers should take at least: sizes are doubled until it does. */
const enough = 40;
const columns = ["call", "init", "memory", "race", "sync", "all"];
const wanted = process.argv.slice(2);

/** Runs a plan once for each of the settings, on one device, and gives the milliseconds of each. */
function measure({ file, name, plan }, size, settings) {
  const { buffers, launches } = plan(size);
  const values = initialValues({ buffers });
  const device = new Device({ engine: "interpreter" });
  const path = new URL(`kernels/${file || name}.ptx`, import.meta.url);
  const module = device.load({ path: "k.ptx", text: readFileSync(path, "utf8") });
  const made = new Map([...values].map(([key, { type, length }]) => [key, device.buffer(type, length)]));
  const run = (sanitize) => {
    for (const [key, { bytes }] of values) made.get(key).writeBytes(bytes);
    return cpuMilliseconds(() => {
      for (const { kernel, grid, block, args } of launches) {
        const actual = args.map((a) => (typeof a === "string" ? made.get(a) : a));
        const { reports } = module.kernel(kernel).launch({ grid, block, args: actual, sanitize });
        if (reports.length > 0) throw new Error(`${name}: ${reports[0].code}: ${reports[0].message}`);
      }
    });
  };
  return settings.map((sanitize) => Math.min(run(sanitize), run(sanitize), run(sanitize)));
}

const worst = new Map();
console.log(`${"".padEnd(20)}${["none, ms", ...columns].map((c) => c.padStart(10)).join("")}`);
for (const kernel of benchKernels) {
  if (wanted.length > 0 && !wanted.includes(kernel.name)) continue;
  let size = kernel.quickSize;
  while (size < kernel.size && measure(kernel, size, [[]])[0] < enough) size *= 2;
  const [none, ...times] = measure(kernel, size, [[], ...columns.map((c) => (c === "all" ? c : [c]))]);
  const ratios = times.map((ms) => ms / none);
  for (const [i, c] of columns.entries()) worst.set(c, Math.max(worst.get(c) ?? 0, ratios[i]));
  console.log(
    `${kernel.name.padEnd(20)}${none.toFixed(0).padStart(10)}${ratios.map((r) => r.toFixed(1).padStart(10)).join("")}`,
  );
}
console.log(`${"most".padEnd(30)}${columns.map((c) => worst.get(c).toFixed(1).padStart(10)).join("")}`);

// What sanitizers cost: processor time of the kernels of the suite under each, as a multiple of that of compiled code
// without any. A star: the interpreter ran a launch.
//
//     node bench/sanitizers.mjs [NAME...]
import { readFileSync } from "node:fs";
import { load, source } from "./bundle.mjs";
import { cpuMilliseconds } from "./time.mjs";

const { benchKernels, initialValues, tensorMapOf, Device } = await load(`
  export { initialValues } from ${source("../bench/suite/kernel.ts")};
  export { tensorMapOf } from ${source("../bench/suite/tensor-map.ts")};
  export { benchKernels } from ${source("../bench/suite/suite.ts")};
  export { Device } from ${source("index.ts")};`);

/**
 * Milliseconds that a run without sanitizers should take at least: sizes are doubled until it does, up to that of the
 * suite, beyond which a kernel need not be right.
 */
const enough = 10;
const columns = ["call", "init", "memory", "race", "sync", "all"];
const wanted = process.argv.slice(2);

/** Runs a plan once for each of the settings, on one device, and gives the milliseconds of each. */
function measure({ file, name, plan }, size, settings) {
  const { buffers, launches } = plan(size);
  const values = initialValues({ buffers });
  const device = new Device();
  const path = new URL(`kernels/${file || name}.ptx`, import.meta.url);
  const module = device.load({ path: "k.ptx", text: readFileSync(path, "utf8") });
  const made = new Map([...values].map(([key, { type, length }]) => [key, device.buffer(type, length)]));
  const argument = (a) => {
    if (typeof a === "string") return made.get(a);
    return typeof a === "object" && "matrix" in a ? tensorMapOf(device, made.get(a.matrix), a) : a;
  };
  const run = (sanitize) => {
    for (const [key, { bytes }] of values) made.get(key).writeBytes(bytes);
    let isInterpreted = false;
    const ms = cpuMilliseconds(() => {
      for (const { kernel, grid, block, shared = 0, args } of launches) {
        const actual = args.map(argument);
        const { reports, engine } = module.kernel(kernel).launch({ grid, block, shared, args: actual, sanitize });
        if (reports.length > 0) throw new Error(`${name}: ${reports[0].code}: ${reports[0].message}`);
        isInterpreted ||= engine === "interpreter";
      }
    });
    return { ms, isInterpreted };
  };
  return settings.map((sanitize) => {
    // The first one compiles, and decides whether it is any use.
    const all = [run(sanitize), run(sanitize), run(sanitize), run(sanitize)];
    return { ms: Math.min(...all.map(({ ms }) => ms)), isInterpreted: all.at(-1).isInterpreted };
  });
}

/** Whether a kernel's arguments are buffers, numbers and tensor maps. */
function canRun({ plan, quickSize }) {
  const { launches } = plan(quickSize);
  const isKnown = (a) => typeof a !== "object" || !("texture" in a);
  return launches.every(({ args }) => args.every(isKnown));
}

const ratiosOf = new Map(columns.map((c) => [c, []]));
console.log(`${"".padEnd(20)}${["none, ms", ...columns].map((c) => c.padStart(10)).join("")}`);
for (const kernel of benchKernels) {
  if (wanted.length > 0 && !wanted.includes(kernel.name)) continue;
  // Textures are left out.
  if (!canRun(kernel)) continue;
  let size = kernel.quickSize;
  while (size < kernel.size && measure(kernel, size, [[]])[0].ms < enough) size = Math.min(2 * size, kernel.size);
  const [none, ...found] = measure(kernel, size, [[], ...columns.map((c) => (c === "all" ? c : [c]))]);
  const cells = found.map(({ ms, isInterpreted }, i) => {
    const ratio = ms / none.ms;
    ratiosOf.get(columns[i]).push(ratio);
    return `${ratio.toFixed(1)}${isInterpreted ? "*" : " "}`.padStart(10);
  });
  console.log(`${kernel.name.padEnd(20)}${none.ms.toFixed(1).padStart(10)}${cells.join("")}`);
}
const meanOf = (ratios) => Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
const means = columns.map((c) => meanOf(ratiosOf.get(c)).toFixed(1));
console.log(`${"geometric mean".padEnd(30)}${means.map((m) => `${m} `.padStart(10)).join("")}`);

// How fast a module is read and checked: parse, check, link and lower, print; then the command line, less its start-up.
//
//     node bench/check.mjs [MEGABYTES]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { largeModule } from "./corpus.mjs";
import { best } from "./time.mjs";
import { checkPtx, linkPtx, lowerModules, parsePtx, printPtx } from "../dist/ptx/index.js";
import { SourceText } from "../dist/source/index.js";

const text = largeModule(1e6 * Number(process.argv[2] ?? 5));
const rate = (ms) => `${(text.length / 1e3 / ms).toFixed(1).padStart(6)} MB/s  ${ms.toFixed(0).padStart(6)} ms`;

let tree, module, errors;
const phases = {
  parse: () => ({ tree } = parsePtx(new SourceText("large.ptx", text))),
  check: () => (module = checkPtx(tree)),
  lower: () => {
    if (errors > 0) return;
    const { modules, names, target } = linkPtx([module], (name) => name === "vprintf");
    lowerModules(modules, names, target.name);
  },
  print: () => printPtx(tree),
};
const times = { parse: [], check: [], lower: [], print: [] };
for (let round = 0; round < 5; round++) {
  for (const [name, phase] of Object.entries(phases)) {
    const begin = performance.now();
    phase();
    times[name].push(performance.now() - begin);
    if (name === "check") errors = module.diagnostics.filter((d) => d.severity === "error").length;
  }
}
console.log(`${(text.length / 1e6).toFixed(1)} MB, ${errors} errors; best of 5, first in brackets`);
for (const [name, all] of Object.entries(times)) {
  console.log(`${name.padEnd(12)} ${rate(Math.min(...all))}  (${all[0].toFixed(0)} ms)`);
}
console.log(`${"parse+check".padEnd(12)} ${rate(Math.min(...times.parse.map((t, i) => t + times.check[i])))}`);
console.log(
  `heap ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB, peak RSS ${(process.resourceUsage().maxRSS / 1e3).toFixed(0)} MB`,
);

const folder = mkdtempSync(join(tmpdir(), "lanewise-bench-"));
try {
  const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
  const [large, empty] = [join(folder, "large.ptx"), join(folder, "empty.ptx")];
  writeFileSync(large, text);
  writeFileSync(empty, ".version 9.0\n.target sm_90\n.address_size 64\n");
  const check = (file) => best(5, () => spawnSync(process.execPath, [main, "check", file]));
  console.log(`${"command line".padEnd(12)} ${rate(check(large) - check(empty))}`);
} finally {
  rmSync(folder, { recursive: true });
}

// How fast a module is read and checked: parse, check, link and lower, print; then the command line, less its start-up.
//
//     node bench/check.mjs [MEGABYTES] [ptx|visa]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { largeFile, largeModule } from "./corpus.mjs";
import { best } from "./time.mjs";
import { checkPtx, linkPtx, lowerModules, parsePtx, printPtx } from "../dist/ptx/index.js";
import { SourceText } from "../dist/source/index.js";
import { checkVisa, linkVisa, lowerVisa, parseVisa, printVisa } from "../dist/visa/index.js";

const [megabytes = "5", isa = "ptx"] = process.argv.slice(2);
const bytes = 1e6 * Number(megabytes);
let tree, module, errors;
const languages = {
  ptx: {
    name: "large.ptx",
    text: () => largeModule(bytes),
    empty: ".version 9.0\n.target sm_90\n.address_size 64\n",
    phases: {
      parse: (source) => ({ tree } = parsePtx(source)),
      check: () => (module = checkPtx(tree)),
      lower: () => {
        const { modules, names, target } = linkPtx([module], (name) => name === "vprintf");
        lowerModules(modules, names, target.name);
      },
      print: () => printPtx(tree),
    },
  },
  visa: {
    name: "large.isaasm",
    text: () => largeFile(bytes),
    empty: ".version 3.6\n",
    phases: {
      parse: (source) => ({ tree } = parseVisa(source)),
      check: () => (module = checkVisa(tree, { platform: "skl" })),
      lower: () => {
        linkVisa([module]);
        lowerVisa(module.routines);
      },
      print: () => printVisa(tree),
    },
  },
};
const { name, phases, empty: nothing, ...language } = languages[isa];
const text = language.text();
const rate = (ms) => `${(text.length / 1e3 / ms).toFixed(1).padStart(6)} MB/s  ${ms.toFixed(0).padStart(6)} ms`;

const times = { parse: [], check: [], lower: [], print: [] };
for (let round = 0; round < 5; round++) {
  const source = new SourceText(name, text);
  for (const [phase, run] of Object.entries(phases)) {
    if (phase === "lower" && errors > 0) continue;
    const begin = performance.now();
    run(source);
    times[phase].push(performance.now() - begin);
    if (phase === "check") errors = module.diagnostics.filter((d) => d.severity === "error").length;
  }
}
console.log(`${(text.length / 1e6).toFixed(1)} MB, ${errors} errors; best of 5, first in brackets`);
for (const [phase, all] of Object.entries(times)) {
  console.log(`${phase.padEnd(12)} ${rate(Math.min(...all))}  (${all[0].toFixed(0)} ms)`);
}
console.log(`${"parse+check".padEnd(12)} ${rate(Math.min(...times.parse.map((t, i) => t + times.check[i])))}`);
console.log(
  `heap ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB, peak RSS ${(process.resourceUsage().maxRSS / 1e3).toFixed(0)} MB`,
);

const folder = mkdtempSync(join(tmpdir(), "lanewise-bench-"));
try {
  const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
  const [large, empty] = [join(folder, name), join(folder, name.replace("large", "empty"))];
  writeFileSync(large, text);
  writeFileSync(empty, nothing);
  const check = (file) => best(5, () => spawnSync(process.execPath, [main, "check", file]));
  console.log(`${"command line".padEnd(12)} ${rate(check(large) - check(empty))}`);
} finally {
  rmSync(folder, { recursive: true });
}

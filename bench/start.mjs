// What starting costs: the median wall time of a process that imports the library, checks a small file, or runs a kernel
// that nobody has compiled before, against `node -e 0`.
//
//     node bench/start.mjs [TIMES]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { milliseconds } from "./time.mjs";

const times = Number(process.argv[2] ?? 20);
const project = fileURLToPath(new URL("..", import.meta.url));
const main = join(project, "dist/cli/main.js");
const folder = mkdtempSync(join(tmpdir(), "lanewise-bench-"));
const [ptx, visa] = [join(folder, "small.ptx"), join(folder, "small.visaasm")];
writeFileSync(
  ptx,
  `.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {
  .reg .b32 r; .reg .b64 a;
  ld.param.u64 a, [p]; cvta.to.global.u64 a, a; mov.u32 r, %tid.x; mad.lo.u32 r, r, r, 1; st.global.u32 [a], r; ret;\n}\n`,
);
writeFileSync(
  visa,
  `.version 3.6\n.kernel "k"\n.decl A v_type=G type=ud num_elts=16 align=GRF\n.kernel_attr SimdSize=16
.kernel_attr Target="3d"\n.function "k_main"\n\nk_main:
    add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x1:ud\n    ret (M1, 1)\n`,
);
// Four blocks of saxpy, compiled anew: `lanewise run` reads, checks, lowers, compiles and runs it.
const saxpy = fileURLToPath(new URL("kernels/saxpy.ptx", import.meta.url));
const values = ["1024", "2.0", "f32[1024]=iota", "f32[1024]=iota"].flatMap((value) => ["--arg", value]);
const run = [main, "run", saxpy, "--grid", "4", "--block", "256", ...values, "--no-cache", "--engine"];
const cases = {
  "node -e 0": ["-e", "0"],
  'import "lanewise"': ["--input-type=module", "-e", 'import "lanewise"'],
  "lanewise --version": [main, "--version"],
  "lanewise check, PTX": [main, "check", ptx],
  "lanewise check, vISA": [main, "check", visa],
  "lanewise run, compiled": [...run, "jit"],
  "lanewise run, interpreted": [...run, "interpreter"],
};
try {
  // In turns, so that a disturbance of the machine hits all alike.
  const taken = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  for (let i = 0; i < times; i++) {
    for (const [name, words] of Object.entries(cases)) {
      let ended;
      taken[name].push(
        milliseconds(() => (ended = spawnSync(process.execPath, words, { encoding: "utf8", cwd: project }))),
      );
      if (ended.status !== 0) throw new Error(`${name} failed:\n${ended.stderr}`);
    }
  }
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  const base = median(taken["node -e 0"]);
  for (const [name, list] of Object.entries(taken)) {
    const ms = median(list);
    const more = ms === base ? "" : `+${(ms - base).toFixed(0)} ms`;
    console.log(`${name.padEnd(26)} ${ms.toFixed(0).padStart(5)} ms ${more.padStart(8)}  ${(ms / base).toFixed(2)} x`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

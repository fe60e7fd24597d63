// How long kernels take to their first result, and how that grows: kernels of one kind, of 1000 instructions and more.
//
//     node bench/compile.mjs [--json] [--runs N] [--most N] [KIND…]
//
// Milliseconds that pass, the medians of N (3) fresh processes in which nothing is warm. `read` parses, checks and
// lowers, `analyse` is what comes before the first byte of WebAssembly, `emit` writes it, `host` is the host's
// compiler, `run` the first launch; `compile` is what lies between `read` and `run`. Below a kind stands how it grows
// from 10,000 to 100,000 instructions.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { kinds } from "./compile-kinds.mjs";

const steps = ["read", "analyse", "emit", "host", "run"];
const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const script = join(folder, "once.mjs");
const once = await rolldown({ input: fileURLToPath(new URL("compile-once.mjs", import.meta.url)), platform: "node" });
await once.write({ file: script, format: "esm" });
const { values, positionals } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    runs: { type: "string", default: "3" },
    most: { type: "string", default: "100000" },
  },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(kinds);
const unknown = names.find((name) => !(name in kinds));
if (unknown !== undefined) {
  console.error(`no kind ${unknown}; there are ${Object.keys(kinds).join(", ")}`);
  process.exit(2);
}
const sizes = [1000, 3000, 10_000, 30_000, 100_000].filter((n) => n <= Number(values.most));

/** What a fresh process says of a kernel: its times, or an error. */
function timesOf(kind, n) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, kind, String(n)], { encoding: "utf8" });
  if (status === 0) return JSON.parse(stdout);
  throw new Error(stderr.split("\n").find((line) => line.includes("Error")) ?? `ended with ${status}`);
}

function measure(kind, n) {
  const runs = Array.from({ length: Number(values.runs) }, () => timesOf(kind, n));
  const median = (of) => runs.map(of).sort((a, b) => a - b)[runs.length >> 1];
  const times = Object.fromEntries(steps.map((step) => [step, median((run) => run[step])]));
  const compile = median(({ analyse, emit, host }) => analyse + emit + host);
  return { kind, instructions: n, ...times, compile, bytes: runs[0].bytes, note: runs[0].note };
}

const columns = ["instructions", ...steps, "compile", "wasm KB"];
const line = (kind, cells) => console.log(kind.padEnd(12) + cells.map((c) => String(c).padStart(9)).join(""));
const rows = [];
if (!values.json) line("kind", ["instr.", ...columns.slice(1)]);
for (const kind of names) {
  const compiled = new Map();
  for (const n of sizes) {
    try {
      const row = measure(kind, n);
      rows.push(row);
      compiled.set(n, row.compile);
      if (values.json) continue;
      const cells = [...steps, "compile"].map((c) => row[c].toFixed(0));
      line(kind, [n, ...cells, row.note ?? (row.bytes / 1000).toFixed(0)]);
    } catch (error) {
      rows.push({ kind, instructions: n, error: error.message });
      if (!values.json) line(kind, [n, `  ${error.message}`]);
    }
  }
  const [less, more] = [compiled.get(10_000), compiled.get(100_000)];
  if (!values.json && more !== undefined && less !== undefined)
    line("", [`grows with n^${Math.log10(more / less).toFixed(2)}`]);
}
if (values.json) console.log(JSON.stringify(rows));

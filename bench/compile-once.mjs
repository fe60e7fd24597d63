// Bundled and run by compile.mjs: compiles and runs one kernel, in a process of its own, and says how long that took.
import { setFlagsFromString } from "node:v8";
import { SourceText } from "../src/source/index.ts";
import { loadProgram } from "../src/program/program.ts";
import { JitProgram } from "../src/jit/run/jit-program.ts";
import { compile } from "../src/runtime/device/compile.ts";
import { PtxDevice } from "../src/runtime/device/ptx-device.ts";
import { ModuleWriter } from "../src/wasm/index.ts";
import { kinds } from "./compile-kinds.mjs";
import { milliseconds } from "./time.mjs";

// The host compiles when they are first called functions that it has put off, and again behind our back what runs
// often.
for (const flag of ["tier-up", "dynamic-tiering", "lazy-compilation"]) setFlagsFromString(`--no-wasm-${flag}`);

const [, , kind, n] = process.argv;
const text = kinds[kind](Number(n));
const device = new PtxDevice();
let program;
const read = milliseconds(() => {
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)]);
  if (module === null) throw new Error(diagnostics[0].message);
  program = loadProgram(device.memory, module);
});

let begun = null;
const { function: begin } = ModuleWriter.prototype;
ModuleWriter.prototype.function = function (name, ...types) {
  if (name === "run") begun = performance.now();
  return begin.call(this, name, ...types);
};
let host = 0;
let bytes = 0;
const { Module } = WebAssembly;
WebAssembly.Module = class extends Module {
  constructor(made) {
    const before = performance.now();
    super(made);
    host += performance.now() - before;
    bytes = made.length;
  }
};

const params = new Uint8Array(16);
const request = { kernel: "k", grid: [1, 1, 1], block: [64, 1, 1], sharedBytes: 0, params };
const jit = new JitProgram(program);
const before = performance.now();
const note = jit.obstacleOf(request);
const compiled = performance.now();
const run = milliseconds(() => {
  if (note !== null) return;
  const out = device.buffer("u32", 1024);
  new DataView(params.buffer).setBigUint64(0, out.address, true);
  jit.launch(request);
});
const analyse = (begun ?? compiled) - before;
console.log(JSON.stringify({ read, analyse, emit: compiled - before - analyse - host, host, run, bytes, note }));

// How long compiling takes, and how it grows: kernels of one kind, of 1000 instructions and more.
//
//     node bench/compile.mjs [MOST] [KIND…]
//
// MOST: instructions of the largest (default: 100000). Times are of processor time, in milliseconds, of the second of two
// compilations: `read` parses, checks and lowers, `compile` makes WebAssembly, `host` is what the host takes to compile that for its first run.
import { setFlagsFromString } from "node:v8";
import { SourceText } from "../dist/source/index.js";
import { loadProgram } from "../dist/interpreter/index.js";
import { JitProgram } from "../dist/jit/launch.js";
import { compile } from "../dist/runtime/compile.js";
import { PtxDevice } from "../dist/runtime/ptx-device.js";
import { cpuMilliseconds } from "./time.mjs";

// The host's second tier compiles behind our back what has been measured before.
setFlagsFromString("--no-wasm-tier-up");

const head = ".version 8.0\n.target sm_80\n.address_size 64\n";
const entry = (registers, body, before = "") => `${head}${before}
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<${registers + 8}>; .reg .pred %p<4>; .reg .b64 %o;
  ld.param.u64 %o, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r0, %tid.x; mad.wide.u32 %o, %r0, 4, %o; mov.u32 %r2, %r0;
${body.join("\n")}
  st.global.u32 [%o], %r2;
  ret;
}`;
const range = (count, make) => Array.from({ length: Math.max(1, Math.round(count)) }, (_, i) => make(i));

/** A kernel of about n instructions, by kind. */
const kinds = {
  straight: (n) =>
    entry(
      0,
      range(n / 2, (i) => `  mad.lo.u32 %r2, %r2, %r1, ${i}; xor.b32 %r2, %r2, %r0;`),
    ),
  // Each lane may go its own way, and all meet again.
  branches: (n) =>
    entry(
      0,
      range(
        n / 4,
        (i) => `  setp.gt.u32 %p1, %r2, ${i}; @%p1 bra L${i}; add.u32 %r2, %r2, %r1;\nL${i}: xor.b32 %r2, %r2, ${i};`,
      ),
    ),
  // Everywhere lanes may wait for those that have gone on.
  exits: (n) =>
    entry(0, [
      ...range(n / 3, (i) => `  setp.eq.u32 %p1, %r2, ${i}; @%p1 bra OUT; add.u32 %r2, %r2, %r1;`),
      "OUT: add.u32 %r2, %r2, 1;",
    ]),
  loops: (n) =>
    entry(
      0,
      range(
        n / 5,
        (i) =>
          `  mov.u32 %r3, 0;\nL${i}: add.u32 %r3, %r3, 1; xor.b32 %r2, %r2, %r3; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L${i};`,
      ),
    ),
  // Loops whose lanes leave one by one.
  "own-loops": (n) =>
    entry(
      0,
      range(
        n / 5,
        (i) =>
          `  mov.u32 %r3, 0;\nL${i}: add.u32 %r3, %r3, 1; xor.b32 %r2, %r2, %r3; setp.lt.u32 %p1, %r3, %r0; @%p1 bra L${i};`,
      ),
    ),
  // One in the other, as deep as text may be: a hundred at a time.
  nests: (n) =>
    entry(
      100,
      range(n / 400, (i) => [
        ...range(100, (d) => `  mov.u32 %r${d + 8}, 0;\nL${i}_${d}: add.u32 %r2, %r2, %r${d + 8};`),
        ...range(100, (d) => `  setp.lt.u32 %p1, %r${107 - d}, %r1; @%p1 bra L${i}_${99 - d};`),
      ]).flat(),
    ),
  // All live from the beginning to the end.
  registers: (n) =>
    entry(n / 2, [
      ...range(n / 2, (i) => `  add.u32 %r${i + 8}, %r0, ${i};`),
      ...range(n / 2, (i) => `  xor.b32 %r2, %r2, %r${i + 8};`),
    ]),
  // Live across blocks.
  crossing: (n) =>
    entry(n / 4, [
      ...range(n / 4, (i) => `  xor.b32 %r${i + 8}, %r0, ${i};`),
      ...range(
        n / 8,
        (i) =>
          `  setp.gt.u32 %p1, %r2, ${i}; @%p1 bra L${i}; add.u32 %r2, %r2, %r${2 * i + 8};\nL${i}: xor.b32 %r2, %r2, %r${2 * i + 9};`,
      ),
    ]),
  memory: (n) =>
    entry(
      0,
      range(n / 3, (i) => `  ld.global.u32 %r3, [%o+${4 * (i % 64)}]; add.u32 %r2, %r2, %r3; st.global.u32 [%o], %r2;`),
    ),
  barriers: (n) =>
    entry(
      0,
      range(n / 3, (i) => `  add.u32 %r2, %r2, ${i}; bar.sync 0; xor.b32 %r2, %r2, %r1;`),
    ),
  // Of as many functions.
  calls: (n) =>
    entry(
      0,
      range(
        n / 10,
        (i) => `  { .param .b32 a, b; st.param.b32 [a], %r2; call (b), f${i}, (a); ld.param.b32 %r2, [b]; }`,
      ),
      range(
        n / 10,
        (i) =>
          `.func (.param .b32 y) f${i}(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; mad.lo.u32 %x, %x, %x, ${i}; st.param.b32 [y], %x; ret; }`,
      ).join("\n"),
    ),
  // Of one function.
  "call-sites": (n) =>
    entry(
      0,
      range(n / 4, () => "  { .param .b32 a, b; st.param.b32 [a], %r2; call (b), f, (a); ld.param.b32 %r2, [b]; }"),
      ".func (.param .b32 y) f(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; mad.lo.u32 %x, %x, %x, 3; st.param.b32 [y], %x; ret; }",
    ),
};

function measure(n, make) {
  const times = { read: 0, compile: 0, host: 0 };
  const { Module } = WebAssembly;
  let size = 0;
  for (let round = 0; round < 2; round++) {
    const device = new PtxDevice();
    // The host knows a module again that is the same to the byte.
    const text = make(n).replace("mov.u32 %r0, %tid.x;", `$& add.u32 %r0, %r0, ${round};`);
    let program;
    times.read = cpuMilliseconds(() => {
      const { module, diagnostics } = compile([new SourceText("k.ptx", text)]);
      if (module === null) throw new Error(diagnostics[0].message);
      program = loadProgram(device.memory, module);
    });
    let made = null;
    WebAssembly.Module = class extends Module {
      constructor(bytes) {
        super(bytes);
        made = bytes;
      }
    };
    const params = new Uint8Array(16);
    const request = { kernel: "k", grid: [1, 1, 1], block: [64, 1, 1], sharedBytes: 0, params };
    const jit = new JitProgram(program);
    times.compile = cpuMilliseconds(() => {
      const obstacle = jit.obstacleOf(request);
      if (obstacle !== null) throw new Error(obstacle);
    });
    WebAssembly.Module = Module;
    size = made.length;
    const out = device.buffer("u32", 1024);
    new DataView(params.buffer).setBigUint64(0, out.address, true);
    times.host = cpuMilliseconds(() => jit.launch(request));
  }
  return { ...times, size };
}

const [most = "100000", ...names] = process.argv.slice(2);
const sizes = [1000, 3000, 10_000, 30_000, 100_000].filter((n) => n <= Number(most));
console.log(
  `${"kind".padEnd(12)}${["instructions", "read", "compile", "host", "wasm KB"].map((c) => c.padStart(13)).join("")}`,
);
for (const [kind, text] of Object.entries(kinds)) {
  if (names.length > 0 && !names.includes(kind)) continue;
  for (const n of sizes) {
    try {
      const { read, compile: ms, host, size } = measure(n, text);
      const cells = [n, read.toFixed(0), ms.toFixed(0), host.toFixed(0), (size / 1000).toFixed(0)];
      console.log(`${kind.padEnd(12)}${cells.map((c) => String(c).padStart(13)).join("")}`);
    } catch (error) {
      console.log(`${kind.padEnd(12)}${String(n).padStart(13)}  ${error.message.split("\n")[0]}`);
      break;
    }
  }
}

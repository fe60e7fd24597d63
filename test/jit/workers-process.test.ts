import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
const root = new URL("../..", import.meta.url).pathname;

/** The library as a bundler leaves it: workers have to be found then, too. */
beforeAll(async () => {
  const build = await rolldown({ input: join(root, "src/index.ts"), platform: "neutral" });
  await build.write({ file: join(folder, "lanewise.mjs"), minify: true });
  await build.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a program prints that begins with a device and a kernel which takes long. `before`: what comes before all. */
function printed(name: string, program: string, before = "", flags: readonly string[] = []): string {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(
    file,
    `${before}
const { Device } = await import("./lanewise.mjs");
const text = \`.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds) {
  .reg .pred p; .reg .u32 %a<6>; .reg .u64 %d<4>;
  ld.param.u64 %d1, [out]; ld.param.u32 %a1, [rounds];
  mov.u32 %a2, %ctaid.x; mov.u32 %a3, %ntid.x; mov.u32 %a4, %tid.x; mad.lo.u32 %a5, %a2, %a3, %a4;
LOOP: mad.lo.u32 %a5, %a5, 3, 1; sub.u32 %a1, %a1, 1; setp.ne.u32 p, %a1, 0; @p bra LOOP;
  mad.lo.u32 %a4, %a2, %a3, %a4; mul.wide.u32 %d2, %a4, 4; add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %a5; ret;
}\`;
const device = new Device({ engine: "jit", hostThreads: 3 });
const kernel = device.load(text).kernel("k");
const out = device.buffer("u32", 128 * 200);
const options = { grid: 200, block: 128, args: [out, 3000] };
const tell = ({ ok, engine }) => console.log(ok, engine, out.read()[5]);
${program}`,
  );
  const { stdout, status, signal, ...rest } = spawnSync(process.execPath, [...flags, file], {
    encoding: "utf8",
    timeout: 300_000,
  });
  // Node begins with the line in which something was thrown, which is as long as the library.
  const stderr = rest.stderr.slice(-1000);
  expect({ stderr, status, signal }).toEqual({ stderr: "", status: 0, signal: null });
  return stdout;
}

/** x -> 3x + 1, 3000 times from 5 on. */
const five = (): number => {
  let x = 5;
  for (let i = 0; i < 3000; i++) x = (Math.imul(x, 3) + 1) >>> 0;
  return x;
};

const line = `true jit ${five()}\n`;

test("a process ends when its work is done, though workers are there", () => {
  expect(printed("launch", "for (let i = 0; i < 5; i++) tell(kernel.launch(options));")).toBe(line.repeat(5));
});

test("workers come in a process that gives its programs the garbage collector", () => {
  const program = `let most = 1;
for (let i = 0; i < 20; i++) most = Math.max(most, kernel.launch({ ...options, args: [out, 30_000] }).hostThreads);
console.log(most > 1);`;
  expect(printed("collector", program, "", ["--expose-gc"])).toBe("true\n");
});

test("a process does not end while a launch is in flight", () => {
  expect(printed("async", "kernel.launchAsync(options).then(tell);")).toBe(line);
});

test("timers go on while launches are in flight", () => {
  const program = `let ticks = 0;
const timer = setInterval(() => ticks++, 1);
const long = await kernel.launchAsync({ ...options, args: [out, 1_000_000] });
clearInterval(timer);
console.log(long.ok, ticks > 3);`;
  expect(printed("timers", program)).toBe("true true\n");
});

test("many launches at the same time, and the end of the process in the middle of one", () => {
  const program = `const others = Array.from({ length: 5 }, () => new Device({ engine: "jit", hostThreads: 2 }));
for (const other of others) {
  const o = other.buffer("u32", out.length);
  const results = await Promise.all(
    Array.from({ length: 4 }, () => other.load(text).kernel("k").launchAsync({ ...options, args: [o, 3000] })),
  );
  console.log(results.every((r) => r.ok && r.engine === "jit"));
}
kernel.launchAsync({ ...options, args: [out, 100_000_000] });
setTimeout(() => process.exit(), 50);`;
  expect(printed("many", program)).toBe("true\n".repeat(5));
});

test.runIf(process.platform === "linux")(
  "the memory of devices that are no longer used goes back to the system",
  () => {
    const program = `import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
const megabytes = 2 ** 20;
const bytes = 24 * megabytes;
async function use() {
  const own = new Device({ engine: "jit", hostThreads: 2 });
  const args = [own.buffer("u32", out.length), 3];
  own.buffer("u8", bytes).writeBytes(new Uint8Array(bytes).fill(1));
  const { ok } = await own.load(text).kernel("k").launchAsync({ ...options, args });
  if (!ok) throw new Error("the launch failed");
}
async function useAndForget() {
  await use();
  gc();
  gc();
}
await useAndForget();
const before = process.memoryUsage.rss();
for (let i = 0; i < 5; i++) await useAndForget();
// The workers notice that nothing is asked of them.
await new Promise((resolve) => setTimeout(resolve, 300));
gc();
gc();
const more = (process.memoryUsage.rss() - before) / megabytes;
console.log(more < 60 ? "gone" : more);`;
    expect(printed("dead", program)).toBe("gone\n");
  },
);

/** What a page has, made of what Node has: workers that are scripts at URLs, and a main thread that must not wait. */
const page = `import { Worker as Thread } from "node:worker_threads";
import { resolveObjectURL } from "node:buffer";
delete process.getBuiltinModule;
const inWorker = \`const { parentPort: port } = require("node:worker_threads");
delete process.getBuiltinModule;
globalThis.postMessage = (message) => port.postMessage(message);
port.on("message", (data) => globalThis.onmessage({ data }));
\`;
let started = 0;
globalThis.Worker = class {
  constructor(url) {
    started++;
    this.thread = resolveObjectURL(url).text().then((text) => {
      const thread = new Thread(inWorker + text, { eval: true });
      thread.on("message", (data) => this.onmessage({ data }));
      return thread;
    });
  }
  postMessage(message) {
    this.thread.then((thread) => thread.postMessage(message));
  }
};
Object.defineProperty(globalThis, "navigator", { value: { hardwareConcurrency: 4 }, configurable: true });
Atomics.wait = () => {
  throw new TypeError("Atomics.wait cannot be called in this context");
};`;

test("in a page, launches that do not keep the caller waiting run in workers, and others in the page's thread", () => {
  const program = `tell(kernel.launch(options));
console.log(started);
const result = await kernel.launchAsync(options);
tell(result);
console.log(started, result.hostThreads > 0);
process.exit();`;
  expect(printed("page", program, page)).toBe(`${line}0\n${line}3 true\n`);
});

test("where the host allows no workers, launches run in the calling thread", () => {
  const refusing = `${page}
globalThis.Worker = class {
  constructor() {
    throw new Error("refused");
  }
};`;
  const program = `const result = await kernel.launchAsync(options);
tell(result);
console.log(result.hostThreads);
tell(kernel.launch(options));`;
  expect(printed("refused", program, refusing)).toBe(`${line}1\n${line}`);
});

test("where no memory can be shared, either", () => {
  const program = `const result = await kernel.launchAsync(options);
tell(result);
console.log(result.hostThreads);`;
  expect(printed("unshared", program, `${page}\ndelete globalThis.SharedArrayBuffer;`)).toBe(`${line}1\n`);
});

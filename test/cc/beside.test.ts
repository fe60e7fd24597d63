import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import type { NativeCode, NativeCompiler } from "../../src/jit/abi/native-code.ts";
import { addonFile } from "../../src/node/exec/native.ts";
import { CCompiler } from "../../src/node/native/c-compiler.ts";
import { openNativeCompiler } from "../../src/node/native/index.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { compilerForTests, whyNoMachineCode } from "./native.ts";

/** A thread's chain of products and sums, as long as it is told. */
const text = `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds) {
  .reg .b32 %r<6>; .reg .b64 %d<3>; .reg .pred %q;
  ld.param.u64 %d0, [out]; ld.param.u32 %r0, [rounds];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d0, %d1; mov.u32 %r4, %r1; mov.u32 %r5, 0;
AGAIN:
  mad.lo.u32 %r4, %r4, 1664525, %r1; xor.b32 %r4, %r4, %r5;
  add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, %r0; @%q bra AGAIN;
  st.global.u32 [%d2], %r4; ret;
}`;

const threads = 4096;

function launcher(device: PtxDevice) {
  const out = device.buffer("u32", threads);
  const kernel = device.load([{ path: "k.ptx", text }]).kernel("k");
  return (rounds: number) => {
    const { engine, ok, notNative } = kernel.launch({ grid: threads / 128, block: 128, args: [out, rounds] });
    expect(ok).toBe(true);
    return { engine, notNative, words: [...out.read()] };
  };
}

/** Launches until machine code runs, half a minute at most. */
async function launchUntilNative(launch: ReturnType<typeof launcher>, rounds: number): Promise<number> {
  for (const end = performance.now() + 30_000; performance.now() < end; await sleep(10)) {
    if (launch(rounds).engine === "native") return performance.now();
  }
  throw new Error("no machine code in half a minute");
}

const whyNot = whyNoMachineCode();
const folder = mkdtempSync(join(tmpdir(), "lanewise-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(whyNot !== null)(
  "a kernel that has run for a second goes on as machine code",
  async () => {
    const kept = new Map<string, Uint8Array>();
    const written: string[] = [];
    const store: KernelStore = {
      read: (key) => kept.get(key) ?? null,
      write: (key, bytes) => {
        written.push(key);
        kept.set(key, bytes);
      },
      remove: (key) => void kept.delete(key),
    };
    const open = () => new PtxDevice({ engine: "tiered", nativeCompiler: openNativeCompiler({ store, beside: true }) });
    const launch = launcher(open());
    const first = launch(3);
    expect(first.engine).toBe("jit");
    await launchUntilNative(launch, 20_000);
    expect(launch(3)).toEqual({ ...first, engine: "native" });
    const made = written.length;
    // What is kept runs from the first launch on: no other process is asked, which would give a library to be kept.
    expect(launcher(open())(3)).toEqual({ ...first, engine: "native" });
    expect(written.length).toBe(made);
    // One that is none is made anew: a store may hand out anything.
    const [library] = [...kept.keys()].filter((key) => key.startsWith("machine code"));
    kept.set(library!, Uint8Array.of(1, 2, 3));
    const damaged = launcher(open());
    expect(damaged(3)).toEqual(first);
    await launchUntilNative(damaged, 20_000);
    expect(kept.get(library!)!.length).toBeGreaterThan(3);
  },
  120_000,
);

test.skipIf(whyNot !== null)("machine code that was found to be slower is not taken by later processes", () => {
  const kept = new Map<string, Uint8Array>();
  const store: KernelStore = {
    read: (key) => kept.get(key) ?? null,
    write: (key, bytes) => void kept.set(key, bytes),
    remove: (key) => void kept.delete(key),
  };
  const [module, imports] = moduleOfKernel();
  expect(typeof openNativeCompiler({ store })!.compile(module, imports)).toBe("object");
  const open = (): NativeCompiler => openNativeCompiler({ store, beside: true })!;
  expect(typeof open().kept!(module, imports)).toBe("object");
  open().giveUp!(module, "it was slower");
  expect(open().kept!(module, imports)).toBe("it was slower");
  // Who asks for machine code alone gets it.
  expect(typeof openNativeCompiler({ store })!.compile(module, imports)).toBe("object");
});

test.skipIf(whyNot !== null)("what asks for machine code is asked again until it answers, and not after that", () => {
  const own = compilerForTests();
  const answers: (NativeCode | string | null)[] = [];
  let left = 2;
  const compiler: NativeCompiler = {
    compile(module, imports) {
      answers.push(left-- > 0 ? null : own.compile(module, imports));
      return answers.at(-1)!;
    },
    instance: (code, memory, functions) => own.instance(code, memory, functions),
  };
  const launch = launcher(new PtxDevice({ engine: "tiered", nativeCompiler: compiler }));
  const begun = performance.now();
  while (launch(100_000).engine === "jit") expect(performance.now() - begun).toBeLessThan(60_000);
  expect(launch(1000).engine).toBe("native");
  for (let i = 0; i < 5; i++) launch(1000);
  expect(answers.map((answer) => answer === null)).toEqual([true, true, false]);
});

test("without a compiler, and where it has none for a kernel, compiled code runs on", () => {
  for (const answer of [null, "the machine or its C compiler lacks __AVX2__"]) {
    const asked: Uint8Array[] = [];
    const compiler = { compile: (module: Uint8Array) => (asked.push(module), answer), instance: () => () => 0 };
    const launch = launcher(new PtxDevice({ engine: "tiered", nativeCompiler: compiler }));
    const begun = performance.now();
    while (performance.now() - begun < 1500) expect(launch(50_000).engine).toBe("jit");
    // A text is the last word; null is none.
    if (answer === null) expect(asked.length).toBeGreaterThan(1);
    else expect(asked.length).toBe(1);
    expect(launch(1).notNative).toBe(answer ?? undefined);
  }
  const alone = launcher(new PtxDevice({ engine: "tiered" }));
  expect(alone(3).engine).toBe("jit");
});

test.skipIf(whyNot !== null)("a C compiler gets so many seconds of processor time", async () => {
  const busy = join(folder, "busy-cc");
  writeFileSync(busy, '#!/bin/sh\ncase "$*" in *-dM*) exec cc "$@";; esac\nwhile :; do :; done\n', { mode: 0o755 });
  const compiler = CCompiler.find({ ...process.env, CC: busy });
  if (typeof compiler === "string") throw new Error(compiler);
  const why = "the C compiler needs more than 1 s";
  expect(compiler.library("", 1)).toBe(why);
  expect(await compiler.libraryLater("", 1, new AbortController().signal)).toBe(why);
});

/** Waits until there is no such process, half a minute at most. */
async function ended(pid: number): Promise<void> {
  const isThere = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  for (const end = performance.now() + 30_000; isThere(); await sleep(50)) {
    if (performance.now() > end) throw new Error(`process ${pid} has not ended`);
  }
}

/** The module of the kernel above, and the functions that it imports. */
function moduleOfKernel(): readonly [module: Uint8Array, imports: readonly string[]] {
  const asked: [Uint8Array, readonly string[]][] = [];
  const compiler: NativeCompiler = {
    compile(...module) {
      asked.push(module);
      return "not here";
    },
    instance: () => () => 0,
  };
  launcher(new PtxDevice({ engine: "native", nativeCompiler: compiler }))(1);
  return asked[0]!;
}

test.skipIf(whyNot !== null)(
  "the process and the C compiler end with who wants the answer, and take along what they have written",
  async () => {
    const work = join(folder, "work");
    mkdirSync(work);
    const file = (name: string): string => join(folder, name);
    writeFileSync(file("module"), moduleOfKernel()[0]);
    // A compiler that says what it can make code for, and then writes files as compilers do, and takes a minute.
    const slowly = `mktemp; echo $$ > ${file("compiler")}; exec sleep 60`;
    writeFileSync(file("slow-cc"), `#!/bin/sh\ncase "$*" in *-dM*) exec cc "$@";; *) ${slowly};; esac\n`, {
      mode: 0o755,
    });
    // Who wants the answer goes as soon as the compiler is at work.
    const asks = `"$0" "$1" $$ 300 < module > answer & echo $! > beside; until [ -s compiler ]; do sleep 0.1; done`;
    const asking = spawn("/bin/sh", ["-c", asks, process.execPath, join(dirname(addonFile()!), "beside.mjs")], {
      cwd: folder,
      stdio: "ignore",
      env: { ...process.env, CC: file("slow-cc"), TMPDIR: work },
    });
    await once(asking, "close");
    for (const name of ["compiler", "beside"]) await ended(Number(readFileSync(file(name), "utf8")));
    expect(readdirSync(work)).toEqual([]);
  },
);

test.skipIf(whyNot !== null)("Ctrl-C while a command waits for the C compiler leaves no files", async () => {
  const work = join(folder, "waiting");
  mkdirSync(work);
  const file = (name: string): string => join(folder, name);
  writeFileSync(file("k.ptx"), text);
  const shortly = `touch ${file("begun")}; sleep 1; exec cc "$@"`;
  writeFileSync(file("late-cc"), `#!/bin/sh\ncase "$*" in *-dM*) exec cc "$@";; *) ${shortly};; esac\n`, {
    mode: 0o755,
  });
  const cli = join(dirname(dirname(addonFile()!)), "cli/main.js");
  const args = ["run", "k.ptx", "--engine", "native", "--no-cache", "--block", "32", "--arg", "u32[32]", "--arg", "1"];
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: folder,
    stdio: "ignore",
    env: { ...process.env, CC: file("late-cc"), TMPDIR: work },
  });
  const closed = once(child, "close");
  for (const end = performance.now() + 30_000; !existsSync(file("begun")); await sleep(20)) {
    if (performance.now() > end) throw new Error("the C compiler has not begun");
  }
  child.kill("SIGINT");
  expect(await closed).toEqual([130, null]);
  expect(readdirSync(work)).toEqual([]);
});

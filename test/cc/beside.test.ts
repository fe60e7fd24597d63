import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import type { NativeCode, NativeCompiler } from "../../src/jit/abi/native-code.ts";
import { addonFile } from "../../src/node/exec/native.ts";
import { CCompiler } from "../../src/node/native/c-compiler.ts";
import { files } from "../../src/node/native/compilation-beside.ts";
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
    const { engine, ok } = kernel.launch({ grid: threads / 128, block: 128, args: [out, rounds] });
    expect(ok).toBe(true);
    return { engine, words: [...out.read()] };
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
    const store: KernelStore = {
      read: (key) => kept.get(key) ?? null,
      write: (key, bytes) => void kept.set(key, bytes),
      remove: () => {},
    };
    const open = () => new PtxDevice({ engine: "tiered", nativeCompiler: openNativeCompiler({ store, beside: true }) });
    const launch = launcher(open());
    const first = launch(3);
    expect(first.engine).toBe("jit");
    await launchUntilNative(launch, 20_000);
    expect(launch(3)).toEqual({ ...first, engine: "native" });
    // The libraries that are kept are there at once: no other process is asked, whose folder would be in TMPDIR.
    expect(kept.size).toBe(1);
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
    try {
      const again = launcher(open());
      await launchUntilNative(again, 20_000);
      expect(readdirSync(folder)).toEqual([]);
      expect(again(3).words).toEqual(first.words);
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
  },
  120_000,
);

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

/** The module of the kernel above. */
function moduleOfKernel(): Uint8Array {
  const modules: Uint8Array[] = [];
  const compiler = { compile: (module: Uint8Array) => (modules.push(module), "not here"), instance: () => () => 0 };
  launcher(new PtxDevice({ engine: "native", nativeCompiler: compiler }))(1);
  return modules[0]!;
}

test.skipIf(whyNot !== null)(
  "the process and the C compiler end with who wants the answer, and take the folder along",
  async () => {
    const work = join(folder, "work");
    mkdirSync(work);
    writeFileSync(join(work, files.module), moduleOfKernel());
    // A compiler that says what it can make code for, and then takes a minute.
    const slow = join(folder, "slow-cc");
    writeFileSync(slow, '#!/bin/sh\ncase "$*" in *-dM*) exec cc "$@";; *) exec sleep 60;; esac\n', { mode: 0o755 });
    const script = join(dirname(addonFile()!), "beside.mjs");
    const other = process.ppid;
    const child = spawn(process.execPath, [script, work, String(other), "300"], {
      stdio: "ignore",
      env: { ...process.env, CC: slow },
    });
    const begun = performance.now();
    await once(child, "close");
    expect(performance.now() - begun).toBeLessThan(30_000);
    expect(existsSync(work)).toBe(false);
  },
);

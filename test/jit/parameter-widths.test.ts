import { expect, test, vi } from "vitest";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { KernelCache, RecentKernels } from "../../src/jit/run/kernel-cache.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { LaunchShapes } from "../../src/jit/run/launch-shapes.ts";
import { CompiledFunctions } from "../../src/jit/compile/plan/compiled-functions.ts";
import { Device } from "../../src/index.ts";
import { loadProgram } from "../../src/program/program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { DeviceCore } from "../../src/runtime/device/device-core.ts";
import { SourceText } from "../../src/source/index.ts";

// Kernels of which the parameters of a launch decide whether lanes of a warp meet in memory. So many values are live
// that their chunks are narrow where lanes do not.
const values = Array.from({ length: 20 }, (_, i) => i);
const many = values.map((i) => `ld.volatile.global.u32 %w${i}, [%x+${4 * i}];`).join(" ");
const total = values.map((i) => `add.u32 %v, %v, %w${i};`).join(" ");

const kernel = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 y, .param .u32 n, .param .u8 flag) {
  .reg .pred %p, %q; .reg .b16 %h; .reg .b32 %t, %u, %v, %n, %m, %i, %j, %k, %w<20>; .reg .b64 %a, %b, %c, %d, %e, %x, %y, %o;
  mov.u32 %t, %tid.x; ld.param.u64 %a, [in]; mad.wide.u32 %x, %t, 4, %a; ld.param.u64 %y, [y]; ld.param.u32 %n, [n];
  ld.param.u8 %h, [flag]; mov.u32 %v, 0; mov.u32 %i, 0;
  ${many}
  ${body}
  ${total}
  ld.param.u64 %b, [out]; mad.wide.u32 %d, %t, 4, %b; st.global.u32 [%d], %v; ret;
}`;

/** In each of three rounds, a word is loaded and replaced. `place`: gives its number in `%k`. */
const inPlace = (place: string): string =>
  kernel(`L: ${place} mad.wide.u32 %o, %k, 4, %y; ld.global.u32 %u, [%o]; add.u32 %v, %v, %u; st.global.u32 [%o], %v;
  add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra L;`);

/** With parameters for which lanes do not meet, and others for which they do. */
const kernels: Readonly<Record<string, readonly [text: string, apart: readonly Args[], meeting: readonly Args[]]>> = {
  "rows of n words": [
    inPlace("mad.lo.u32 %k, %i, %n, %t;"),
    // Of three rounds, the last one's words are those of the first where n is half of what 32 bits hold.
    [
      [32, 0],
      [64, 0],
      [0x8000_0000, 0],
    ],
    [
      [1, 0],
      [16, 0],
    ],
  ],
  "steps of n words": [
    inPlace("mul.lo.u32 %j, %t, %n; and.b32 %m, %i, 1; add.u32 %k, %j, %m;"),
    [],
    [
      [1, 0],
      [0, 0],
      [0x4000_0000, 0],
    ],
  ],
  "rows or columns": [
    inPlace(`setp.eq.s16 %q, %h, 0; selp.b32 %j, %n, 1, %q; mad.lo.u32 %k, %i, %j, %t;`),
    [
      [32, 0],
      [128, 0],
    ],
    [
      [32, 1],
      [3, 0],
    ],
  ],
  // There and back again: each loop begins with the place at which the one before it has ended.
  "rows of n words, in two loops": [
    kernel(`mul.lo.u32 %j, %n, 4; cvt.u64.u32 %c, %j; mad.wide.u32 %o, %t, 4, %y;
L: ld.global.u32 %u, [%o]; add.u32 %v, %v, %u; st.global.u32 [%o], %v; add.u64 %o, %o, %c;
  add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra L; mov.u64 %e, %o;
M: sub.u64 %e, %e, %c; ld.global.u32 %u, [%e]; mad.lo.u32 %v, %v, 3, %u; st.global.u32 [%e], %v;
  sub.u32 %i, %i, 1; setp.gt.u32 %p, %i, 0; @%p bra M;`),
    [
      [32, 0],
      [96, 0],
    ],
    [
      [1, 0],
      [8, 0],
      [5, 0],
    ],
  ],
  "the word n further on": [
    kernel(`add.u32 %k, %t, %n; mad.wide.u32 %o, %t, 4, %y; mad.wide.u32 %c, %k, 4, %y; st.global.u32 [%o], %t;
  ld.global.u32 %v, [%c];`),
    [
      [0, 0],
      [32, 0],
      [64, 0],
    ],
    [
      [1, 0],
      [31, 0],
      [5, 0],
    ],
  ],
};

/** The values of n and the flag. */
type Args = readonly [n: number, flag: number];

const block = [64, 1, 1] as const;

/** The width of the chunks in which launches run, one after another. */
function widthsOf(text: string, launches: readonly Args[]): number[] {
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const program = loadProgram(new DeviceCore().memory, module!);
  const shapes = new LaunchShapes(new CompiledFunctions(program), program, null);
  return launches.map(([n, flag]) => {
    const params = new Uint8Array(32);
    new DataView(params.buffer).setUint32(24, n, true);
    params[28] = flag;
    const request = { kernel: "k", grid: [1, 1, 1], block, sharedBytes: 0, params } as const;
    return 4 * shapes.of(program.functionNamed("k")!.ir, request, false).quads;
  });
}

test.each(Object.entries(kernels))("%s: chunks are narrow where lanes do not meet", (_, [text, apart, meeting]) => {
  expect(widthsOf(text, apart)).toEqual(apart.map(() => 4));
  expect(widthsOf(text, meeting)).toEqual(meeting.map(() => 32));
});

test("launches with ever other parameters are not examined each time", () => {
  const [text] = kernels["rows of n words"]!;
  const sizes = [32, 64, 96, 128, 160, 32, 64, 1];
  expect(
    widthsOf(
      text,
      sizes.map((n) => [n, 0]),
    ),
  ).toEqual([4, 4, 4, 4, 32, 32, 32, 32]);
});

test.each(Object.entries(kernels))("%s: what a launch finds holds for no other", (_, [text, apart, meeting]) => {
  const orders = [
    [...apart, ...meeting],
    [...meeting, ...apart],
    [...apart, ...meeting, ...apart, ...meeting],
  ];
  for (const launches of orders) {
    const [jit, interpreter] = (["jit", "interpreter"] as const).map((engine) => {
      const device = new Device({ engine });
      const loaded = device.load(text).kernel("k");
      return launches.map(([n, flag]) => {
        // Sums that wrap around may lead out of the buffer: those launches are for the widths alone.
        if (n > 1000) return null;
        const buffers = [0, 1, 2].map((f) => device.buffer(Uint32Array.from({ length: 1024 }, (_, i) => f * i)));
        const result = loaded.launch({ grid: 1, block: [...block], args: [...buffers, n, flag] });
        expect({ engine: result.engine, reports: result.reports }).toEqual({ engine, reports: [] });
        return buffers.map((buffer) => [...buffer.read()]);
      });
    });
    expect(jit).toEqual(interpreter);
  }
});

/** Launches in a process of its own: the results, and how often a kernel has been examined. */
function inProcess(store: KernelStore, text: string, launches: readonly Args[]) {
  const device = new PtxDevice();
  const { memory } = device;
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const jit = new JitProgram(
    loadProgram(memory, module!),
    null,
    new KernelCache("k", store, new RecentKernels()),
    null,
  );
  const examined = vi.spyOn(LaunchShapes.prototype, "of");
  const results = launches.map(([n, flag]) => {
    const buffers = [0, 1, 2].map((f) => device.buffer(Uint32Array.from({ length: 1024 }, (_, i) => f * i)));
    const params = packArguments(module!.functions[0]!, [...buffers, n, flag], { memory, addressSize: 64 });
    jit.launch({ kernel: "k", grid: [1, 1, 1], block, sharedBytes: 0, params });
    return buffers.map((buffer) => [...buffer.read()]);
  });
  const count = examined.mock.calls.length;
  examined.mockRestore();
  return { results, count };
}

test("what is noted for later processes holds for the same values alone", () => {
  const [text] = kernels["rows of n words"]!;
  const launches = [32, 1, 64, 16, 3].map((n): Args => [n, 0]);
  const expected = launches.map((launch) => {
    const device = new Device({ engine: "interpreter" });
    const buffers = [0, 1, 2].map((f) => device.buffer(Uint32Array.from({ length: 1024 }, (_, i) => f * i)));
    device
      .load(text)
      .kernel("k")
      .launch({ grid: 1, block: [...block], args: [...buffers, ...launch] });
    return buffers.map((buffer) => [...buffer.read()]);
  });
  const entries = new Map<string, Uint8Array>();
  const store: KernelStore = {
    read: (key) => entries.get(key) ?? null,
    write: (key, value) => void entries.set(key, value),
    remove: (key) => void entries.delete(key),
  };
  for (const [i, launch] of launches.entries()) {
    expect(inProcess(store, text, [launch]).results).toEqual([expected[i]]);
    // The same again is known, and nothing is examined.
    expect(inProcess(store, text, [launch])).toEqual({ results: [expected[i]], count: 0 });
  }
  expect(inProcess(store, text, launches).results).toEqual(expected);
  expect(inProcess(store, text, launches.toReversed()).results).toEqual(expected.toReversed());
});

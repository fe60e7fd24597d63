import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { KernelStore } from "../../src/jit/abi/kernel-store.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { KernelCache, RecentKernels } from "../../src/jit/run/kernel-cache.ts";
import { ProgramKernels } from "../../src/jit/run/program-kernels.ts";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { loadProgram } from "../../src/program/program.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";

/** Each thread of the grid, in rows, stores what `value` leaves in %r9; its index in the grid is %r8. */
const kernel = (value: string, variables = ""): string => `.version 8.6
.target sm_90
.address_size 64
${variables}
.visible .entry k(.param .u64 out, .param .u32 x) {
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [out]; ld.param.u32 %r10, [x];
  mov.u32 %r0, %ntid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, %r0, %r2;
  mov.u32 %r4, %ntid.y; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %tid.y; mad.lo.u32 %r7, %r5, %r4, %r6;
  mov.u32 %r1, %nctaid.x; mul.lo.u32 %r1, %r1, %r0; mad.lo.u32 %r8, %r7, %r1, %r3;
  ${value}
  mul.wide.u32 %d1, %r8, 4; add.u64 %d2, %d0, %d1; st.global.u32 [%d2], %r9; ret;
}`;

const scaled = kernel("mul.lo.u32 %r9, %r8, %r10;");

class Entries implements KernelStore {
  readonly all = new Map<string, Uint8Array>();
  read(key: string): Uint8Array | null {
    return this.all.get(key) ?? null;
  }
  write(key: string, entry: Uint8Array): void {
    this.all.set(key, entry);
  }
  remove(key: string): void {
    this.all.delete(key);
  }
}

interface Sizes {
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly sharedBytes?: number;
}

/** A process with a store. `before`: bytes that are allocated on the device first, and what is loaded into it. */
function open(text: string, store: KernelStore, { bytes = 0, other = "" } = {}) {
  const device = new PtxDevice();
  const { memory } = device;
  if (other !== "") loadProgram(memory, compile([new SourceText("other.ptx", other)]).module!);
  const { module } = compile([new SourceText("k.ptx", text)]);
  const jit = new JitProgram(loadProgram(memory, module!), null, new KernelCache("k", store, new RecentKernels()));
  const isPrepared = jit.prepare("k", 1) !== null;
  if (bytes > 0) device.buffer("u8", bytes);
  const launch = ({ grid, block, sharedBytes = 0 }: Sizes, x: number): readonly number[] => {
    const out = device.buffer("u32", grid[0] * grid[1] * block[0] * block[1]);
    const params = packArguments(module!.functions[0]!, [out, x], { memory, addressSize: 64 });
    const result = jit.launch({ kernel: "k", grid, block, sharedBytes, params })!;
    expect(result.reports).toEqual([]);
    return [...out.read()];
  };
  return { isPrepared, launch };
}

const expected = ({ grid, block }: Sizes, value: (i: number) => number): number[] =>
  Array.from({ length: grid[0] * grid[1] * block[0] * block[1] }, (_, i) => value(i) >>> 0);

/** What is to be done when the process ends. */
let end = (): void => {};
beforeAll(() => {
  const once = process.once.bind(process);
  vi.spyOn(process, "once").mockImplementation((event, then) => {
    if (event !== "exit") return once(event, then);
    end = then as () => void;
    return process;
  });
});
afterAll(() => vi.restoreAllMocks());

const small: Sizes = { grid: [4, 1, 1], block: [64, 1, 1] };
const sizes: readonly Sizes[] = [
  small,
  { grid: [40, 1, 1], block: [64, 1, 1] },
  { grid: [4, 1, 1], block: [37, 1, 1] },
  { grid: [3, 2, 1], block: [8, 8, 1] },
  { grid: [2, 40, 1], block: [4, 4, 1] },
  { ...small, sharedBytes: 64 },
];

describe("a launch for which a kernel was prepared", () => {
  test("is found before it comes, and not again", () => {
    const store = new Entries();
    open(scaled, store).launch(small, 3);
    const { isPrepared, launch } = open(scaled, store);
    expect(isPrepared).toBe(true);
    const find = vi.spyOn(ProgramKernels.prototype, "find");
    expect(launch(small, 5)).toEqual(expected(small, (i) => 5 * i));
    expect(find).not.toHaveBeenCalled();
    const wide = { ...small, grid: [5, 1, 1] } as const;
    expect(launch(wide, 7)).toEqual(expected(wide, (i) => 7 * i));
    expect(find).toHaveBeenCalledTimes(1);
    find.mockRestore();
  });

  test("is like no other: each of several sizes gives the same after each other one", () => {
    for (const noted of sizes) {
      const store = new Entries();
      for (const each of [noted, ...sizes]) open(scaled, store).launch(each, 3);
      open(scaled, store).launch(noted, 3);
      for (const first of sizes) {
        const { launch } = open(scaled, store);
        for (const each of [first, noted, first]) expect(launch(each, 9)).toEqual(expected(each, (i) => 9 * i));
      }
    }
  });

  test("is looked for where the module's constants lie elsewhere than in the earlier process", () => {
    const text = kernel(
      "mov.u64 %d3, table; and.b32 %r11, %r8, 3; mul.wide.u32 %d1, %r11, 4; add.u64 %d3, %d3, %d1; ld.const.u32 %r9, [%d3]; add.u32 %r9, %r9, %r10;",
      ".const .u32 table[4] = {7, 11, 13, 17};",
    );
    const store = new Entries();
    const value = (i: number): number => [7, 11, 13, 17][i % 4]! + 5;
    for (const bytes of [0, 0, 10_000, 0, 3_000_000, 10_000]) {
      expect(open(text, store, { bytes }).launch(small, 5)).toEqual(expected(small, value));
    }
  });

  test("is looked for where the module's variables lie elsewhere", () => {
    const text = kernel(
      "mov.u64 %d3, table; and.b32 %r11, %r8, 3; mul.wide.u32 %d1, %r11, 4; add.u64 %d3, %d3, %d1; ld.global.u32 %r9, [%d3]; add.u32 %r9, %r9, %r10;",
      ".global .u32 table[4] = {7, 11, 13, 17};",
    );
    const other = ".version 8.6\n.target sm_90\n.address_size 64\n.global .u32 data[2000] = {1};";
    const store = new Entries();
    const value = (i: number): number => [7, 11, 13, 17][i % 4]! + 5;
    for (const each of ["", "", other, other, ""]) {
      expect(open(text, store, { other: each }).launch(small, 5)).toEqual(expected(small, value));
    }
  });

  test("is noted for the next process if it was the first one, and only then", () => {
    const notedBlock = (): Dim3 => new KernelCache("k", store, new RecentKernels()).firstLaunchOf("k")!.block;
    const store = new Entries();
    const narrow: Sizes = { grid: [4, 1, 1], block: [37, 1, 1] };
    open(scaled, store).launch(small, 1);
    end();
    // Prepared, and launched first.
    const again = open(scaled, store);
    again.launch(small, 1);
    again.launch(narrow, 1);
    end();
    expect(notedBlock()).toEqual(small.block);
    // Prepared, and never launched.
    open(scaled, store);
    end();
    expect(notedBlock()).toEqual(small.block);
    // Prepared, and launched after another one.
    const other = open(scaled, store);
    other.launch(narrow, 1);
    other.launch(small, 1);
    end();
    expect(notedBlock()).toEqual(narrow.block);
  });
});

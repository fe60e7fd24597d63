import { describe, expect, test } from "vitest";
import { DeviceMemory } from "../../../src/machine/memory/memory.ts";
import type { ThreadStart } from "../../../src/machine/state/thread-model.ts";
import { LaunchMemory } from "../../../src/runtime/visa/launch-memory.ts";
import { stateOfThread, ThreadMemory } from "../../../src/runtime/visa/thread-memory.ts";
import { workSize } from "../../../src/runtime/visa/work-size.ts";
import type { Platform } from "../../../src/visa/isa/row.ts";

/**
 * How kernels compiled by IGC find the number of their thread: and, shifts and or of %sr0 and %msg0, as in its dumps.
 */
const numbers: Readonly<Partial<Record<Platform, (sr0: number, msg0: number) => number>>> = {
  dg2: (sr0) => {
    const n = sr0 & 0x3fff;
    const m = (n & 0x3f) | ((n >> 1) & ~0x3f);
    return (m & 7) | ((m >> 1) & ~7);
  },
  pvc: (sr0) => {
    const n = sr0 & 0x7fff;
    const m = (n & 0x3f) | ((n >> 2) & ~0x3f);
    return (m & 7) | ((m >> 1) & ~7);
  },
  bmg: (sr0, msg0) => {
    const n = sr0 & 0x7f;
    return ((msg0 & 0xff) << 6) | (n & 7) | ((n >> 1) & ~7);
  },
};

test.each(Object.keys(numbers) as Platform[])("kernels for %s find the number of their thread", (platform) => {
  for (let thread = 0; thread < 4096; thread++) {
    const { sr0, msg0 } = stateOfThread(thread, platform);
    expect(numbers[platform]!(sr0, msg0)).toBe(thread);
  }
});

const start = (slot: number, index: number): ThreadStart => ({
  group: [0, 0, 0],
  index,
  serial: 0,
  slot,
  lanes: -1,
  localIds: new Int32Array(96),
});

describe("memory of threads", () => {
  const make = (scratch: "offset" | "state", bytes: { privateBytes: number; scratchBytes: number }) =>
    new ThreadMemory(new LaunchMemory(new DeviceMemory()), workSize("k", [320, 1, 1], [32, 1, 1]), {
      width: 8,
      scratch,
      ...bytes,
    });

  test("threads that run at the same time have different numbers", () => {
    const threads = make("offset", { privateBytes: 64, scratchBytes: 0 });
    expect(threads.perGroup).toBe(4);
    expect([start(0, 3), start(1, 0), start(2, 1)].map((t) => threads.numberOf(t))).toEqual([3, 4, 9]);
  });

  test("no more groups run at a time than there is memory for", () => {
    expect(make("offset", { privateBytes: 64, scratchBytes: 0 }).residentGroups).toBe(10);
    // 512 MiB for all.
    expect(make("offset", { privateBytes: 0x400_0000, scratchBytes: 0 }).residentGroups).toBe(2);
    expect(make("offset", { privateBytes: 0, scratchBytes: 0 }).residentGroups).toBeNull();
  });

  test("scratch space by offset: one surface, in which r0.5 leads to a thread's part", () => {
    const threads = make("offset", { privateBytes: 0, scratchBytes: 1500 });
    expect([0, 1, 7].map((n) => threads.scratchOffset(n))).toEqual([0, 2048, 7 * 2048]);
    expect(threads.scratchSurface(3)).toBe(threads.scratchSurface(4));
    expect([...threads.surfaces.values()].map(({ bytes }) => bytes)).toEqual([40 * 2048]);
  });

  test("scratch space by state: a surface for each thread, named by r0.5 shifted right by 4", () => {
    const threads = make("state", { privateBytes: 0, scratchBytes: 1024 });
    expect(threads.surfaces.size).toBe(40);
    const [a, b] = [5, 6].map((n) => threads.surfaces.get(threads.scratchOffset(n) >>> 4)!);
    expect(a!.bytes).toBe(1024);
    expect(b!.address - a!.address).toBe(1024n);
    expect(threads.scratchSurface(5)).toBe(threads.scratchOffset(5) >>> 4);
    expect(threads.scratchOffset(5) & 0x3ff).toBe(0);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AddressSpace, parts } from "../../src/machine/memory/address-space.ts";
import { distance, extentAt, Layout, nearestExtent } from "../../src/machine/memory/extent.ts";
import { LaneStack } from "../../src/machine/memory/lane-stack.ts";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";

describe("device memory", () => {
  test("allocations are aligned, apart from each other, filled with zeros, and keep their contents", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(5000), fc.boolean()), { maxLength: 60 }),
        fc.boolean(),
        (steps, quarantine) => {
          const memory = new DeviceMemory();
          memory.quarantine = quarantine;
          const living: { offset: number; size: number; fill: number }[] = [];
          steps.forEach(([size, free], i) => {
            if (free && living.length > 0) {
              const [{ offset } = { offset: 0 }] = living.splice(size % living.length, 1);
              expect(memory.free(offset)).toBe(true);
              expect(memory.free(offset)).toBe(false);
              expect(() => memory.read(offset, 1)).toThrow(RangeError);
            }
            const offset = memory.alloc(size);
            expect(offset).toBeGreaterThan(0);
            expect(offset % 256).toBe(0);
            expect(memory.read(offset, size).every((b) => b === 0)).toBe(true);
            memory.write(offset, new Uint8Array(size).fill(i + 1));
            living.push({ offset, size, fill: i + 1 });
          });
          for (const { offset, size, fill } of living) {
            expect(memory.read(offset, size)).toEqual(new Uint8Array(size).fill(fill));
            for (const other of living) {
              if (other.offset > offset) expect(other.offset - (offset + size)).toBeGreaterThanOrEqual(256);
            }
          }
        },
      ),
    );
  });

  test("memory grows, and what is outside of an allocation cannot be had", () => {
    const memory = new DeviceMemory();
    const small = memory.alloc(8);
    memory.write(small, Uint8Array.of(1, 2, 3));
    const large = memory.alloc(5_000_000);
    expect([...memory.read(small, 3)]).toEqual([1, 2, 3]);
    expect(() => memory.write(large + 5_000_000 - 1, new Uint8Array(2))).toThrow(RangeError);
    expect(() => memory.read(small, 9)).toThrow(RangeError);
    expect(() => memory.alloc(-1)).toThrow(RangeError);
    expect(() => memory.alloc(2 ** 32)).toThrow(RangeError);
  });

  test("what many small allocations leave behind serves large ones", () => {
    const memory = new DeviceMemory();
    const kept = memory.alloc(100);
    const small = Array.from({ length: 1000 }, () => memory.alloc(3000));
    const top = memory.used;
    const shuffled = small.map((offset, i) => [(i * 379) % 1000, offset] as const).sort(([a], [b]) => a - b);
    for (const [, offset] of shuffled) memory.write(offset, new Uint8Array(3000).fill(1));
    for (const [, offset] of shuffled) memory.free(offset);
    expect(memory.alloc(2_000_000)).toBe(small[0]);
    const end = memory.alloc(2_000_000, undefined, { align: 4096 });
    expect(end % 4096).toBe(0);
    expect(memory.used).toBeLessThan(top + 1_500_000);
    expect(memory.read(end, 2_000_000).every((byte) => byte === 0)).toBe(true);
    expect(memory.free(kept)).toBe(true);
  });

  test("sizes that double, each freed before the next, take no more than all that are there at a time", () => {
    const memory = new DeviceMemory();
    for (let bytes = 2 ** 12; bytes <= 2 ** 22; bytes *= 2) {
      const held = [bytes, 3 * bytes, bytes].map((size) => memory.alloc(size));
      for (const offset of held) memory.free(offset);
    }
    expect(memory.used).toBeLessThan(5 * 2 ** 22 + 2 ** 17);
  });

  test("quarantine is bounded: the oldest memory is used again", () => {
    const memory = new DeviceMemory();
    memory.quarantine = true;
    for (let i = 0; i < 300; i++) memory.free(memory.alloc(2 ** 20));
    expect(memory.allocations.length).toBeLessThan(70);
    expect(memory.views.u8.length).toBeLessThan(256 * 2 ** 20);
  });
});

describe("addresses", () => {
  // The layout that cvta and isspacep rely on: 0x7f00 above global offsets, 0x7f10 above generic addresses of windows.
  test.each([
    [64, 0x7f00_0001_2300n, { kind: "global", offset: 0x1_2300 }],
    [64, 0x0308_0000n, { kind: "shared", generic: false }],
    [64, 0x7f10_0308_0010n, { kind: "shared", generic: true }],
    [64, 0x7f10_2000_0000n, { kind: "local", generic: true }],
    [64, 0x3000_fffcn, { kind: "const", generic: false }],
    // One element before the first variable.
    [64, 0x0307_fffcn, { kind: "shared", generic: false }],
    [64, 0x7f10_1fff_fffcn, { kind: "local", generic: true }],
    [64, 0x2fff_fffcn, { kind: "const", generic: false }],
    [64, 0x4000_0008n, { kind: "kernel-param", generic: false }],
    [64, 0x5000_0010n, { kind: "function", generic: false }],
    [64, 0xfffn, { kind: "null" }],
    [64, 0x1000n, { kind: "unknown" }],
    [64, 0x7f01_0000_0000n, { kind: "unknown" }],
    [32, 0x8000_0100n, { kind: "global", offset: 0x100 }],
    [32, 0x0308_0000n, { kind: "shared", generic: true }],
  ] as const)("%i bits: %s", (size, address, expected) => {
    expect(new AddressSpace(size).classify(parts(address))).toEqual(expected);
  });
});

test("variables are found by address, and the nearest one is named with the distance", () => {
  const layout = new Layout(0x100);
  layout.place("a", 6, 2);
  layout.place("b", 8, 16);
  const { extents } = layout;
  expect(extents).toEqual([
    { name: "a", start: 0x100, end: 0x106, align: 2 },
    { name: "b", start: 0x120, end: 0x128, align: 16 },
  ]);
  expect(extentAt(extents, 0x105)?.name).toBe("a");
  expect(extentAt(extents, 0x106)).toBeNull();
  expect(extentAt(extents, 0xff)).toBeNull();
  expect(nearestExtent(extents, 0x110)?.name).toBe("a");
  expect(nearestExtent(extents, 0x11f)?.name).toBe("b");
  expect(nearestExtent([], 5)).toBeNull();
  expect(distance(extents[1]!, 0x11e, 4)).toBe("2 bytes before b (8 bytes)");
  expect(distance(extents[1]!, 0x126, 4)).toBe("at byte 6, 2 bytes past the end of b (8 bytes)");
  expect(distance(extents[1]!, 0x128, 4)).toBe("0 bytes after the end of b (8 bytes)");
});

test("the stacks of a warp's lanes grow together and keep what is in them", () => {
  const stack = new LaneStack();
  stack.reserve(100);
  for (let lane = 0; lane < 32; lane++) stack.views.u8.fill(lane + 1, lane * stack.stride, lane * stack.stride + 100);
  stack.reserve(5000);
  expect(stack.stride).toBeGreaterThanOrEqual(5000);
  stack.clear(10, 20, 0b10);
  for (let lane = 0; lane < 32; lane++) {
    const bytes = stack.views.u8.subarray(lane * stack.stride, lane * stack.stride + 101);
    expect([bytes[0], bytes[15], bytes[99], bytes[100]]).toEqual([lane + 1, lane === 1 ? 0 : lane + 1, lane + 1, 0]);
  }
});

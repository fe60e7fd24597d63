import { expect, test } from "vitest";
import { copiedBytes, fillBytes } from "../../src/machine/memory/fill.ts";
import { Views } from "../../src/machine/memory/views.ts";

const size = 256;

/** The bytes of a memory that held 0xee everywhere, once elements have been written one by one. */
function modelled(from: number, to: number, element: readonly number[]): number[] {
  return Array.from({ length: size }, (_, i) => (i < from || i >= to ? 0xee : element[(i - from) % element.length]!));
}

test.each([
  { value: 0, element: [0] },
  { value: 0x1a5, element: [0xa5] },
  { value: 0x8001, element: [0x01, 0x80] },
  { value: 0x80c1f203, element: [0x03, 0xf2, 0xc1, 0x80] },
  { value: -2, element: [0xfe, 0xff, 0xff, 0xff] },
])("elements $element are written from any byte to any", ({ value, element }) => {
  for (let from = 0; from < 20; from++) {
    for (const bytes of [0, 1, 7, 63, 64, 65, 71, 72, 100, 200]) {
      const views = new Views(size);
      views.u8.fill(0xee);
      fillBytes(views, from, from + bytes, value, element.length);
      expect([...views.u8], `${bytes} bytes from ${from}`).toEqual(modelled(from, from + bytes, element));
    }
  }
});

test("a copy of shared bytes is not shared, and keeps what they were", () => {
  const shared = new Uint8Array(new SharedArrayBuffer(16));
  shared.set([1, 2, 3, 4], 6);
  const copy = copiedBytes(shared, 7, 11);
  shared.fill(9);
  expect([...copy]).toEqual([2, 3, 4, 0]);
  expect(copy.buffer).toBeInstanceOf(ArrayBuffer);
});

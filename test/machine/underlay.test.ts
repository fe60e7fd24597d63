import { expect, test } from "vitest";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import { clearBytes, type Underlay } from "../../src/machine/memory/underlay.ts";

/** What is under the memory: of bytes that are given back it forgets the contents, as the system does. */
class FakeUnderlay implements Underlay {
  readonly released: (readonly [from: number, bytes: number])[] = [];
  u8: Uint8Array = new Uint8Array();
  readonly #can: boolean;

  constructor(can: boolean) {
    this.#can = can;
  }

  put(memory: { readonly buffer: ArrayBufferLike }): void {
    this.u8 = new Uint8Array(memory.buffer);
  }

  release(from: number, bytes: number): boolean {
    if (!this.#can) return false;
    this.released.push([from, bytes]);
    this.u8.fill(0, from, from + bytes);
    return true;
  }
}

const page = 0x1_0000;
const many = 512 * 2 ** 20;

test.each([true, false])("memory that is used again reads as zeros (the host takes pages back: %s)", (can) => {
  const underlay = new FakeUnderlay(can);
  const memory = new DeviceMemory(underlay);
  const size = many + 2 * page + 100;
  const at = memory.alloc(size);
  const places = [0, 1, page, many / 2, size - page, size - 1].map((place) => at + place);
  for (const place of places) memory.views.u8[place] = 7;
  memory.free(at);
  expect(memory.alloc(size)).toBe(at);
  expect(places.map((place) => memory.views.u8[place])).toEqual(places.map(() => 0));
  expect(underlay.released.length).toBe(can ? 1 : 0);
  for (const [from, bytes] of underlay.released) {
    expect([from % page, bytes % page]).toEqual([0, 0]);
    expect(from).toBeGreaterThanOrEqual(at);
    expect(from + bytes).toBeLessThanOrEqual(at + size);
  }
});

test("what lies around cleared bytes stays", () => {
  const underlay = new FakeUnderlay(true);
  const memory = new DeviceMemory(underlay);
  const at = memory.alloc(many + 4 * page);
  const [from, to] = [at + 300, at + many + 3 * page + 5];
  for (const place of [from - 1, from, to - 1, to]) memory.views.u8[place] = 7;
  clearBytes(memory.views, from, to, underlay);
  expect([from - 1, from, to - 1, to].map((place) => memory.views.u8[place])).toEqual([7, 0, 0, 7]);
  expect(underlay.released.length).toBe(1);
});

import { expect, test } from "vitest";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";

const noise = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 37) & 0xff);

test.each([
  ["before there is a memory of WebAssembly", false],
  ["when there is one", true],
])("memory is shared %s: nothing moves, and copies are nobody else's", (_, early) => {
  const memory = new DeviceMemory();
  const offset = memory.alloc(1000);
  memory.write(offset, noise(1000));
  if (early) expect(memory.wasm.buffer).toBeInstanceOf(ArrayBuffer);
  const { epoch } = memory;
  memory.share();
  expect(memory.isShared).toBe(true);
  expect(memory.wasm.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(memory.views.u8.buffer).toBe(memory.wasm.buffer);
  expect(memory.epoch).toBeGreaterThan(epoch);
  const copy = memory.read(offset, 1000);
  expect(copy).toEqual(noise(1000));
  expect(copy.buffer).toBeInstanceOf(ArrayBuffer);
  const { wasm } = memory;
  memory.share();
  expect(memory.wasm).toBe(wasm);
});

test("shared memory grows: the new views see all of it, and the old ones what they saw", () => {
  const memory = new DeviceMemory();
  memory.share();
  const first = memory.alloc(100);
  const old = memory.wasm.buffer;
  const before = memory.views.u8;
  const large = memory.alloc(50 * 2 ** 20);
  expect(memory.views.u8.length).toBeGreaterThanOrEqual(large + 50 * 2 ** 20);
  expect(memory.wasm.buffer).not.toBe(old);
  before[first] = 77;
  expect(memory.views.u8[first]).toBe(77);
});

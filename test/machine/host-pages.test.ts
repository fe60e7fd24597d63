import { expect, test } from "vitest";
import { growMemory, type HostPages, makeMemory } from "../../src/machine/memory/host-pages.ts";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";

const largeBytes = 2 ** 21;
const page = 0x1_0000;

/** Notes how long memory was when it was asked for large pages. */
class FakePages implements HostPages {
  readonly largeBytes = largeBytes;
  readonly asked: number[] = [];

  enlarge(memory: { readonly buffer: ArrayBufferLike }): void {
    this.asked.push(memory.buffer.byteLength);
  }
}

test("small memory keeps its pages, however often it grows, and is as long as without", () => {
  const pages = new FakePages();
  const memory = makeMemory(3 * page, false, pages);
  expect(memory.buffer.byteLength).toBe(3 * page);
  expect(growMemory(memory, 2 * largeBytes - page, pages)).toBe(3 * page);
  expect(memory.buffer.byteLength).toBe(2 * largeBytes - page);
  expect(pages.asked).toEqual([]);
});

test.each([false, true])(
  "memory of two large pages or more asks each time that it has grown (shared: %s)",
  (shared) => {
    const pages = new FakePages();
    const memory = makeMemory(page, shared, pages);
    growMemory(memory, 2 * largeBytes, pages);
    growMemory(memory, 9 * largeBytes + 1, pages);
    // One more large page, wherever they begin, holds what the last bytes lie in.
    expect(pages.asked).toEqual([3 * largeBytes, 10 * largeBytes + page]);
    expect(memory.buffer.byteLength).toBe(10 * largeBytes + page);
  },
);

test("memory that is made large asks when it is made", () => {
  const pages = new FakePages();
  makeMemory(3 * largeBytes, false, pages);
  expect(pages.asked).toEqual([4 * largeBytes]);
});

test("without a choice of pages memory grows as far as it must, or by a quarter", () => {
  const memory = makeMemory(8 * largeBytes, false, null);
  growMemory(memory, 8 * largeBytes + 1, null);
  expect(memory.buffer.byteLength).toBe(10 * largeBytes);
});

test("the last bytes of a full device can be allocated", () => {
  const memory = makeMemory(page, true, null);
  const pages = new FakePages();
  const most = 0xffff * page;
  growMemory(memory, most - largeBytes / 2, pages);
  expect(memory.buffer.byteLength).toBe(most);
});

test("a device keeps what is in it and what it allocates reads as zeros", () => {
  const pages = new FakePages();
  const memory = new DeviceMemory(null, pages);
  const first = memory.alloc(100);
  memory.views.u8.fill(7, first, first + 100);
  const second = memory.alloc(6 * largeBytes);
  expect(pages.asked.length).toBeGreaterThan(0);
  expect(memory.read(first, 100)).toEqual(new Uint8Array(100).fill(7));
  expect(memory.read(second, 6 * largeBytes).every((byte) => byte === 0)).toBe(true);
});

test("a device has the pages of its store, else those of its compiler, and none over an underlay", () => {
  const store = { read: () => null, write: () => {}, remove: () => {} };
  const compiler = { compile: () => "no", instance: () => () => 0 };
  const underlay = { put: () => {}, release: () => false };
  const askedBy = (options: ConstructorParameters<typeof PtxDevice>[0]): void =>
    void new PtxDevice(options).buffer("u8", 4 * largeBytes);
  const [ofStore, ofCompiler] = [new FakePages(), new FakePages()];
  askedBy({ kernelStore: { ...store, hostPages: ofStore }, nativeCompiler: { ...compiler, hostPages: ofCompiler } });
  expect([ofStore.asked.length, ofCompiler.asked.length]).toEqual([1, 0]);
  askedBy({ kernelStore: false, nativeCompiler: { ...compiler, hostPages: ofCompiler } });
  expect([ofStore.asked.length, ofCompiler.asked.length]).toEqual([1, 1]);
  askedBy({ kernelStore: { ...store, hostPages: ofStore }, underlay });
  expect(ofStore.asked.length).toBe(1);
});

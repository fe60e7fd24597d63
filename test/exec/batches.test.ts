import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// CUDA Runtime API, Memory Management: what is said of cudaMemcpyBatchAsync and its neighbours.

/** Words of 64 bits in the program's memory. */
const words = (program: FakeProgram, ...values: (bigint | number)[]): bigint =>
  program.room(new Uint8Array(BigUint64Array.from(values, BigInt).buffer));

/** cudaMemcpyAttributes: order of access, two locations, flags. */
const attributes = (program: FakeProgram, ...orders: number[]): bigint =>
  program.room(new Uint8Array(Int32Array.from(orders.flatMap((order) => [order, 0, 0, 0, 0, 0])).buffer));

async function withStream() {
  const program = new FakeProgram({ devices: 2 });
  const target = program.room(8);
  expect(await program.call("cudaStreamCreate", target)).toBe(0);
  const device = await program.malloc(256);
  const from = program.room(Uint8Array.from({ length: 64 }, (_, i) => i));
  const to = program.room(64);
  return { program, stream: program.u64(target), device, from, to };
}

describe("copies", () => {
  test("of a batch, each with its own size", async () => {
    const { program, stream, device, from, to } = await withStream();
    const up = [words(program, device, device + 100n), words(program, from, from + 32n), words(program, 8, 4)] as const;
    const first = words(program, 0);
    const inOrder = attributes(program, 1);
    expect(await program.call("cudaMemcpyBatchAsync", ...up, 2, inOrder, first, 1, stream)).toBe(0);
    const down = [words(program, to, to + 16n), words(program, device + 100n, device), words(program, 4, 8)] as const;
    const both = words(program, 0, 1);
    expect(await program.call("cudaMemcpyBatchAsync", ...down, 2, attributes(program, 2, 3), both, 2, stream)).toBe(0);
    expect(await program.call("cudaStreamSynchronize", stream)).toBe(0);
    expect([...program.bytes(to, 4), ...program.bytes(to + 16n, 8)]).toEqual([32, 33, 34, 35, 0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test.each<[string, (is: { zero: boolean; orders: number[]; indexes: number[]; count: number }) => void]>([
    ["no copies", (is) => (is.count = 0)],
    ["an order of access that is none", (is) => (is.orders = [4])],
    ["attributes that begin later", (is) => (is.indexes = [1])],
    [
      "attributes out of order",
      (is) =>
        ([is.orders, is.indexes] = [
          [1, 1],
          [0, 0],
        ]),
    ],
    [
      "attributes of copies that are not there",
      (is) =>
        ([is.orders, is.indexes] = [
          [1, 1],
          [0, 2],
        ]),
    ],
    ["the legacy default stream", (is) => (is.zero = true)],
  ])("%s are an invalid value", async (_, change) => {
    const { program, stream, device, from } = await withStream();
    const is = { zero: false, orders: [1], indexes: [0], count: 2 };
    change(is);
    const lists = [words(program, device, device), words(program, from, from), words(program, 4, 4)] as const;
    const given = [attributes(program, ...is.orders), words(program, ...is.indexes), is.orders.length] as const;
    const code = await program.call("cudaMemcpyBatchAsync", ...lists, is.count, ...given, is.zero ? 0 : stream);
    expect(code).toBe(errors.invalidValue);
  });

  test("of a batch of boxes: rows, layers, and arrays", async () => {
    const { program, stream, from, to } = await withStream();
    const target = program.room(8);
    const format = program.room(new Uint8Array(Int32Array.from([8, 8, 0, 0, 1]).buffer));
    expect(await program.call("cudaMallocArray", target, format, 4, 2, 0)).toBe(0);
    const array = program.u64(target);
    const pointer = (address: bigint, row: number, layer: number) => [1, address, row, layer, 0];
    const inArray = (x: number, y: number) => [2, array, x, y, 0];
    const operation = (source: (bigint | number)[], end: (bigint | number)[]) => [...source, ...end, 3, 2, 1, 1];
    // 3 by 2 texels of 2 bytes: rows of 5 texels there, of 4 in the array, tightly packed here.
    const up = words(program, ...operation(pointer(from, 5, 2), inArray(1, 0)));
    expect(await program.call("cudaMemcpy3DBatchAsync", 1, up, 0, stream)).toBe(0);
    const down = words(program, ...operation(inArray(1, 0), pointer(to, 0, 0)));
    expect(await program.call("cudaMemcpy3DBatchAsync", 1, down, 0, stream)).toBe(0);
    expect([...program.bytes(to, 13)]).toEqual([0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 0]);
    const narrow = words(program, ...operation(pointer(from, 2, 2), inArray(1, 0)));
    expect(await program.call("cudaMemcpy3DBatchAsync", 1, narrow, 0, stream)).toBe(errors.invalidValue);
    expect(await program.call("cudaMemcpy3DBatchAsync", 1, up, 1, stream)).toBe(errors.invalidValue);
  });

  test("of boxes between devices", async () => {
    const { program, device, from, to } = await withStream();
    expect(await program.call("cudaMemcpy", device, from, 64, 1)).toBe(0);
    const end = (address: bigint, pitch: number, number: number) => [0, 0, 0, 0, address, pitch, pitch, 2, number];
    const box = words(program, ...end(device, 8, 0), ...end(device + 128n, 4, 1), 3, 2, 2);
    expect(await program.call("cudaMemcpy3DPeer", box)).toBe(0);
    expect(await program.call("cudaMemcpy", to, device + 128n, 16, 2)).toBe(0);
    expect([...program.bytes(to, 16)]).toEqual([0, 1, 2, 0, 8, 9, 10, 0, 16, 17, 18, 0, 24, 25, 26, 0]);
    const other = words(program, ...end(device, 8, 0), ...end(device + 128n, 4, 2), 3, 2, 2);
    expect(await program.call("cudaMemcpy3DPeer", other)).toBe(errors.invalidDevice);
  });
});

describe("managed memory", () => {
  test("is prefetched in batches, and discarded", async () => {
    const { program, stream } = await withStream();
    const target = program.room(8);
    expect(await program.call("cudaMallocManaged", target, 64, 1)).toBe(0);
    const managed = program.u64(target);
    const lists = [words(program, managed, managed + 32n), words(program, 32, 32), 2] as const;
    const onDevice1 = words(program, 1n | (1n << 32n));
    const all = words(program, 0);
    expect(await program.call("cudaMemPrefetchBatchAsync", ...lists, onDevice1, all, 1, 0, stream)).toBe(0);
    const place = program.room(4);
    expect(await program.call("cudaMemRangeGetAttribute", place, 4, 4, managed, 64)).toBe(0);
    expect(program.i32(place)).toBe(1);
    expect(await program.call("cudaMemDiscardBatchAsync", ...lists, 0, stream)).toBe(0);
    const noDevice = words(program, 1n | (7n << 32n));
    expect(await program.call("cudaMemPrefetchBatchAsync", ...lists, noDevice, all, 1, 0, stream)).toBe(
      errors.invalidDevice,
    );
    const device = await program.malloc(64);
    const other = [words(program, device), words(program, 64), 1] as const;
    expect(await program.call("cudaMemDiscardBatchAsync", ...other, 0, stream)).toBe(errors.invalidValue);
  });
});

import { expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// Programming Guide, Stream Ordered Memory Allocator; Runtime API, Stream Ordered Memory Allocator.

const attribute = { threshold: 4, reserved: 5, used: 7, usedHigh: 8 };

async function withPool() {
  const program = new FakeProgram();
  const target = program.room(8);
  expect(await program.call("cudaDeviceGetDefaultMemPool", target, 0)).toBe(0);
  const pool = program.u64(target);
  const get = async (id: number): Promise<number> => {
    const value = program.room(8);
    expect(await program.call("cudaMemPoolGetAttribute", pool, id, value)).toBe(0);
    return Number(program.u64(value));
  };
  const allocate = async (bytes: number): Promise<bigint> => {
    expect(await program.call("cudaMallocAsync", target, bytes, 0)).toBe(0);
    return program.u64(target);
  };
  return { program, pool, get, allocate };
}

test("a pool knows what is in use", async () => {
  const { program, get, allocate } = await withPool();
  const [a, b] = [await allocate(1000), await allocate(3000)];
  expect([await get(attribute.used), await get(attribute.usedHigh)]).toEqual([4000, 4000]);
  expect(await get(attribute.reserved)).toBeGreaterThanOrEqual(4000);
  expect(await program.call("cudaFreeAsync", a, 0)).toBe(0);
  expect(await program.call("cudaFree", b)).toBe(0);
  expect([await get(attribute.used), await get(attribute.usedHigh)]).toEqual([0, 4000]);
});

test("what is freed is freed once", async () => {
  const { program, allocate } = await withPool();
  const a = await allocate(64);
  expect(await program.call("cudaFreeAsync", a, 0)).toBe(0);
  expect(await program.call("cudaFreeAsync", a, 0)).toBe(errors.invalidValue);
  expect(await program.call("cudaFreeAsync", 0, 0)).toBe(0);
});

test("memory of cudaMalloc can be freed in the order of a stream", async () => {
  const { program } = await withPool();
  const a = await program.malloc(64);
  expect(await program.call("cudaFreeAsync", a, 0)).toBe(0);
  expect(await program.call("cudaMemset", a, 0, 4)).toBe(errors.invalidValue);
});

test("in a capture an allocation is a node", async () => {
  const { program } = await withPool();
  const [stream, address, graph, count] = [program.room(8), program.room(8), program.room(8), program.room(8)];
  await program.call("cudaStreamCreate", stream);
  const s = program.u64(stream);
  await program.call("cudaStreamBeginCapture", s, 2);
  expect(await program.call("cudaMallocAsync", address, 256, s)).toBe(0);
  expect(await program.call("cudaMemsetAsync", program.u64(address), 1, 256, s)).toBe(0);
  expect(await program.call("cudaFreeAsync", program.u64(address), s)).toBe(0);
  expect(await program.call("cudaStreamEndCapture", s, graph)).toBe(0);
  await program.call("cudaGraphGetNodes", program.u64(graph), 0, count);
  expect(program.u64(count)).toBe(3n);
});

test("pools of one's own: the default one cannot be destroyed, handles for others cannot be had", async () => {
  const { program, pool } = await withPool();
  expect(await program.call("cudaMemPoolDestroy", pool)).toBe(errors.invalidValue);
  const props = new Uint8Array(88);
  props.set([1, 0, 0, 0, 1, 0, 0, 0, 1], 0);
  const target = program.room(8);
  expect(await program.call("cudaMemPoolCreate", target, program.room(props))).toBe(errors.notSupported);
  props[4] = 0;
  // At most 100 bytes.
  props[24] = 100;
  expect(await program.call("cudaMemPoolCreate", target, program.room(props))).toBe(0);
  const own = program.u64(target);
  expect(await program.call("cudaMallocFromPoolAsync", target, 101, own, 0)).toBe(errors.memoryAllocation);
  expect(await program.call("cudaMallocFromPoolAsync", target, 100, own, 0)).toBe(0);
  expect(await program.call("cudaMemPoolDestroy", own)).toBe(0);
  expect(await program.call("cudaMemPoolTrimTo", own, 0)).toBe(errors.invalidValue);
});

// cudaMemPoolProps: a kind of memory, of handles, of place, and the number of a device.
test.each([
  ["the kind of memory", [0, 0, 1, 0], errors.invalidValue],
  ["no place", [1, 0, 0, 0], errors.invalidValue],
  ["no device", [1, 0, 1, 7], errors.invalidValue],
  ["handles for other processes", [1, 1, 1, 0], errors.notSupported],
  ["the host", [1, 0, 2, 0], errors.notSupported],
])("a pool that cannot be made: %s", async (_, words, code) => {
  const { program } = await withPool();
  const props = program.room(Uint8Array.of(...new Uint8Array(Uint32Array.from(words).buffer), ...new Uint8Array(72)));
  expect(await program.call("cudaMemPoolCreate", program.room(8), props)).toBe(code);
});

import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// What these calls answer: CUDA Runtime API, Execution Control, Memory Management, Library Management, Graph Management;
// CUDA Driver API, Module Management, Virtual Memory Management, Execution Control, Graph Management.

const ptx = `.version 7.8
.target sm_90
.address_size 64
.visible .global .align 4 .b32 plain = 7;
.visible .global .attribute(.managed) .align 4 .b32 shared_by_all = 9;
.visible .const .align 4 .b8 table[24];
.visible .entry pair(.param .u64 at) .reqnctapercluster 2, 1, 1 .explicitcluster
{
    .local .align 4 .b8 room[40];
    .reg .b64 %a;
    .reg .b32 %v;
    ld.param.u64 %a, [at];
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry one(.param .u64 at)
{
    .reg .b64 %a;
    .reg .b32 %v;
    ld.param.u64 %a, [at];
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    ret;
}
`;

async function prepared() {
  const program = new FakeProgram();
  const target = program.room(8);
  const get = async (name: string, ...rest: (bigint | number)[]): Promise<bigint> => {
    expect(await program.call(name, target, ...rest), name).toBe(0);
    return program.u64(target);
  };
  await program.call("cuInit", 0);
  await get("cuCtxCreate_v4", 0, 0, 0);
  return { program, get };
}

const list = (...words: bigint[]): Uint8Array => new Uint8Array(BigUint64Array.from(words).buffer);
const halves = (...words: number[]): Uint8Array => new Uint8Array(Int32Array.from(words).buffer);

describe("functions", () => {
  test("what a kernel says of clusters, of local and of constant memory", async () => {
    const { program, get } = await prepared();
    const kernel = await get(
      "cuModuleGetFunction",
      await get("cuModuleLoadData", program.text(ptx)),
      program.text("pair"),
    );
    const found = program.room(144);
    expect(await program.call("cudaFuncGetAttributes", found, kernel)).toBe(0);
    expect([program.u64(found + 8n), program.u64(found + 16n)]).toEqual([24n, 40n]);
    // clusterDimMustBeSet, and the width, height and depth that are required
    expect([52n, 56n, 60n, 64n].map((at) => program.i32(found + at))).toEqual([1, 2, 1, 1]);
    const value = program.room(4);
    expect(await program.call("cuFuncGetAttribute", value, 11, kernel)).toBe(0);
    expect(program.i32(value)).toBe(2);
  });

  test("arguments are given in one way, not in two", async () => {
    const { program, get } = await prepared();
    const kernel = await get(
      "cuModuleGetFunction",
      await get("cuModuleLoadData", program.text(ptx)),
      program.text("one"),
    );
    const memory = await get("cuMemAlloc_v2", 4);
    const buffer = program.room(list(memory));
    const args = program.room(list(buffer));
    const extra = program.room(list(1n, buffer, 2n, program.room(list(8n)), 0n));
    const launch = (a: bigint, b: bigint) => program.call("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, 0, a, b);
    expect(await launch(args, 0n)).toBe(0);
    expect(await launch(0n, extra)).toBe(0);
    expect(await launch(args, extra)).toBe(errors.invalidValue);
  });

  test("an event of a launch measures no time, and is reached when the launch has ended", async () => {
    const { program, get } = await prepared();
    const kernel = await get(
      "cuModuleGetFunction",
      await get("cuModuleLoadData", program.text(ptx)),
      program.text("one"),
    );
    const memory = await get("cuMemAlloc_v2", 4);
    const args = program.room(list(program.room(list(memory))));
    const launchWith = (event: bigint) => {
      const attribute = new Uint8Array(72);
      new DataView(attribute.buffer).setUint32(0, 12, true);
      attribute.set(list(event), 8);
      const config = new Uint8Array(56);
      config.set(halves(1, 1, 1, 1, 1, 1));
      config.set(list(program.room(attribute), 1n), 40);
      return program.call("cuLaunchKernelEx", program.room(config), kernel, args, 0);
    };
    // By the header the event must not measure time.
    expect(await launchWith(await get("cuEventCreate", 0))).toBe(errors.invalidValue);
    const event = await get("cuEventCreate", 2);
    expect(await launchWith(event)).toBe(0);
    expect(await program.call("cuEventSynchronize", event)).toBe(0);
    expect(await program.call("cuEventQuery", event)).toBe(0);
  });
});

test("what is wrong with texts that are linked is in the log that the link was given", async () => {
  const { program, get } = await prepared();
  const text = `.version 7.0
.target sm_75
.address_size 64
.extern .func missing;
.visible .entry caller() { call missing; ret; }
`;
  const [room, size] = [program.room(200), 200n];
  const ids = program.room(halves(5, 6));
  const state = program.room(8);
  expect(await program.call("cuLinkCreate_v2", 2, ids, program.room(list(room, size)), state)).toBe(0);
  const link = program.u64(state);
  expect(await program.call("cuLinkAddData_v2", link, 1, program.text(text), text.length + 1, 0, 0, 0, 0)).toBe(0);
  expect(await program.call("cuLinkComplete", link, program.room(8), program.room(8))).toBe(errors.invalidPtx);
  expect(new TextDecoder().decode(program.bytes(room, 200))).toContain("missing");
  void get;
});

describe("memory", () => {
  test("variables of a library: only a managed one is managed", async () => {
    const { program, get } = await prepared();
    const library = await get("cudaLibraryLoadData", program.text(ptx), 0, 0, 0, 0, 0, 0);
    const [target, size] = [program.room(8), program.room(8)];
    const managed = (name: string) => program.call("cudaLibraryGetManaged", target, size, library, program.text(name));
    expect(await managed("shared_by_all")).toBe(0);
    expect(await managed("plain")).toBe(errors.symbolNotFound);
    expect(await program.call("cudaLibraryGetGlobal", target, size, library, program.text("plain"))).toBe(0);
    const about = program.room(64);
    expect(await program.call("cudaPointerGetAttributes", about, program.u64(target))).toBe(0);
    // cudaMemoryTypeDevice, and the address itself
    expect([program.i32(about), program.u64(about + 8n)]).toEqual([2, program.u64(target)]);
  });

  test("where a range was advised to be and prefetched to, by kind and number", async () => {
    const { program, get } = await prepared();
    const memory = await get("cudaMallocManaged", 4096, 1);
    const [device, host] = [1n, 2n];
    const value = program.room(4);
    const ask = async (id: number) => {
      expect(await program.call("cudaMemRangeGetAttribute", value, 4, id, memory, 4096)).toBe(0);
      return program.i32(value);
    };
    expect(await Promise.all([5, 7].map(ask))).toEqual([0, 0]);
    expect(await program.call("cudaMemAdvise", memory, 4096, 3, device)).toBe(0);
    expect(await program.call("cudaMemPrefetchAsync", memory, 4096, host, 0, 0)).toBe(0);
    expect([await ask(5), await ask(6), await ask(7)]).toEqual([1, 0, 2]);
  });

  test("reserved addresses are aligned, and no memory where none is mapped", async () => {
    const { program, get } = await prepared();
    const properties = program.room(halves(1, 0, 1, 0, 0, 0, 0, 0));
    const size = Number(await get("cuMemGetAllocationGranularity", properties, 0));
    await get("cuMemAlloc_v2", 100);
    const range = await get("cuMemAddressReserve", 2 * size, 2 * size, 0, 0);
    expect(range % BigInt(2 * size)).toBe(0n);
    const value = program.room(8);
    const copy = (at: bigint) => program.call("cuMemcpyDtoH_v2", value, at, 8);
    expect(await copy(range)).toBe(errors.invalidValue);
    expect(await program.call("cuMemMap", range, size, 0, await get("cuMemCreate", size, properties, 0), 0)).toBe(0);
    expect(await copy(range)).toBe(errors.invalidValue);
    const [device, readWrite] = [1, 3];
    expect(await program.call("cuMemSetAccess", range, size, program.room(halves(device, 0, readWrite)), 1)).toBe(0);
    expect(await copy(range)).toBe(0);
    expect(await copy(range + BigInt(size - 4))).toBe(errors.invalidValue);
    expect(await program.call("cuMemUnmap", range, size)).toBe(0);
    expect(await copy(range)).toBe(errors.invalidValue);
  });
});

describe("graphs", () => {
  test("a copy of an executable graph stays between memory of the same kinds", async () => {
    const { program, get } = await prepared();
    const [memory, graph] = [await get("cuMemAlloc_v2", 8), await get("cudaGraphCreate", 0)];
    const [here, toHost, toDevice] = [program.room(8), 2, 1];
    const node = await get("cudaGraphAddMemcpyNode1D", graph, 0, 0, here, memory, 4, toHost);
    const exec = await get("cudaGraphInstantiate", graph, 0);
    const set = (...rest: (bigint | number)[]) =>
      program.call("cudaGraphExecMemcpyNodeSetParams1D", exec, node, ...rest);
    expect(await set(memory, here, 4, toDevice)).toBe(errors.invalidValue);
    expect(await set(here + 4n, memory + 4n, 4, toHost)).toBe(0);
  });

  test("waits and writes of values are nodes, and may be captured", async () => {
    const { program, get } = await prepared();
    const [memory, stream] = [await get("cuMemAlloc_v2", 16), await get("cuStreamCreate", 1)];
    await program.call("cuMemsetD32_v2", memory, 0, 4);
    const graph = await get("cuGraphCreate", 0);
    const operation = new Uint8Array(96);
    operation.set(list(2n, memory, 5n), 0);
    operation.set(list(5n, memory + 8n, 1n << 40n), 48);
    const params = program.room(list(0n, 2n, program.room(operation), 0n));
    const node = await get("cuGraphAddBatchMemOpNode", graph, 0, 0, params);
    const type = program.room(4);
    await program.call("cuGraphNodeGetType", node, type);
    expect(program.i32(type)).toBe(12);
    const value = program.room(16);
    expect(await program.call("cuGraphLaunch", await get("cuGraphInstantiateWithFlags", graph, 0), stream)).toBe(0);
    expect(await program.call("cuStreamSynchronize", stream)).toBe(0);
    await program.call("cuMemcpyDtoH_v2", value, memory, 16);
    expect([program.u64(value), program.u64(value + 8n)]).toEqual([5n, 1n << 40n]);
    expect(await program.call("cuStreamBeginCapture_v2", stream, 0)).toBe(0);
    expect(await program.call("cuStreamWaitValue32_v2", stream, memory, 5, 1)).toBe(0);
    expect(await program.call("cuStreamWriteValue32_v2", stream, memory + 4n, 6, 0)).toBe(0);
    expect(await program.call("cuStreamEndCapture", stream, value)).toBe(0);
    const captured = await get("cuGraphInstantiateWithFlags", program.u64(value), 0);
    await program.call("cuMemcpyDtoH_v2", value, memory, 8);
    expect(program.i32(value + 4n)).toBe(0);
    expect(await program.call("cuGraphLaunch", captured, stream)).toBe(0);
    expect(await program.call("cuStreamSynchronize", stream)).toBe(0);
    await program.call("cuMemcpyDtoH_v2", value, memory, 8);
    expect(program.i32(value + 4n)).toBe(6);
  });
});

// As tests for NVIDIA's runtime expect (hip-tests).
test("a name that is longer than its room is cut off, and that is an error", async () => {
  const program = new FakeProgram();
  const name = program.room(new Uint8Array(32).fill(1));
  expect(await program.call("cudaDeviceGetPCIBusId", name, 6, 0)).toBe(errors.invalidValue);
  expect(program.bytes(name, 8)).toEqual(Uint8Array.of(...new TextEncoder().encode("0000:"), 0, 1, 1));
});

test("what is set of a device is gone after a reset", async () => {
  const program = new FakeProgram();
  const [value, preferShared] = [program.room(4), 1];
  expect(await program.call("cudaDeviceSetCacheConfig", preferShared)).toBe(0);
  expect(await program.call("cudaDeviceReset")).toBe(0);
  expect(await program.call("cudaDeviceGetCacheConfig", value)).toBe(0);
  expect(program.i32(value)).toBe(0);
});

test("pools of devices that there are not", async () => {
  const program = new FakeProgram();
  const target = program.room(8);
  expect(await program.call("cudaDeviceGetMemPool", target, 7)).toBe(errors.invalidValue);
  expect(await program.call("cudaDeviceGetDefaultMemPool", target, 7)).toBe(errors.invalidDevice);
  expect(await program.call("cudaDeviceGetDefaultMemPool", target, 0)).toBe(0);
  expect(await program.call("cudaDeviceSetMemPool", 7, program.u64(target))).toBe(errors.invalidValue);
});

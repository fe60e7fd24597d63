import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { callbackThread, FakeProgram } from "./fake-program.ts";

const ptx = `.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 total = 5;
.visible .const .align 4 .u32 step = 3;
.visible .entry count(.param .u64 out)
{
    .reg .b32 %v, %s;
    .reg .b64 %o;
    ld.param.u64 %o, [out];
    ld.const.u32 %s, [step];
    atom.global.add.u32 %v, [total], %s;
    cvta.to.global.u64 %o, %o;
    st.global.u32 [%o], %v;
    ret;
}
.visible .entry fault(.param .u64 out)
{
    .reg .b64 %o;
    ld.param.u64 %o, [out];
    st.global.u32 [%o+1], 7;
    ret;
}
`;

const hostToDevice = 1;
const deviceToHost = 2;

async function withKernels() {
  const program = new FakeProgram();
  const handle = await program.register(ptx);
  const out = await program.malloc(16);
  const count = await program.kernel(handle, "count");
  const fault = await program.kernel(handle, "fault");
  return { program, handle, out, count, fault };
}

describe("memory", () => {
  test("bytes go there and back", async () => {
    const program = new FakeProgram();
    const device = await program.malloc(16);
    const from = program.room(Uint8Array.of(1, 2, 3, 4));
    const to = program.room(4);
    expect(await program.call("cudaMemcpy", device, from, 4, hostToDevice)).toBe(0);
    expect(await program.call("cudaMemset", device + 1n, 9, 2)).toBe(0);
    expect(await program.call("cudaMemcpy", to, device, 4, deviceToHost)).toBe(0);
    expect([...program.bytes(to, 4)]).toEqual([1, 9, 9, 4]);
  });

  test("pinned memory takes room of the device, and the first allocation that does not fit says what is in use", async () => {
    const program = new FakeProgram();
    const at = program.room(16);
    const gibibyte = 2 ** 30;
    expect(await program.call("cudaMemGetInfo", at, at + 8n)).toBe(0);
    expect(program.u64(at)).toBe(program.u64(at + 8n));
    expect(await program.call("cudaHostAlloc", program.room(8), 2 * gibibyte, 0)).toBe(0);
    await program.malloc(gibibyte);
    expect(await program.call("cudaMemGetInfo", at, at + 8n)).toBe(0);
    expect(Number(program.u64(at))).toBe(0.75 * gibibyte);
    for (let i = 0; i < 2; i++) {
      expect(await program.call("cudaMalloc", program.room(8), gibibyte)).toBe(errors.memoryAllocation);
    }
    expect(program.warnings).toEqual([
      "device memory is exhausted: 1073741824 bytes do not fit: 1 GiB of 3.75 GiB are in use, and 2 GiB by pinned memory of the host. Kernels run in WebAssembly, which addresses 4 GiB",
    ]);
  });

  // What is large is copied by the program itself, when its call returns.
  test("large copies", async () => {
    const program = new FakeProgram();
    const bytes = 1 << 18;
    const from = program.room(Uint8Array.from({ length: bytes }, (_, i) => (i * 7) ^ (i >> 8)));
    const to = program.room(bytes);
    const device = await program.malloc(bytes);
    expect(await program.call("cudaMemcpy", device, from, bytes, hostToDevice)).toBe(0);
    expect(await program.call("cudaMemcpy", to, device, bytes, deviceToHost)).toBe(0);
    expect(program.bytes(to, bytes)).toEqual(program.bytes(from, bytes));
    expect(await program.call("cudaMemcpy", 0x1000n, device, bytes, deviceToHost)).toBe(errors.invalidValue);
    expect(await program.call("cudaMemcpy", device, 0x1000n, bytes, hostToDevice)).toBe(errors.invalidValue);
    expect(await program.call("cudaMemset", device, 5, bytes)).toBe(0);
    expect(await program.call("cudaMemcpyAsync", to, device, bytes, deviceToHost, 0)).toBe(0);
    expect(program.bytes(to, bytes).every((byte) => byte === 5)).toBe(true);
  });

  // As GPUs do, which go by addresses: llama2.cu, which runs on them, copies its embeddings so.
  test.each([
    ["host to device", hostToDevice],
    ["device to host", deviceToHost],
  ])("copies within a device that are said to be %s", async (said, kind) => {
    const program = new FakeProgram({ checksCalls: true });
    const from = await program.malloc(16);
    const to = await program.malloc(16);
    expect(await program.call("cudaMemset", from, 5, 16)).toBe(0);
    expect(await program.call("cudaMemcpy", to, from, 16, kind)).toBe(0);
    const host = program.room(16);
    expect(await program.call("cudaMemcpy", host, to, 16, deviceToHost)).toBe(0);
    expect(program.bytes(host, 16)).toEqual(new Uint8Array(16).fill(5));
    const end = kind === hostToDevice ? "source" : "destination";
    expect(program.warnings).toEqual([`the copy is said to be ${said}, and its ${end} is not`]);
  });

  // Runtime API, Memory Management: the errors that each function is said to return.
  test.each([
    ["beyond the end", ["cudaMemset", 16n, 0, 5], errors.invalidValue],
    ["a direction that is none", ["cudaMemcpy", 0n, 0n, 4, 9], errors.invalidMemcpyDirection],
    ["nothing", ["cudaMemset", 16n, 0, 0], 0],
  ] as const)("%s", async (_, [name, at, ...rest], wanted) => {
    const program = new FakeProgram();
    const device = await program.malloc(20);
    expect(await program.call(name, device + at, ...rest)).toBe(wanted);
  });

  test("what is freed twice is no allocation", async () => {
    const program = new FakeProgram();
    const device = await program.malloc(64);
    expect(await program.call("cudaFree", device)).toBe(0);
    expect(await program.call("cudaFree", device)).toBe(errors.invalidValue);
    expect(await program.call("cudaFree", 0)).toBe(0);
  });

  test("rows with pitches", async () => {
    const program = new FakeProgram();
    const device = await program.malloc(64);
    const from = program.room(Uint8Array.from({ length: 12 }, (_, i) => i));
    const to = program.room(12);
    expect(await program.call("cudaMemcpy2D", device, 16, from, 4, 3, 3, hostToDevice)).toBe(0);
    expect(await program.call("cudaMemcpy2D", to, 4, device, 16, 3, 3, deviceToHost)).toBe(0);
    expect([...program.bytes(to, 12)]).toEqual([0, 1, 2, 0, 4, 5, 6, 0, 8, 9, 10, 0]);
    expect(await program.call("cudaMemcpy2D", device, 2, from, 4, 3, 3, hostToDevice)).toBe(errors.invalidPitchValue);
  });
});

describe("kernels and variables", () => {
  test("a launch sees the variables of its module, and copies to symbols", async () => {
    const { program, handle, out, count } = await withKernels();
    const step = await program.variable(handle, "step", 4);
    const total = await program.variable(handle, "total", 4);
    expect(await program.launch(count, 1, 1, [out])).toBe(0);
    const four = program.room(Uint8Array.of(40, 0, 0, 0));
    expect(await program.call("cudaMemcpyToSymbol", step, four, 4, 0, hostToDevice)).toBe(0);
    expect(await program.launch(count, 1, 1, [out])).toBe(0);
    const to = program.room(4);
    expect(await program.call("cudaMemcpyFromSymbol", to, total, 4, 0, deviceToHost)).toBe(0);
    expect(program.i32(to)).toBe(5 + 3 + 40);
  });

  test("what is no kernel and what is no symbol", async () => {
    const { program } = await withKernels();
    expect(await program.launch(program.room(16), 1, 1, [])).toBe(errors.invalidDeviceFunction);
    expect(await program.call("cudaGetSymbolAddress", program.room(8), program.room(8))).toBe(errors.invalidSymbol);
  });

  test.each([
    [0, 1],
    [1, 0],
    [1, 1025],
  ])("a grid of %i blocks of %i threads is refused, and nothing is broken", async (grid, block) => {
    const { program, out, count } = await withKernels();
    expect(await program.launch(count, grid, block, [out])).toBe(errors.invalidConfiguration);
    expect(await program.call("cudaDeviceSynchronize")).toBe(0);
  });

  test("a fault is there at the next synchronization, and stays", async () => {
    const { program, out, fault } = await withKernels();
    expect(await program.launch(fault, 1, 1, [out])).toBe(0);
    expect(await program.call("cudaDeviceSynchronize")).toBe(errors.misalignedAddress);
    expect(await program.call("cudaMalloc", program.room(8), 4)).toBe(errors.misalignedAddress);
    expect(program.reports.map(({ code }) => code)).toEqual(["misaligned-access"]);
  });

  // Section 5.1 of the CUDA C++ Programming Guide: code with an `a` is for that compute capability alone.
  test.each([
    ["sm_75", 7, 5],
    ["sm_90a", 9, 0],
    ["sm_100a", 10, 0],
    ["sm_120a", 12, 0],
  ])("a program for %s sees a card of %d.%d", async (target, major, minor) => {
    const program = new FakeProgram({ gpu: null });
    await program.register(ptx.replace("sm_75", target));
    const found = [75, 76].map(async (attribute) => {
      const out = program.room(4);
      expect(await program.call("cudaDeviceGetAttribute", out, attribute, 0)).toBe(0);
      return program.i32(out);
    });
    expect(await Promise.all(found)).toEqual([major, minor]);
  });

  test("an image for another architecture is none", async () => {
    const program = new FakeProgram();
    const handle = await program.register(ptx.replace("sm_75", "sm_100"));
    const stub = await program.kernel(handle, "count");
    expect(await program.launch(stub, 1, 1, [0])).toBe(errors.noKernelImageForDevice);
    expect(program.warnings).toEqual([
      "the program's PTX is for sm_100, which NVIDIA H100 80GB HBM3 (sm_90) cannot run: choose another card by `--gpu`",
    ]);
  });

  test("without PTX there is no image, and it is said how to get some, once", async () => {
    const program = new FakeProgram();
    const handle = await program.register(ptx, "machine");
    const stub = await program.kernel(handle, "count");
    expect(await program.launch(stub, 1, 1, [0])).toBe(errors.noKernelImageForDevice);
    expect(await program.launch(stub, 1, 1, [0])).toBe(errors.noKernelImageForDevice);
    expect(program.warnings).toEqual([
      "the program has machine code (sm_75) and no PTX: " +
        "build it with `-arch=sm_80`, or `-gencode arch=compute_80,code=compute_80`",
    ]);
  });
});

describe("streams and events", () => {
  test("functions of the host run in their turn, and what is after them waits", async () => {
    const { program, out, count } = await withKernels();
    const stream = program.room(8);
    expect(await program.call("cudaStreamCreate", stream)).toBe(0);
    const s = program.u64(stream);
    expect(await program.call("cudaLaunchHostFunc", s, 0x77, 0x88)).toBe(0);
    expect(await program.launch(count, 1, 1, [out], s)).toBe(0);
    expect(await program.call("cudaStreamQuery", s)).toBe(errors.notReady);
    const asked = new Promise<bigint>((resolve) => {
      program.process.callbacks.ask(callbackThread, ({ function: called }) => resolve(called));
    });
    expect(await asked).toBe(0x77n);
    // cudaStreamAddCallback: "Attempting to use a CUDA API will result in cudaErrorNotPermitted."
    expect(await program.callAs(callbackThread, "cudaStreamSynchronize", s)).toBe(errors.notPermitted);
    expect(await program.callAs(callbackThread, "cudaFree", 0)).toBe(errors.notPermitted);
    expect(await program.call("cudaFree", 0)).toBe(0);
    const ended = program.call("cudaStreamSynchronize", s);
    program.process.callbacks.ask(callbackThread, () => {});
    expect(await ended).toBe(0);
    expect(await program.call("cudaStreamQuery", s)).toBe(0);
  });

  test("the client is told of each stream that is gone, as its handle may be none any more", async () => {
    const program = new FakeProgram();
    const streams = program.room(16);
    for (const at of [streams, streams + 8n]) await program.call("cudaStreamCreate", at);
    expect(program.published).toEqual({ oneWay: true, error: 0, removedStreams: 0 });
    expect(await program.call("cudaStreamDestroy", program.u64(streams))).toBe(0);
    expect(program.published).toMatchObject({ removedStreams: 1 });
    expect(await program.call("cudaDeviceReset")).toBe(0);
    expect(program.published).toEqual({ oneWay: true, error: 0, removedStreams: 2 });
  });

  test("the default stream waits for a blocking stream, not for one that is not", async () => {
    const program = new FakeProgram();
    const [blocking, other] = [program.room(8), program.room(8)];
    await program.call("cudaStreamCreate", blocking);
    await program.call("cudaStreamCreateWithFlags", other, 1);
    await program.call("cudaLaunchHostFunc", program.u64(other), 1, 0);
    expect(await program.call("cudaStreamQuery", 0)).toBe(0);
    await program.call("cudaLaunchHostFunc", program.u64(blocking), 1, 0);
    expect(await program.call("cudaStreamQuery", 0)).toBe(errors.notReady);
  });

  test("events have times in order", async () => {
    const program = new FakeProgram();
    const [a, b, ms] = [program.room(8), program.room(8), program.room(4)];
    await program.call("cudaEventCreate", a);
    await program.call("cudaEventCreate", b);
    expect(await program.call("cudaEventElapsedTime", ms, program.u64(a), program.u64(b))).toBe(
      errors.invalidResourceHandle,
    );
    await program.call("cudaEventRecord", program.u64(a), 0);
    await program.call("cudaEventRecord", program.u64(b), 0);
    expect(await program.call("cudaEventElapsedTime", ms, program.u64(a), program.u64(b))).toBe(0);
    expect(program.f32(ms)).toBeGreaterThanOrEqual(0);
  });
});

describe("devices", () => {
  // Programming Guide, CUDA_VISIBLE_DEVICES: devices after an invalid index are not visible.
  test.each([
    ["0,1", 2],
    ["1", 1],
    ["0,7,1", 1],
    ["-1", 0],
    ["", 0],
    [null, 2],
  ])("CUDA_VISIBLE_DEVICES=%s", async (value, wanted) => {
    const program = new FakeProgram({ devices: 2 }, value);
    const count = program.room(4);
    expect(await program.call("cudaGetDeviceCount", count)).toBe(wanted === 0 ? errors.noDevice : 0);
    expect(program.i32(count)).toBe(wanted);
  });

  test("each thread has a current device", async () => {
    const program = new FakeProgram({ devices: 2 });
    const device = program.room(4);
    expect(await program.callAs(1, "cudaSetDevice", 1)).toBe(0);
    await program.callAs(1, "cudaGetDevice", device);
    expect(program.i32(device)).toBe(1);
    await program.callAs(2, "cudaGetDevice", device);
    expect(program.i32(device)).toBe(0);
    expect(await program.callAs(2, "cudaSetDevice", 2)).toBe(errors.invalidDevice);
  });

  test("variables are those of a device, memory is one", async () => {
    const program = new FakeProgram({ devices: 2 });
    const handle = await program.register(ptx);
    const count = await program.kernel(handle, "count");
    const out = await program.malloc(4);
    const to = program.room(4);
    for (const device of [0, 1]) {
      await program.call("cudaSetDevice", device);
      expect(await program.launch(count, 1, 1, [out])).toBe(0);
      await program.call("cudaMemcpy", to, out, 4, deviceToHost);
      expect(program.i32(to)).toBe(5);
    }
  });

  // Programming guide, "Stream and Event Behavior".
  test("a kernel is not launched into a stream of another device", async () => {
    const program = new FakeProgram({ devices: 2 });
    const count = await program.kernel(await program.register(ptx), "count");
    const [out, target] = [await program.malloc(4), program.room(8)];
    await program.call("cudaSetDevice", 1);
    expect(await program.call("cudaStreamCreate", target)).toBe(0);
    const stream = program.u64(target);
    expect(await program.launch(count, 1, 1, [out], stream)).toBe(0);
    await program.call("cudaSetDevice", 0);
    expect(await program.launch(count, 1, 1, [out], stream)).toBe(errors.invalidResourceHandle);
    expect(await program.call("cudaMemsetAsync", out, 0, 4, stream)).toBe(0);
  });

  test("an entry point without a handler says so once", async () => {
    const program = new FakeProgram();
    expect(await program.call("cudaImportExternalMemory", 0, 0)).toBe(errors.notSupported);
    expect(await program.call("cudaImportExternalMemory", 0, 0)).toBe(errors.notSupported);
    expect(program.warnings).toEqual([
      "cudaImportExternalMemory is not supported: it returns cudaErrorNotSupported (801)",
    ]);
  });
});

// Runtime API, cudaStreamAttachMemAsync: the length is 0, or that of the whole allocation.
test("managed memory is attached to a stream as a whole", async () => {
  const program = new FakeProgram();
  const [managed, attached] = [program.room(8), 4];
  expect(await program.call("cudaMallocManaged", managed, 64, 1)).toBe(0);
  const stream = program.room(8);
  expect(await program.call("cudaStreamCreate", stream)).toBe(0);
  const attach = (bytes: number): Promise<number> =>
    program.call("cudaStreamAttachMemAsync", program.u64(stream), program.u64(managed), bytes, attached);
  expect([await attach(0), await attach(64), await attach(32)]).toEqual([0, 0, errors.invalidValue]);
});

// Runtime API, cudaSetDeviceFlags: the ways to wait exclude each other. cudaMemset2D has one error.
test("flags of a device, and a pitch, that are not possible", async () => {
  const program = new FakeProgram();
  const [spin, yields, mapsHost] = [1, 2, 8];
  expect(await program.call("cudaSetDeviceFlags", spin | mapsHost)).toBe(0);
  expect(await program.call("cudaSetDeviceFlags", spin | yields)).toBe(errors.invalidValue);
  const memory = await program.malloc(64);
  expect(await program.call("cudaMemset2D", memory, 8, 1, 16, 2)).toBe(errors.invalidValue);
});

// The pitch of rows is a size_t; memory that has one and does not fit is another matter (hip-tests).
test("rows whose pitch is too large, and too many rows", async () => {
  const program = new FakeProgram();
  const [pointer, pitch, most] = [program.room(8), program.room(8), (1n << 64n) - 1n];
  expect(await program.call("cudaMallocPitch", pointer, pitch, most, 1)).toBe(errors.invalidValue);
  expect(await program.call("cudaMallocPitch", pointer, pitch, 1, most)).toBe(errors.memoryAllocation);
  expect(await program.call("cudaMallocPitch", pointer, pitch, 513, 2)).toBe(0);
  expect(program.u64(pitch)).toBe(1024n);
});

import { expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// What is said of calls that fail, where they are checked. That they fail: CUDA Runtime API, Memory Management.

const [hostToDevice, deviceToHost, deviceToDevice] = [1, 2, 3];

async function failing(call: (program: FakeProgram, memory: bigint, host: bigint) => Promise<number>) {
  const program = new FakeProgram({ checksCalls: true });
  const memory = await program.malloc(64);
  expect(await call(program, memory, program.room(256))).toBe(errors.invalidValue);
  return program.warnings.join("\n").replaceAll(/0x[0-9a-f]+/g, "0x...");
}

test.each<[string, (program: FakeProgram, memory: bigint, host: bigint) => Promise<number>, string]>([
  [
    "a direction that the destination does not have",
    (program, memory, host) => program.call("cudaMemcpy", host, memory, 64, hostToDevice),
    "cudaMemcpy returns cudaErrorInvalidValue (1): the copy is said to be host to device, and its destination is not",
  ],
  [
    "a direction that the source does not have",
    (program, _memory, host) => program.call("cudaMemcpy", host, host, 64, deviceToHost),
    "cudaMemcpy returns cudaErrorInvalidValue (1): the copy is said to be device to host, and its source is not",
  ],
  [
    "more bytes than there are",
    (program, memory, host) => program.call("cudaMemcpy", host, memory + 32n, 64, deviceToHost),
    "cudaMemcpy returns cudaErrorInvalidValue (1): 64 bytes from 0x... on reach 32 bytes past the allocation of 64 bytes",
  ],
  [
    "memory that was freed",
    async (program, memory) => {
      expect(await program.call("cudaFree", memory)).toBe(0);
      return await program.call("cudaMemcpy", memory, memory, 64, deviceToDevice);
    },
    "cudaMemcpy returns cudaErrorInvalidValue (1): 0x... is no address of device memory that is in use",
  ],
  [
    "freed twice",
    async (program, memory) => {
      expect(await program.call("cudaFree", memory)).toBe(0);
      return await program.call("cudaFree", memory);
    },
    "cudaFree returns cudaErrorInvalidValue (1): the memory is not in use: it was freed, or never allocated",
  ],
  [
    "freed in the middle",
    (program, memory) => program.call("cudaFree", memory + 16n),
    "cudaFree returns cudaErrorInvalidValue (1): no allocation begins there",
  ],
  [
    "freed as memory of the host",
    (program, memory) => program.call("cudaFreeHost", memory),
    "cudaFreeHost returns cudaErrorInvalidValue (1): the memory is device memory, which is freed by another call",
  ],
])("%s", async (_, call, message) => {
  expect(await failing(call)).toBe(message);
});

test("an error of our own ends the context, and nobody waits for the launch", async () => {
  const broken = {
    instruction: (): void => {
      throw new Error("broken");
    },
  };
  const program = new FakeProgram({ launch: { observers: [broken] } });
  const ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n";
  await program.launch(await program.kernel(await program.register(ptx), "k"), 1, 1, []);
  expect(await program.call("cudaDeviceSynchronize")).toBe(errors.launchFailure);
  expect(program.warnings.join("\n")).toContain("this is an error of Lanewise itself: Error: broken");
});

test("nothing is said otherwise", async () => {
  const program = new FakeProgram();
  expect(await program.call("cudaFree", 64n)).toBe(errors.invalidValue);
  expect(program.warnings).toEqual([]);
});

// CUDA Runtime API, cudaMallocHost and cudaMemcpyAsync: a copy from pinned memory reads it when its turn comes.
test("the source of an asynchronous copy is closed for writing until the program has waited", async () => {
  const program = new FakeProgram({ checksCalls: true });
  const memory = await program.malloc(8192);
  const pointer = program.room(8);
  expect(await program.call("cudaMallocHost", pointer, 8192)).toBe(0);
  const pinned = program.u64(pointer);
  const places = (): string[] =>
    program.protections.splice(0).map(({ kind, address }) => `${kind} ${address - pinned}`);
  places();
  expect(await program.call("cudaMemcpyAsync", memory, pinned, 8192, hostToDevice, 0)).toBe(0);
  expect(places()).toEqual(["readOnly 0"]);
  // The same memory is also the destination of another copy: nothing is allowed.
  expect(await program.call("cudaMemcpyAsync", pinned, memory, 4096, deviceToHost, 0)).toBe(0);
  expect(places()).toEqual(["readOnly 0", "close 0"]);
  expect(await program.call("cudaStreamSynchronize", 0)).toBe(0);
  expect(places()).toEqual(["open 0", "open 0"]);
});

test("a copy of a graph whose memory has been freed ends the context, and says so", async () => {
  const program = new FakeProgram();
  const [from, to] = [await program.malloc(64), await program.malloc(64)];
  const handle = program.room(8);
  const room = program.room(8);
  expect(await program.call("cudaGraphCreate", handle, 0)).toBe(0);
  const made = program.u64(handle);
  expect(await program.call("cudaGraphAddMemcpyNode1D", room, made, 0, 0, to, from, 64, deviceToDevice)).toBe(0);
  expect(await program.call("cudaGraphInstantiate", room, made, 0)).toBe(0);
  expect(await program.call("cudaFree", from)).toBe(0);
  expect(await program.call("cudaGraphLaunch", program.u64(room), 0)).toBe(0);
  expect(await program.call("cudaDeviceSynchronize")).toBe(errors.illegalAddress);
  expect(program.warnings.join("\n")).toContain(
    "a copy or fill uses the 64 bytes that cudaMalloc has given, which were freed before its turn came",
  );
});

test("what cooperative launches need themselves is no memory that the program has not freed", async () => {
  const program = new FakeProgram({ checksCalls: true });
  const ptx = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  const nothing = await program.kernel(await program.register(ptx), "nothing");
  const yx = 1n << 32n;
  expect(await program.call("cudaLaunchCooperativeKernel", nothing, 1n | yx, 1, 32n | yx, 1, 0, 0, 0)).toBe(0);
  expect(await program.call("cudaDeviceSynchronize")).toBe(0);
  expect(program.process.leaks).toEqual([]);
  await program.malloc(64);
  expect(program.process.leaks).toHaveLength(1);
});

test("a kernel that is given memory of a device to which its own has no access", async () => {
  const program = new FakeProgram({ checksCalls: true, devices: 2 });
  const ptx = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry takes(.param .u64 p) { ret; }\n";
  const takes = await program.kernel(await program.register(ptx), "takes");
  const memory = await program.malloc(64);
  expect(await program.launch(takes, 1, 1, [memory])).toBe(0);
  expect(await program.call("cudaSetDevice", 1)).toBe(0);
  expect(program.warnings).toEqual([]);
  expect(await program.launch(takes, 1, 1, [memory])).toBe(0);
  expect(program.warnings.join("\n")).toContain(
    "the kernel `takes` on device 1 is given memory of device 0, to which it has no access",
  );
  program.warnings.length = 0;
  expect(await program.call("cudaDeviceEnablePeerAccess", 0, 0)).toBe(0);
  expect(await program.launch(takes, 1, 1, [memory])).toBe(0);
  expect(program.warnings).toEqual([]);
});

test("small pinned memory is closed to the host with all of its page", async () => {
  const program = new FakeProgram({ checksCalls: true });
  const memory = await program.malloc(256);
  const pointer = program.room(8);
  expect(await program.call("cudaMallocHost", pointer, 256)).toBe(0);
  const pinned = program.u64(pointer);
  program.protections.length = 0;
  // A part of it may share its page with what the program uses at the same time.
  expect(await program.call("cudaMemcpyAsync", pinned, memory, 128, deviceToHost, 0)).toBe(0);
  expect(program.protections).toEqual([]);
  expect(await program.call("cudaMemcpyAsync", pinned, memory, 256, deviceToHost, 0)).toBe(0);
  expect(program.protections).toEqual([{ kind: "close", address: pinned }]);
});

test("what device code never frees is named at the end", async () => {
  const program = new FakeProgram({ checksCalls: true });
  const ptx = `.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.visible .entry _Z4takev()
{
    .param .b64 n; .param .b64 r;
    st.param.b64 [n], 24;
    call.uni (r), malloc, (n);
    ret;
}
`;
  const take = await program.kernel(await program.register(ptx), "_Z4takev");
  expect(await program.launch(take, 1, 2, [])).toBe(0);
  expect(await program.call("cudaDeviceSynchronize")).toBe(0);
  expect(program.process.leaks).toEqual(["48 bytes that the kernel `take()` has allocated by malloc are never freed"]);
  expect(await program.call("cudaDeviceReset")).toBe(0);
  expect(program.process.leaks).toEqual([]);
});

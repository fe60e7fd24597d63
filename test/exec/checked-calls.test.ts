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

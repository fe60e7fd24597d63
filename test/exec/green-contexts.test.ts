import { expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { gpus } from "../../src/cuda/state/gpu.ts";
import { FakeProgram } from "./fake-program.ts";

// CUDA Driver API, Green Contexts; an H100 has 132 multiprocessors, and parts of at least 8, in multiples of 8.

const resourceBytes = 144;
const [multiprocessors, nonBlocking, defaultStream] = [1, 1, 1];

/** A driver program on a card, with room for a device's resource, eight parts and the rest. */
async function prepared(gpu = "sm_90") {
  const program = new FakeProgram({ gpu: gpus[gpu]!, devices: 2 });
  expect(await program.call("cuInit", 0)).toBe(0);
  const [whole, parts, rest] = [program.room(resourceBytes), program.room(8 * resourceBytes), program.room(144)];
  expect(await program.call("cuDeviceGetDevResource", 0, whole, multiprocessors)).toBe(0);
  const word = (at: bigint, i: number): number => program.i32(at + BigInt(96 + 4 * i));
  /** Divides a resource: how many parts there are, the size of the first, the type and the size of the rest. */
  const split = async (groups: number, least: number, flags = 0, from = whole): Promise<number[]> => {
    const count = program.room(new Uint8Array(Uint32Array.of(groups).buffer));
    expect(await program.call("cuDevSmResourceSplitByCount", parts, count, from, rest, flags, least)).toBe(0);
    return [program.i32(count), word(parts, 0), program.i32(rest), word(rest, 0)];
  };
  const made = async (name: string, ...args: (bigint | number)[]): Promise<bigint> => {
    const target = program.room(8);
    expect(await program.call(name, target, ...args)).toBe(0);
    return program.u64(target);
  };
  return { program, whole, parts, rest, word, split, made };
}

test.each([
  ["sm_90", 132, 8, 8],
  ["sm_80", 108, 4, 2],
  ["sm_75", 40, 2, 2],
])("a device has all of its multiprocessors: %s", async (gpu, ...words) => {
  const { whole, word } = await prepared(gpu);
  expect([0, 1, 2].map((i) => word(whole, i))).toEqual(words);
});

test("they are divided into equal parts, and a rest", async () => {
  const { split, program, whole } = await prepared();
  expect(await split(2, 10)).toEqual([2, 16, 1, 100]);
  // No more than there are; at least as many as a part has to have.
  expect(await split(8, 40)).toEqual([3, 40, 1, 12]);
  expect(await split(1, 0)).toEqual([1, 8, 1, 124]);
  expect(await split(1, 132, 1)).toEqual([1, 132, 0, 0]);
  expect(await split(4, 3, 1)).toEqual([4, 4, 1, 116]);
  const count = program.room(8);
  expect(await program.call("cuDevSmResourceSplitByCount", 0, count, whole, 0, 0, 8)).toBe(0);
  expect(program.i32(count)).toBe(16);
});

test("what is not to be divided, or put together, is refused", async () => {
  const { program, whole, parts, rest, split } = await prepared();
  await split(2, 16);
  const count = program.room(Uint8Array.of(1, 0, 0, 0));
  const other = program.room(resourceBytes);
  const divide = (from: bigint, flags: number, least: number): Promise<number> =>
    program.call("cuDevSmResourceSplitByCount", other, count, from, 0, flags, least);
  expect(await divide(parts, 0, 8)).toBe(errors.invalidResourceConfiguration);
  expect(await divide(whole, 0, 133)).toBe(errors.invalidValue);
  expect(await divide(whole, 4, 8)).toBe(errors.invalidValue);
  expect(await divide(program.room(resourceBytes), 0, 8)).toBe(errors.invalidResourceType);
  const desc = program.room(8);
  // Two parts of one division may be put together; the same part twice may not.
  expect(await program.call("cuDevResourceGenerateDesc", desc, parts, 2)).toBe(0);
  const same = program.bytes(parts, resourceBytes);
  const twice = program.room(Uint8Array.of(...same, ...same));
  expect(await program.call("cuDevResourceGenerateDesc", desc, twice, 2)).toBe(errors.invalidResourceConfiguration);
  expect(await program.call("cuDeviceGetDevResource", 0, rest, 2)).toBe(errors.invalidResourceType);
});

test("a green context has its part, is current like any other, and has streams of its own", async () => {
  const { program, parts, rest, word, split, made } = await prepared();
  await split(2, 16);
  const desc = await made("cuDevResourceGenerateDesc", parts, 1);
  expect(await program.call("cuGreenCtxCreate", program.room(8), desc, 0, 0)).toBe(errors.invalidValue);
  expect(await program.call("cuGreenCtxCreate", program.room(8), desc, 1, defaultStream)).toBe(errors.invalidValue);
  const green = await made("cuGreenCtxCreate", desc, 0, defaultStream);
  const room = program.room(resourceBytes);
  expect(await program.call("cuGreenCtxGetDevResource", green, room, multiprocessors)).toBe(0);
  expect(word(room, 0)).toBe(16);
  const context = await made("cuCtxFromGreenCtx", green);
  expect(await program.call("cuCtxSetCurrent", context)).toBe(0);
  expect(await program.call("cuCtxGetDevResource", 0, room, multiprocessors)).toBe(0);
  expect(word(room, 0)).toBe(16);
  // What a green context has may be divided again.
  expect(await split(4, 8, 0, room)).toEqual([2, 8, 0, 0]);
  expect(program.i32(rest)).toBe(0);
  expect(await program.call("cuGreenCtxStreamCreate", room, green, 0, 0)).toBe(errors.invalidValue);
  const stream = await made("cuGreenCtxStreamCreate", green, nonBlocking, -1);
  const of = program.room(8);
  expect(await program.call("cuStreamGetGreenCtx", stream, of)).toBe(0);
  expect(program.u64(of)).toBe(green);
  const primary = await made("cuDevicePrimaryCtxRetain", 0);
  const regular = program.room(8);
  expect(await program.call("cuStreamGetCtx_v2", stream, regular, of)).toBe(0);
  expect([program.u64(regular), program.u64(of)]).toEqual([primary, green]);
  expect(await program.call("cuCtxSetCurrent", primary)).toBe(0);
  const usual = await made("cuStreamCreate", 0);
  expect(await program.call("cuStreamGetGreenCtx", usual, of)).toBe(0);
  expect(program.u64(of)).toBe(0n);
  expect(await program.call("cuGreenCtxDestroy", green)).toBe(0);
  expect(await program.call("cuGreenCtxDestroy", green)).toBe(errors.deviceUninitialized);
});

test("a cooperative launch has to fit onto the part of its stream's context", async () => {
  const { program, parts, split, made } = await prepared();
  await split(1, 8);
  const green = await made("cuGreenCtxCreate", await made("cuDevResourceGenerateDesc", parts, 1), 0, defaultStream);
  const stream = await made("cuGreenCtxStreamCreate", green, nonBlocking, 0);
  const ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  expect(await program.call("cuCtxSetCurrent", await made("cuCtxFromGreenCtx", green))).toBe(0);
  const kernel = await made(
    "cuModuleGetFunction",
    await made("cuModuleLoadData", program.text(ptx)),
    program.text("nothing"),
  );
  const launch = (blocks: number): Promise<number> =>
    program.call("cuLaunchCooperativeKernel", kernel, blocks, 1, 1, 1024, 1, 1, 0, stream, 0);
  // Two blocks of 1024 threads fit onto one multiprocessor.
  expect(await launch(16)).toBe(0);
  expect(await launch(17)).toBe(errors.cooperativeLaunchTooLarge);
});

test("an event that is recorded of a context marks the end of all its streams", async () => {
  const { program, parts, split, made } = await prepared();
  await split(1, 8);
  const green = await made("cuGreenCtxCreate", await made("cuDevResourceGenerateDesc", parts, 1), 0, defaultStream);
  expect(await program.call("cuCtxSetCurrent", await made("cuCtxFromGreenCtx", green))).toBe(0);
  const [a, b] = [
    await made("cuGreenCtxStreamCreate", green, nonBlocking, 0),
    await made("cuGreenCtxStreamCreate", green, nonBlocking, 0),
  ];
  const memory = await made("cuMemAlloc_v2", 8);
  expect(await program.call("cuMemsetD32_v2", memory, 0, 2)).toBe(0);
  expect(await program.call("cuStreamWaitValue32_v2", a, memory, 1, 1)).toBe(0);
  const event = await made("cuEventCreate", 0);
  expect(await program.call("cuGreenCtxRecordEvent", green, event)).toBe(0);
  expect(await program.call("cuEventQuery", event)).toBe(errors.notReady);
  expect(await program.call("cuStreamWriteValue32_v2", b, memory, 1, 0)).toBe(0);
  expect(await program.call("cuEventSynchronize", event)).toBe(0);
  expect(await program.call("cuGreenCtxWaitEvent", green, event)).toBe(0);
  expect(await program.call("cuStreamSynchronize", a)).toBe(0);
});

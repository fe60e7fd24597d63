import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { counterModule } from "./counter-module.ts";
import { FakeProgram } from "./fake-program.ts";

async function withContext() {
  const program = new FakeProgram();
  const context = program.room(8);
  await program.call("cuInit", 0);
  expect(await program.call("cuCtxCreate_v4", context, 0, 0, 0)).toBe(0);
  return { program, context: program.u64(context) };
}

async function withModule() {
  const { program } = await withContext();
  const module = program.room(8);
  expect(await program.call("cuModuleLoadData", module, program.text(counterModule))).toBe(0);
  return { program, module: program.u64(module) };
}

// Driver API, Initialization and Context Management: what calls return without them.
test("calls before cuInit, and without a context", async () => {
  const program = new FakeProgram();
  const out = program.room(8);
  expect(await program.call("cuDeviceGetCount", out)).toBe(errors.initializationError);
  expect(await program.call("cuInit", 1)).toBe(errors.invalidValue);
  expect(await program.call("cuInit", 0)).toBe(0);
  expect(await program.call("cuDeviceGetCount", out)).toBe(0);
  expect(await program.call("cuMemAlloc_v2", out, 4)).toBe(errors.deviceUninitialized);
});

test("contexts are a stack of each thread", async () => {
  const { program, context } = await withContext();
  const out = program.room(8);
  const current = async (thread: number): Promise<bigint> => {
    await program.callAs(thread, "cuCtxGetCurrent", out);
    return program.u64(out);
  };
  expect(await current(1)).toBe(context);
  expect(await current(2)).toBe(0n);
  expect(await program.callAs(2, "cuCtxPushCurrent_v2", context)).toBe(0);
  expect(await current(2)).toBe(context);
  expect(await program.callAs(2, "cuCtxPopCurrent_v2", out)).toBe(0);
  expect(await current(2)).toBe(0n);
});

describe("modules", () => {
  test("a kernel with packed parameters changes a variable", async () => {
    const { program, module } = await withModule();
    const [kernel, address, value] = [program.room(8), program.room(8), program.room(4)];
    expect(await program.call("cuModuleGetFunction", kernel, module, program.text("add"))).toBe(0);
    const packed = program.room(Uint8Array.of(7, 0, 0, 0));
    const bytes = program.room(Uint8Array.of(4, 0, 0, 0, 0, 0, 0, 0));
    const extra = program.room(new Uint8Array(BigUint64Array.of(1n, packed, 2n, bytes, 0n).buffer));
    expect(await program.call("cuLaunchKernel", program.u64(kernel), 2, 1, 1, 3, 1, 1, 0, 0, 0, extra)).toBe(0);
    expect(await program.call("cuModuleGetGlobal_v2", address, 0, module, program.text("total"))).toBe(0);
    expect(await program.call("cuMemcpyDtoH_v2", value, program.u64(address), 4)).toBe(0);
    expect(program.i32(value)).toBe(5 + 2 * 3 * 7);
  });

  test("what is not there, and what is no module", async () => {
    const { program, module } = await withModule();
    const out = program.room(8);
    expect(await program.call("cuModuleGetFunction", out, module, program.text("none"))).toBe(errors.symbolNotFound);
    expect(await program.call("cuModuleLoadData", out, program.text("none"))).toBe(errors.invalidPtx);
    expect(await program.call("cuModuleUnload", module)).toBe(0);
    expect(await program.call("cuModuleUnload", module)).toBe(errors.invalidResourceHandle);
  });

  test("a block that is too large is an invalid value, not an invalid configuration", async () => {
    const { program, module } = await withModule();
    const kernel = program.room(8);
    await program.call("cuModuleGetFunction", kernel, module, program.text("add"));
    const args = program.room(new Uint8Array(BigUint64Array.of(program.room(4)).buffer));
    expect(await program.call("cuLaunchKernel", program.u64(kernel), 1, 1, 1, 2000, 1, 1, 0, 0, args, 0)).toBe(
      errors.invalidValue,
    );
  });
});

// Driver API, cuMemsetD32: elements, not bytes.
test("elements of 4 bytes are set", async () => {
  const { program } = await withContext();
  const [pointer, to] = [program.room(8), program.room(16)];
  expect(await program.call("cuMemAlloc_v2", pointer, 16)).toBe(0);
  const at = program.u64(pointer);
  expect(await program.call("cuMemsetD32_v2", at, 0x0102_0304, 3)).toBe(0);
  expect(await program.call("cuMemcpyDtoH_v2", to, at, 16)).toBe(0);
  expect([...program.bytes(to, 16)]).toEqual([4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 0, 0]);
});

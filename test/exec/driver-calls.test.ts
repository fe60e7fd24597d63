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

// Driver API, Context Management [DEPRECATED]
test("a context lives until its last use is detached", async () => {
  const { program, context } = await withContext();
  const out = program.room(8);
  expect(await program.call("cuCtxAttach", out, 1)).toBe(errors.invalidValue);
  expect(await program.call("cuCtxAttach", out, 0)).toBe(0);
  expect(program.u64(out)).toBe(context);
  expect(await program.call("cuCtxDetach", context)).toBe(0);
  expect(await program.call("cuCtxGetCurrent", out)).toBe(0);
  expect(program.u64(out)).toBe(context);
  expect(await program.call("cuCtxDetach", context)).toBe(0);
  expect(await program.call("cuCtxGetCurrent", out)).toBe(0);
  expect(program.u64(out)).toBe(0n);
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

  // Driver API, Execution Control [DEPRECATED]: sizes and parameters are the function's until they are set again.
  test("a kernel is launched with what was set in it", async () => {
    const { program, module } = await withModule();
    const [out, value] = [program.room(8), program.room(4)];
    await program.call("cuModuleGetFunction", out, module, program.text("add"));
    const kernel = program.u64(out);
    expect(await program.call("cuFuncSetBlockShape", kernel, 0, 1, 1)).toBe(errors.invalidValue);
    expect(await program.call("cuFuncSetBlockShape", kernel, 4, 2, 1)).toBe(0);
    expect(await program.call("cuFuncSetSharedSize", kernel, 16)).toBe(0);
    expect(await program.call("cuParamSetSize", kernel, 4)).toBe(0);
    expect(await program.call("cuParamSeti", kernel, 1, 7)).toBe(errors.invalidValue);
    expect(await program.call("cuParamSeti", kernel, 0, 7)).toBe(0);
    expect(await program.call("cuLaunch", kernel)).toBe(0);
    expect(await program.call("cuLaunchGrid", kernel, 3, 2)).toBe(0);
    expect(await program.call("cuParamSetv", kernel, 0, program.room(Uint8Array.of(1, 0, 0, 0)), 4)).toBe(0);
    expect(await program.call("cuLaunchGridAsync", kernel, 1, 1, 0)).toBe(0);
    await program.call("cuModuleGetGlobal_v2", out, 0, module, program.text("total"));
    expect(await program.call("cuMemcpyDtoH_v2", value, program.u64(out), 4)).toBe(0);
    expect(program.i32(value)).toBe(5 + 8 * 7 + 6 * 8 * 7 + 8);
  });

  // As tests for GPUs expect (lupine, hip-tests): what does not begin with a version, after comments, is no PTX.
  test.each([
    ["hello world", errors.invalidKernelImage],
    [".target sm_75\n.version 7.0\n", errors.invalidKernelImage],
    ["", errors.invalidKernelImage],
    [`/* one\n * two */ // three\n${counterModule}`, 0],
    [".version 7.0\n.target sm_75\nnonsense", errors.invalidPtx],
  ])("%j as an image", async (text, wanted) => {
    const { program } = await withContext();
    expect(await program.call("cuModuleLoadData", program.room(8), program.text(text))).toBe(wanted);
    program.files.set("file.ptx", text);
    expect(await program.call("cuModuleLoad", program.room(8), program.text("file.ptx"))).toBe(wanted);
    const link = program.room(8);
    expect(await program.call("cuLinkCreate_v2", 0, 0, 0, link)).toBe(0);
    const [state, ptx] = [program.u64(link), 1];
    const given = [program.text(text), text.length + 1, 0, 0, 0, 0];
    expect(await program.call("cuLinkAddData_v2", state, ptx, ...given)).toBe(wanted);
    expect(await program.call("cuLinkAddFile_v2", state, ptx, program.text("file.ptx"), 0, 0, 0)).toBe(wanted);
  });

  // Driver API, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: overwritten with how much of the buffer is filled.
  test("where there is nothing to say, the logs of the program are empty", async () => {
    const { program } = await withContext();
    const [info, wrong] = [program.room(Uint8Array.of(88, 0)), program.room(Uint8Array.of(88, 0))];
    const ids = program.room(new Uint8Array(Uint32Array.of(3, 4, 5, 6).buffer));
    const values = program.room(new Uint8Array(BigUint64Array.of(info, 2n, wrong, 2n).buffer));
    const module = program.text(counterModule);
    expect(await program.call("cuModuleLoadDataEx", program.room(8), module, 4, ids, values)).toBe(0);
    expect([program.u64(values + 8n), program.u64(values + 24n)]).toEqual([0n, 0n]);
    expect([program.bytes(info, 1)[0], program.bytes(wrong, 1)[0]]).toEqual([0, 0]);
  });

  test("a module has no functions whose addresses the host shares", async () => {
    const { program, module } = await withModule();
    const name = program.text("add");
    const status = await program.call("cuLibraryGetUnifiedFunction", program.room(8), module, name);
    expect(status).toBe(errors.symbolNotFound);
  });

  // There are none of number 15; a program of a later version of CUDA may know more.
  test.each([15, 17])("an attribute of a launch that is not known: %i", async (id) => {
    const { program, module } = await withModule();
    const kernel = program.room(8);
    expect(await program.call("cuModuleGetFunction", kernel, module, program.text("add"))).toBe(0);
    const attribute = program.room(new Uint8Array(Uint32Array.of(id, ...Array(17).fill(0)).buffer));
    const config = new DataView(new ArrayBuffer(56));
    for (let at = 0; at < 24; at += 4) config.setUint32(at, 1, true);
    config.setBigUint64(40, attribute, true);
    config.setUint32(48, 1, true);
    const list = program.room(new Uint8Array(BigUint64Array.of(program.room(4)).buffer));
    const given = program.room(new Uint8Array(config.buffer));
    expect(await program.call("cuLaunchKernelEx", given, program.u64(kernel), list, 0)).toBe(errors.invalidValue);
  });

  test("what is not there, and what is no module", async () => {
    const { program, module } = await withModule();
    const out = program.room(8);
    expect(await program.call("cuModuleGetFunction", out, module, program.text("none"))).toBe(errors.symbolNotFound);
    expect(await program.call("cuModuleLoadData", out, program.text("none"))).toBe(errors.invalidKernelImage);
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

// CUDA_MEMCPY3D and CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h.
describe("nodes whose parameters the driver lays out in its own way", () => {
  const copyBytes = 200;

  async function withCopy() {
    const { program } = await withContext();
    const [graph, node, device] = [program.room(8), program.room(8), await program.malloc(16)];
    expect(await program.call("cuGraphCreate", graph, 0)).toBe(0);
    const host = program.room(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    const fields = new DataView(new ArrayBuffer(copyBytes));
    const word = (at: number, value: bigint | number): void => fields.setBigUint64(at, BigInt(value), true);
    fields.setUint32(32, 1, true);
    word(40, host);
    fields.setUint32(120, 2, true);
    word(136, device);
    [176, 184, 192].forEach((at, i) => {
      word(at, [8, 1, 1][i]!);
    });
    const params = program.room(new Uint8Array(fields.buffer));
    const context = program.room(8);
    await program.call("cuCtxGetCurrent", context);
    const made = [node, program.u64(graph), 0, 0, params, program.u64(context)];
    expect(await program.call("cuGraphAddMemcpyNode", ...made)).toBe(0);
    return { program, graph: program.u64(graph), node: program.u64(node), device, host };
  }

  test("copies", async () => {
    const { program, graph, node, device, host } = await withCopy();
    const [exec, back, told] = [program.room(8), program.room(8), program.room(copyBytes)];
    expect(await program.call("cuGraphInstantiateWithFlags", exec, graph, 0)).toBe(0);
    expect(await program.call("cuGraphLaunch", program.u64(exec), 0)).toBe(0);
    expect(await program.call("cuMemcpyDtoH_v2", back, device, 8)).toBe(0);
    expect([...program.bytes(back, 8)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await program.call("cuGraphMemcpyNodeGetParams", node, told)).toBe(0);
    // Addresses are of one range, so both ends are told as unified.
    expect([program.i32(told + 32n), program.u64(told + 48n)]).toEqual([4, host]);
    expect([program.i32(told + 120n), program.u64(told + 136n)]).toEqual([4, device]);
    expect([176n, 184n, 192n].map((at) => program.u64(told + at))).toEqual([8n, 1n, 1n]);
  });

  test("kernels, by a CUkernel where there is no function", async () => {
    const { program, module } = await withModule();
    const [kernel, graph, node, exec, total] = [0, 0, 0, 0, 0].map(() => program.room(8)) as [bigint, ...bigint[]];
    await program.call("cuModuleGetFunction", kernel, module, program.text("add"));
    await program.call("cuGraphCreate", graph!, 0);
    const values = program.room(new Uint8Array(BigUint64Array.of(program.room(Uint8Array.of(7, 0, 0, 0))).buffer));
    const fields = new DataView(new ArrayBuffer(72));
    [2, 1, 1, 3, 1, 1, 0].forEach((size, i) => {
      fields.setUint32(8 + 4 * i, size, true);
    });
    fields.setBigUint64(40, values, true);
    fields.setBigUint64(56, program.u64(kernel), true);
    const params = program.room(new Uint8Array(fields.buffer));
    expect(await program.call("cuGraphAddKernelNode_v2", node!, program.u64(graph!), 0, 0, params)).toBe(0);
    expect(await program.call("cuGraphInstantiateWithFlags", exec!, program.u64(graph!), 0)).toBe(0);
    expect(await program.call("cuGraphLaunch", program.u64(exec!), 0)).toBe(0);
    const [address, value] = [program.room(8), program.room(4)];
    expect(await program.call("cuModuleGetGlobal_v2", address, total!, module, program.text("total"))).toBe(0);
    expect(await program.call("cuMemcpyDtoH_v2", value, program.u64(address), 4)).toBe(0);
    expect(program.i32(value)).toBe(5 + 2 * 3 * 7);
  });
});

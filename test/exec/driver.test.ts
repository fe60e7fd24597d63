import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { counterModule } from "./counter-module.ts";
import { FakeProgram } from "./fake-program.ts";

// What these calls do and return: CUDA Driver API, Initialization, Context and Module Management, Memory Management.

const pointers = (program: FakeProgram, ...words: bigint[]): bigint =>
  program.room(new Uint8Array(BigUint64Array.from(words).buffer));

/** A program whose thread has a context, and the module of a counter. */
async function loaded() {
  const program = new FakeProgram();
  const target = program.room(8);
  const get = async (name: string, ...rest: (bigint | number)[]): Promise<bigint> => {
    expect(await program.call(name, target, ...rest)).toBe(0);
    return program.u64(target);
  };
  await program.call("cuInit", 0);
  const context = await get("cuCtxCreate_v4", 0, 0, 0);
  const module = await get("cuModuleLoadData", program.text(counterModule));
  const add = await get("cuModuleGetFunction", module, program.text("add"));
  /** The value of the variable of a module. */
  const total = async (of = module): Promise<number> => {
    const [address, size, value] = [program.room(8), program.room(8), program.room(4)];
    expect(await program.call("cuModuleGetGlobal_v2", address, size, of, program.text("total"))).toBe(0);
    expect(program.u64(size)).toBe(4n);
    expect(await program.call("cuMemcpyDtoH_v2", value, program.u64(address), 4)).toBe(0);
    return program.i32(value);
  };
  return { program, get, context, module, add, total };
}

describe("contexts", () => {
  test("nothing before cuInit, nothing that needs a context without one", async () => {
    const program = new FakeProgram();
    const target = program.room(8);
    expect(await program.call("cuDeviceGetCount", target)).toBe(errors.initializationError);
    expect(await program.call("cuInit", 1)).toBe(errors.invalidValue);
    expect(await program.call("cuInit", 0)).toBe(0);
    expect(await program.call("cuMemAlloc_v2", target, 64)).toBe(errors.deviceUninitialized);
    expect(await program.call("cuCtxGetCurrent", target)).toBe(0);
    expect(program.u64(target)).toBe(0n);
  });

  // numba looks for names with `_v2` first, and calls what it finds with the arguments of the form without.
  test("the device of a context, with or without a context as an argument", async () => {
    const { program, context } = await loaded();
    const target = program.room(4);
    for (const given of [context, 0n, 0x1234n]) {
      expect(await program.call("cuCtxGetDevice_v2", target, given)).toBe(0);
      expect(program.i32(target)).toBe(0);
    }
    const bare = new FakeProgram();
    await bare.call("cuInit", 0);
    expect(await bare.call("cuCtxGetDevice_v2", bare.room(4), 0x1234n)).toBe(errors.deviceUninitialized);
  });

  test("they are a stack", async () => {
    const { program, get, context } = await loaded();
    const primary = await get("cuDevicePrimaryCtxRetain", 0);
    expect(await program.call("cuCtxPushCurrent_v2", primary)).toBe(0);
    expect(await get("cuCtxGetCurrent")).toBe(primary);
    expect(await get("cuCtxPopCurrent_v2")).toBe(primary);
    expect(await get("cuCtxGetCurrent")).toBe(context);
    expect(await program.call("cuCtxDestroy_v2", context)).toBe(0);
    expect(await program.call("cuCtxPopCurrent_v2", 0)).toBe(errors.deviceUninitialized);
  });

  test("the runtime makes the primary one current", async () => {
    const program = new FakeProgram();
    await program.malloc(16);
    const [current, primary] = [program.room(8), program.room(8)];
    expect(await program.call("cuCtxGetCurrent", current)).toBe(0);
    expect(await program.call("cuDevicePrimaryCtxRetain", primary, 0)).toBe(0);
    expect(program.u64(current)).toBe(program.u64(primary));
    // Another thread has not used it.
    expect(await program.callAs(2, "cuCtxGetCurrent", current)).toBe(0);
    expect(program.u64(current)).toBe(0n);
  });
});

describe("modules and launches", () => {
  test("arguments as a list and as a buffer", async () => {
    const { program, add, total } = await loaded();
    const by = program.room(Uint8Array.of(7, 0, 0, 0));
    const size = pointers(program, 4n);
    const extra = pointers(program, 1n, by, 2n, size, 0n, 0n);
    const sizes = [2, 1, 1, 3, 1, 1, 0, 0] as const;
    expect(await program.call("cuLaunchKernel", add, ...sizes, pointers(program, by), 0)).toBe(0);
    expect(await total()).toBe(5 + 6 * 7);
    expect(await program.call("cuLaunchKernel", add, ...sizes, 0, extra)).toBe(0);
    expect(await total()).toBe(5 + 12 * 7);
    // The driver's error, where the runtime says that the configuration is invalid.
    expect(await program.call("cuLaunchKernel", add, 1, 1, 1, 2000, 1, 1, 0, 0, extra, 0)).toBe(errors.invalidValue);
  });

  test("the same text again has variables of its own", async () => {
    const { program, get, total, add } = await loaded();
    const by = pointers(program, program.room(Uint8Array.of(1, 0, 0, 0)));
    await program.call("cuLaunchKernel", add, 1, 1, 1, 1, 1, 1, 0, 0, by, 0);
    const second = await get("cuModuleLoadData", program.text(counterModule));
    expect([await total(), await total(second)]).toEqual([6, 5]);
    expect(await program.call("cuModuleUnload", second)).toBe(0);
    expect(await program.call("cuModuleUnload", second)).toBe(errors.invalidResourceHandle);
  });

  // matrixMulDynlinkJIT of the CUDA samples brings such text; ptxas 13 takes modules that do not say for the host's size.
  test("text from before .address_size has addresses of 64 bits", async () => {
    const { program, get } = await loaded();
    const old = `.version 1.4
      .target sm_10
      .entry mark (.param .u64 to) {
        .reg .u64 %to;
        .reg .u32 %a, %b;
        ld.param.u64 %to, [to];
        cvt.s32.u16 %a, %tid.x;
        mul24.lo.s32 %b, %a, 3;
        st.global.u32 [%to+4], %b;
        exit;
      }`;
    const mark = await get(
      "cuModuleGetFunction",
      await get("cuModuleLoadData", program.text(old)),
      program.text("mark"),
    );
    const to = await get("cuMemAlloc_v2", 8);
    const args = pointers(program, pointers(program, to));
    expect(await program.call("cuMemsetD32_v2", to, 7, 2)).toBe(0);
    expect(await program.call("cuLaunchKernel", mark, 1, 1, 1, 1, 1, 1, 0, 0, args, 0)).toBe(0);
    expect(await program.call("cuCtxSynchronize")).toBe(0);
    const found = program.room(8);
    expect(await program.call("cuMemcpyDtoH_v2", found, to, 8)).toBe(0);
    expect([program.i32(found), program.i32(found + 4n)]).toEqual([7, 0]);
  });

  test("what is wrong in a text is written to the log of the program", async () => {
    const { program } = await loaded();
    const room = program.room(200);
    const [ids, values] = [program.room(Uint8Array.of(5, 0, 0, 0, 6, 0, 0, 0)), pointers(program, room, 200n)];
    const broken = program.text(`${counterModule}.visible .entry e() { no.such.thing %r1; }`);
    expect(await program.call("cuModuleLoadDataEx", program.room(8), broken, 2, ids, values)).toBe(errors.invalidPtx);
    const text = new TextDecoder().decode(program.bytes(room, program.i32(values + 8n)));
    expect(text).toContain("no.such.thing");
  });

  // CUDA Driver API, CUDA_ERROR_UNSUPPORTED_PTX_VERSION: PTX of a compiler that is newer than the driver. That of 13.0
  // has PTX 9.0 (PTX ISA, release notes).
  test("PTX that is newer than the driver is refused, wherever it is handed over", async () => {
    const { program } = await loaded();
    const target = program.room(8);
    const [room, newer] = [program.room(200), counterModule.replace(".version 7.0", ".version 9.1")];
    const [ids, values] = [program.room(Uint8Array.of(5, 0, 0, 0, 6, 0, 0, 0)), pointers(program, room, 200n)];
    const text = program.text(newer);
    expect(await program.call("cuModuleLoadData", target, text)).toBe(222);
    expect(await program.call("cuModuleLoadDataEx", target, text, 2, ids, values)).toBe(222);
    expect(new TextDecoder().decode(program.bytes(room, program.i32(values + 8n)))).toContain("9.1");
    expect(await program.call("cuLibraryLoadData", target, text, 0, 0, 0, 0, 0, 0)).toBe(222);
    expect(await program.call("cuLinkCreate_v2", 0, 0, 0, target)).toBe(0);
    const link = program.u64(target);
    const add = (ptx: string): Promise<number> =>
      program.call("cuLinkAddData_v2", link, 1, program.text(ptx), ptx.length + 1, 0, 0, 0, 0);
    expect(await add(newer)).toBe(222);
    expect(await add(counterModule.replace(".version 7.0", ".version 9.0"))).toBe(0);
  });

  // The H100 has 2,048 threads and 32 blocks on a multiprocessor; a kernel with few registers is limited by nothing else.
  test("small kernels fill a multiprocessor, whatever their bounds are", async () => {
    const { program, get } = await loaded();
    const bounded = counterModule.replace("(.param .u32 by)", "(.param .u32 by) .maxntid 128, 1, 1");
    const kernel = await get(
      "cuModuleGetFunction",
      await get("cuModuleLoadData", program.text(bounded)),
      program.text("add"),
    );
    const blocks = program.room(4);
    for (const [threads, wanted] of [
      [128, 16],
      [64, 32],
      [256, 0],
    ] as const) {
      expect(await program.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks, kernel, threads, 0)).toBe(0);
      expect(program.i32(blocks)).toBe(wanted);
    }
  });

  // What ptxas says of them is that the target is higher than that of the device.
  test("PTX for a later architecture than that of the device is refused", async () => {
    const { program } = await loaded();
    const later = counterModule.replace(".version 7.0", ".version 9.0").replace("sm_75", "sm_121");
    const text = program.text(later);
    expect(await program.call("cuModuleLoadData", program.room(8), text)).toBe(errors.invalidPtx);
  });

  test("a name that is not there", async () => {
    const { program, module } = await loaded();
    const [target, none] = [program.room(8), program.text("none")];
    expect(await program.call("cuModuleGetFunction", target, module, none)).toBe(errors.symbolNotFound);
    expect(await program.call("cuModuleGetGlobal_v2", target, target, module, none)).toBe(errors.symbolNotFound);
  });

  test("a library's kernels are its functions", async () => {
    const { program, get } = await loaded();
    const library = await get("cuLibraryLoadData", program.text(counterModule), 0, 0, 0, 0, 0, 0);
    const kernel = await get("cuLibraryGetKernel", library, program.text("add"));
    expect(await get("cuKernelGetFunction", kernel)).toBe(kernel);
    const count = program.room(4);
    expect(await program.call("cuLibraryGetKernelCount", count, library)).toBe(0);
    expect(program.i32(count)).toBe(1);
  });
});

describe("memory", () => {
  test("fills of 8, 16 and 32 bits, in lines and rows", async () => {
    const { program, get } = await loaded();
    const device = await get("cuMemAlloc_v2", 16);
    expect(await program.call("cuMemAlloc_v2", program.room(8), 0)).toBe(errors.invalidValue);
    expect(await program.call("cuMemsetD8_v2", device, 0x101, 16)).toBe(0);
    expect(await program.call("cuMemsetD16_v2", device + 2n, 0x0302, 1)).toBe(0);
    expect(await program.call("cuMemsetD16_v2", device + 1n, 0, 1)).toBe(errors.invalidValue);
    expect(await program.call("cuMemsetD2D32_v2", device + 4n, 8, 0x07060504, 1, 2)).toBe(0);
    const host = program.room(16);
    expect(await program.call("cuMemcpyDtoH_v2", host, device, 16)).toBe(0);
    expect([...program.bytes(host, 16)]).toEqual([1, 1, 2, 3, 4, 5, 6, 7, 1, 1, 1, 1, 4, 5, 6, 7]);
  });

  test("an address in the middle of an allocation", async () => {
    const { program, get } = await loaded();
    const device = await get("cuMemAlloc_v2", 64);
    const [base, size] = [program.room(8), program.room(8)];
    expect(await program.call("cuMemGetAddressRange_v2", base, size, device + 5n)).toBe(0);
    expect([program.u64(base), program.u64(size)]).toEqual([device, 64n]);
    expect(await program.call("cuMemGetAddressRange_v2", base, size, 5)).toBe(errors.symbolNotFound);
  });
});

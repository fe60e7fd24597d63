import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// What these calls do and return: CUDA Driver API, Memory Management, Virtual Memory Management, Stream Memory
// Operations, Texture Object Management.

const ptx = `.version 7.0
.target sm_75
.address_size 64
.visible .entry fetch(.param .u64 texture, .param .u64 out)
{
    .reg .b64 %t, %o;
    .reg .b32 %a, %b, %c, %d, %x;
    ld.param.u64 %t, [texture];
    ld.param.u64 %o, [out];
    mov.u32 %x, 2;
    tex.1d.v4.u32.s32 {%a, %b, %c, %d}, [%t, {%x}];
    st.global.u32 [%o], %a;
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

const structure = (bytes: number, fields: Readonly<Record<number, bigint | number>>): Uint8Array => {
  const view = new DataView(new ArrayBuffer(bytes));
  for (const [at, value] of Object.entries(fields)) {
    if (typeof value === "bigint") view.setBigUint64(Number(at), value, true);
    else view.setUint32(Number(at), value, true);
  }
  return new Uint8Array(view.buffer);
};

const [formatU8, formatU32] = [1, 3];
const bytesOf = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);

describe("arrays", () => {
  test("copies of bytes and of rows", async () => {
    const { program, get } = await prepared();
    const form = program.room(structure(24, { 0: 4n, 8: 2n, 16: formatU32, 20: 1 }));
    const array = await get("cuArrayCreate_v2", form);
    const known = program.room(24);
    expect(await program.call("cuArrayGetDescriptor_v2", known, array)).toBe(0);
    expect(program.bytes(known, 24)).toEqual(program.bytes(form, 24));
    expect(await program.call("cuMemcpyHtoA_v2", array, 0, program.room(bytesOf(1, 2, 3, 4)), 16)).toBe(0);
    // The middle of the first row to the second one: CUDA_MEMCPY2D, array to array.
    const kind = 3;
    const rows = { 0: 4n, 8: 0n, 16: kind, 40: array, 56: 0n, 64: 1n, 72: kind, 96: array, 112: 8n, 120: 1n };
    expect(await program.call("cuMemcpy2D_v2", program.room(structure(128, rows)))).toBe(0);
    const back = program.room(32);
    const out = { 0: 0n, 8: 0n, 16: kind, 40: array, 72: 1, 80: back, 104: 16n, 112: 16n, 120: 2n };
    expect(await program.call("cuMemcpy2D_v2", program.room(structure(128, out)))).toBe(0);
    expect([...new Uint32Array(program.bytes(back, 32).buffer)]).toEqual([1, 2, 3, 4, 2, 3, 0, 0]);
  });

  test("how long a row of linear memory may be", async () => {
    const { program, get } = await prepared();
    const [float, channels] = [32, 4];
    expect(await get("cuDeviceGetTexture1DLinearMaxWidth", float, channels, 0)).toBe(1n << 28n);
    const target = program.room(8);
    expect(await program.call("cuDeviceGetTexture1DLinearMaxWidth", target, float, 3, 0)).toBe(errors.invalidValue);
  });

  test("a texture object, and a view of it with other texels", async () => {
    const { program, get } = await prepared();
    const module = await get("cuModuleLoadData", program.text(ptx));
    const fetch = await get("cuModuleGetFunction", module, program.text("fetch"));
    const form = program.room(structure(24, { 0: 4n, 8: 0n, 16: formatU8, 20: 4 }));
    const array = await get("cuArrayCreate_v2", form);
    await program.call("cuMemcpyHtoA_v2", array, 0, program.room(bytesOf(1, 2, 0x0403_0205, 4)), 16);
    const out = await get("cuMemAlloc_v2", 4);
    const read = async (texture: bigint): Promise<number> => {
      const args = [texture, out].map((value) => program.room(new Uint8Array(BigUint64Array.of(value).buffer)));
      const list = program.room(new Uint8Array(BigUint64Array.from(args).buffer));
      expect(await program.call("cuLaunchKernel", fetch, 1, 1, 1, 1, 1, 1, 0, 0n, list, 0)).toBe(0);
      const value = program.room(4);
      await program.call("cuMemcpyDtoH_v2", value, out, 4);
      return program.i32(value);
    };
    const resource = program.room(structure(144, { 0: 0, 8: array }));
    const asInteger = program.room(structure(104, { 16: 1 }));
    // The first of four channels; then, through cudaResViewFormatUnsignedInt1, all of them as one.
    expect(await read(await get("cuTexObjectCreate", resource, asInteger, 0))).toBe(5);
    const view = program.room(structure(112, { 0: 13, 8: 4n }));
    expect(await read(await get("cuTexObjectCreate", resource, asInteger, view))).toBe(0x0403_0205);
    const larger = program.room(structure(112, { 0: 14, 8: 4n }));
    expect(await program.call("cuTexObjectCreate", program.room(8), resource, asInteger, larger)).toBe(
      errors.invalidValue,
    );
  });
});

test("a stream waits for a value that another one writes", async () => {
  const { program, get } = await prepared();
  const [one, other] = [await get("cuStreamCreate", 1), await get("cuStreamCreate", 1)];
  const memory = await get("cuMemAlloc_v2", 8);
  await program.call("cuMemsetD32_v2", memory, 0, 2);
  const [notLess, equal] = [0, 1];
  expect(await program.call("cuStreamWaitValue32_v2", one, memory, 7, equal)).toBe(0);
  expect(await program.call("cuStreamWriteValue32_v2", one, memory + 4n, 1, 0)).toBe(0);
  expect(await program.call("cuStreamQuery", one)).toBe(errors.notReady);
  const batch = [
    structure(48, { 0: 2, 8: memory, 16: 7 }),
    // What is no less counts modulo 2^32: 7 is before 8, and after 0xffffffff.
    structure(48, { 0: 1, 8: memory, 16: 0xffff_ffff, 24: notLess }),
  ];
  const list = program.room(Uint8Array.from(batch.flatMap((bytes) => [...bytes])));
  expect(await program.call("cuStreamBatchMemOp_v2", other, 2, list, 0)).toBe(0);
  expect(await program.call("cuStreamSynchronize", other)).toBe(0);
  expect(await program.call("cuStreamSynchronize", one)).toBe(0);
  const value = program.room(8);
  await program.call("cuMemcpyDtoH_v2", value, memory, 8);
  expect([program.i32(value), program.i32(value + 4n)]).toEqual([7, 1]);
});

test("memory is mapped, moves to other addresses, and keeps its bytes", async () => {
  const { program, get } = await prepared();
  const properties = program.room(structure(32, { 0: 1, 8: 1 }));
  const size = Number(await get("cuMemGetAllocationGranularity", properties, 0));
  expect(await program.call("cuMemCreate", program.room(8), size - 1, properties, 0)).toBe(errors.invalidValue);
  const memory = await get("cuMemCreate", size, properties, 0);
  const [first, second] = [
    await get("cuMemAddressReserve", 2 * size, 0, 0, 0),
    await get("cuMemAddressReserve", 2 * size, 0, 0, 0),
  ];
  const access = program.room(structure(12, { 0: 1, 8: 3 }));
  expect(await program.call("cuMemSetAccess", first, size, access, 1)).toBe(errors.invalidValue);
  expect(await program.call("cuMemMap", first, size, 0, memory, 0)).toBe(0);
  // Nobody has access before it is given (Driver API, cuMemMap).
  const value = program.room(4);
  expect(await program.call("cuMemcpyDtoH_v2", value, first, 4)).toBe(errors.invalidValue);
  expect(await get("cuMemGetAccess", access, first)).toBe(0n);
  expect(await program.call("cuMemSetAccess", first, 2 * size, access, 1)).toBe(errors.invalidValue);
  expect(await program.call("cuMemSetAccess", first, size, access, 1)).toBe(0);
  expect(await get("cuMemGetAccess", access, first)).toBe(3n);
  const [base, bytes] = [
    await get("cuPointerGetAttribute", 19, first + 8n),
    await get("cuPointerGetAttribute", 18, first),
  ];
  expect([base, bytes]).toEqual([first, BigInt(size)]);
  expect(await program.call("cuMemsetD32_v2", first, 42, size / 4)).toBe(0);
  expect(await program.call("cuMemAddressFree", first, 2 * size)).toBe(errors.invalidValue);
  expect(await program.call("cuMemUnmap", first, size)).toBe(0);
  expect(await program.call("cuMemAddressFree", first, 2 * size)).toBe(0);
  expect(await program.call("cuMemMap", second + BigInt(size), size, 0, memory, 0)).toBe(0);
  expect(await program.call("cuMemSetAccess", second + BigInt(size), size, access, 1)).toBe(0);
  expect(await program.call("cuMemRelease", memory)).toBe(0);
  expect(await program.call("cuMemcpyDtoH_v2", value, second + BigInt(2 * size - 4), 4)).toBe(0);
  expect(program.i32(value)).toBe(42);
  expect(await program.call("cuMemMap", second, size, 0, memory, 0)).toBe(errors.invalidValue);
});

test("no more memory without addresses than the device has", async () => {
  const { program, get } = await prepared();
  const properties = program.room(structure(32, { 0: 1, 8: 1 }));
  const bytes = 1 << 30;
  for (let made = 0; made < 3; made++) await get("cuMemCreate", bytes, properties, 0);
  expect(await program.call("cuMemCreate", program.room(8), bytes, properties, 0)).toBe(errors.memoryAllocation);
});

// Driver API, cuPointerSetAttribute: there is one attribute that can be set, a boolean one.
test("whether copies of memory are to be synchronous can be said, and asked", async () => {
  const { program, get } = await prepared();
  const [synchronous, type] = [6, 2];
  const memory = await get("cuMemAlloc_v2", 64);
  for (const value of [1, 0]) {
    expect(await program.call("cuPointerSetAttribute", program.room(bytesOf(value)), synchronous, memory)).toBe(0);
    const found = program.room(bytesOf(9));
    expect(await program.call("cuPointerGetAttribute", found, synchronous, memory + 8n)).toBe(0);
    expect(program.i32(found)).toBe(value);
  }
  const value = program.room(bytesOf(1));
  expect(await program.call("cuPointerSetAttribute", value, type, memory)).toBe(errors.invalidValue);
  expect(await program.call("cuPointerSetAttribute", value, synchronous, 64)).toBe(errors.invalidValue);
});

// As tests for GPUs expect (lupine, hip-tests).
test("only memory that was registered can be unregistered, from its beginning", async () => {
  const { program, get } = await prepared();
  const host = program.room(8192);
  expect(await program.call("cuMemHostUnregister", host)).toBe(errors.hostMemoryNotRegistered);
  expect(await program.call("cuMemHostRegister_v2", host, 100, 0)).toBe(0);
  expect(await program.call("cuMemHostUnregister", host + 8n)).toBe(errors.invalidValue);
  expect(await program.call("cuMemHostUnregister", host)).toBe(0);
  const pinned = await get("cuMemHostAlloc", 64, 0);
  expect(await program.call("cuMemHostUnregister", pinned)).toBe(errors.invalidValue);
  expect(await get("cuMemHostAlloc", 0, 0)).toBe(0n);
});

const pageBytes = 4096n;

test("memory beside registered memory in its pages is the program's own", async () => {
  const { program } = await prepared();
  const near = ((program.room(1 << 14) + pageBytes - 1n) / pageBytes) * pageBytes;
  const device = await program.malloc(256);
  expect(await program.call("cuMemHostRegister_v2", near, 100, 0)).toBe(0);
  const found = program.room(64);
  expect(await program.call("cudaPointerGetAttributes", found, near + 100n)).toBe(0);
  const unregistered = 0;
  expect(program.i32(found)).toBe(unregistered);
  // What begins in it and reaches beyond it, too.
  expect(await program.call("cudaMemset", device, 7, 256)).toBe(0);
  expect(await program.call("cudaMemcpy", near + 60n, device, 256, 2)).toBe(0);
  expect(program.bytes(near + 60n, 256)).toEqual(new Uint8Array(256).fill(7));
  expect(await program.call("cudaMemcpy", near + 200n, device, 256, 2)).toBe(0);
  expect(program.bytes(near + 200n, 256)).toEqual(new Uint8Array(256).fill(7));
});

test("parts of one page are registered apart, and may not overlap", async () => {
  const { program } = await prepared();
  const near = ((program.room(1 << 14) + pageBytes - 1n) / pageBytes) * pageBytes;
  const register = (at: bigint, bytes: number): Promise<number> => program.call("cudaHostRegister", at, bytes, 0);
  expect(await register(near + 64n, 64)).toBe(0);
  expect(await register(near + 128n, 64)).toBe(0);
  expect(await register(near + 100n, 8)).toBe(errors.hostMemoryAlreadyRegistered);
  expect(await register(near, 4096)).toBe(errors.hostMemoryAlreadyRegistered);
  const pointer = async (host: bigint): Promise<bigint> => {
    const target = program.room(8);
    expect(await program.call("cudaHostGetDevicePointer", target, host, 0)).toBe(0);
    return program.u64(target);
  };
  const first = await pointer(near + 64n);
  expect((await pointer(near + 130n)) - first).toBe(66n);
  expect(await program.call("cudaHostUnregister", near + 64n)).toBe(0);
  expect((await pointer(near + 130n)) - first).toBe(66n);
  const target = program.room(8);
  expect(await program.call("cudaHostGetDevicePointer", target, near + 64n, 0)).toBe(errors.invalidValue);
  expect(await program.call("cudaHostUnregister", near + 128n)).toBe(0);
  expect(await register(near, 4096)).toBe(0);
});

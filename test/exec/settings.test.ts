import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// CUDA Runtime API, Stream Management (attributes) and Unified Addressing: cudaMemAdvise, cudaMemRangeGetAttribute.

describe("attributes of streams", () => {
  const [synchronization, priority] = [3, 8];

  test("they are kept, and can be copied", async () => {
    const program = new FakeProgram();
    const [handle, value, got] = [program.room(8), program.room(64), program.room(64)];
    await program.call("cudaStreamCreateWithPriority", handle, 0, -2);
    const s = program.u64(handle);
    expect(await program.call("cudaStreamGetAttribute", s, priority, got)).toBe(0);
    expect(program.i32(got)).toBe(-2);
    program.view.setUint32(Number(value - 0x5000_0000n), 3, true);
    expect(await program.call("cudaStreamSetAttribute", s, synchronization, value)).toBe(0);
    await program.call("cudaStreamCreate", handle);
    const t = program.u64(handle);
    expect(await program.call("cudaStreamCopyAttributes", t, s)).toBe(0);
    expect(await program.call("cudaStreamGetAttribute", t, synchronization, got)).toBe(0);
    expect(program.i32(got)).toBe(3);
    expect(await program.call("cudaStreamSetAttribute", s, 77, value)).toBe(errors.invalidValue);
    // cudaStreamAttributePriority is "valid for streams": within the range of -5 to 0.
    program.view.setInt32(Number(value - 0x5000_0000n), -100, true);
    expect(await program.call("cudaStreamSetAttribute", t, priority, value)).toBe(0);
    expect(await program.call("cudaStreamGetPriority", t, got)).toBe(0);
    expect(program.i32(got)).toBe(-5);
    expect(await program.call("cudaStreamGetAttribute", t, priority, got)).toBe(0);
    expect(program.i32(got)).toBe(-5);
  });
});

describe("advice on managed memory", () => {
  const [readMostly, preferred, accessedBy, prefetched] = [1, 2, 3, 4];
  const deviceZero = 1n;
  const host = 2n;

  async function managed() {
    const program = new FakeProgram();
    const target = program.room(8);
    expect(await program.call("cudaMallocManaged", target, 4096, 1)).toBe(0);
    const memory = program.u64(target);
    const words = async (attribute: number, count = 1): Promise<number[]> => {
      const data = program.room(4 * count);
      expect(await program.call("cudaMemRangeGetAttribute", data, 4 * count, attribute, memory, 4096)).toBe(0);
      return Array.from({ length: count }, (_, i) => program.i32(data + BigInt(4 * i)));
    };
    return { program, memory, words };
  }

  test("it is answered as it was given, and taken back", async () => {
    const { program, memory, words } = await managed();
    expect([await words(readMostly), await words(preferred), await words(prefetched)]).toEqual([[0], [-2], [-2]]);
    expect(await program.call("cudaMemAdvise", memory, 4096, 1, deviceZero)).toBe(0);
    expect(await program.call("cudaMemAdvise", memory, 4096, 3, host)).toBe(0);
    expect(await program.call("cudaMemAdvise", memory, 4096, 5, deviceZero)).toBe(0);
    expect(await program.call("cudaMemPrefetchAsync", memory, 100, deviceZero, 0, 0)).toBe(0);
    expect([await words(readMostly), await words(preferred), await words(prefetched)]).toEqual([[1], [-1], [0]]);
    expect(await words(accessedBy, 2)).toEqual([0, -2]);
    expect(await program.call("cudaMemAdvise", memory, 4096, 2, deviceZero)).toBe(0);
    expect(await program.call("cudaMemAdvise", memory, 4096, 6, deviceZero)).toBe(0);
    expect([await words(readMostly), await words(accessedBy)]).toEqual([[0], [-2]]);
  });

  test("other memory has none, nor what lies beyond", async () => {
    const { program, memory } = await managed();
    const plain = await program.malloc(64);
    expect(await program.call("cudaMemAdvise", plain, 64, 1, deviceZero)).toBe(errors.invalidValue);
    expect(await program.call("cudaMemAdvise", memory, 4097, 1, deviceZero)).toBe(errors.invalidValue);
    expect(await program.call("cudaMemAdvise", memory, 4096, 7, deviceZero)).toBe(errors.invalidValue);
    const nowhere = (5n << 32n) | 1n;
    expect(await program.call("cudaMemAdvise", memory, 4096, 3, nowhere)).toBe(errors.invalidDevice);
  });
});

// Programming Guide, Dynamic Global Memory Allocation: the heap has 8 MB before a program says otherwise, and malloc
// returns null where it is exhausted. CUDA Runtime API, cudaDeviceSetLimit: its size must be set before any kernel that
// uses malloc or free is launched, "otherwise cudaErrorInvalidValue will be returned".
describe("the heap of device code", () => {
  const heapSize = 2;
  const ptx = `.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.visible .entry take(.param .u64 out, .param .u64 bytes)
{
    .reg .b64 %o, %n, %p;
    ld.param.u64 %o, [out];
    ld.param.u64 %n, [bytes];
    {
        .param .b64 n; .param .b64 r;
        st.param.b64 [n], %n;
        call.uni (r), malloc, (n);
        ld.param.b64 %p, [r];
    }
    st.global.u64 [%o], %p;
    ret;
}
.visible .entry nothing() { ret; }
`;

  async function prepared() {
    const program = new FakeProgram();
    const handle = await program.register(ptx);
    const [take, nothing] = [await program.kernel(handle, "take"), await program.kernel(handle, "nothing")];
    const [memory, room] = [await program.malloc(8), program.room(8)];
    const given = async (megabytes: number): Promise<boolean> => {
      expect(await program.launch(take, 1, 1, [memory, megabytes * 2 ** 20])).toBe(0);
      expect(await program.call("cudaMemcpy", room, memory, 8, 2)).toBe(0);
      return program.u64(room) !== 0n;
    };
    return { program, nothing, given };
  }

  test("has 8 MB, or what it is given before it is used", async () => {
    const { given } = await prepared();
    expect([await given(5), await given(5), await given(3), await given(1)]).toEqual([true, false, true, false]);
    const { program, nothing, given: then } = await prepared();
    expect(await program.launch(nothing, 1, 1, [])).toBe(0);
    expect(await program.call("cudaDeviceSetLimit", heapSize, 20 << 20)).toBe(0);
    expect([await then(15), await then(15)]).toEqual([true, false]);
  });

  test("its size stays once a kernel has been launched that uses it", async () => {
    const { program, given } = await prepared();
    expect(await given(1)).toBe(true);
    expect(await program.call("cudaDeviceSetLimit", heapSize, 20 << 20)).toBe(errors.invalidValue);
    expect(await program.call("cudaDeviceReset")).toBe(0);
    expect(await program.call("cudaDeviceSetLimit", heapSize, 20 << 20)).toBe(0);
  });
});

// cudaMemRangeGetAttribute: what holds for all pages of the range. A page is advised as a whole.
test("advice on a part of managed memory, and on a managed variable", async () => {
  const program = new FakeProgram();
  const [device, none, page] = [1, -2, 4096];
  const pointer = program.room(8);
  expect(await program.call("cudaMallocManaged", pointer, 4 * page, 1)).toBe(0);
  const memory = program.u64(pointer);
  const of = async (attribute: number, from: number, bytes: number, count = 1): Promise<number[]> => {
    const data = program.room(4 * count);
    const at = memory + BigInt(from);
    expect(await program.call("cudaMemRangeGetAttribute", data, 4 * count, attribute, at, bytes)).toBe(0);
    return Array.from({ length: count }, (_, i) => program.i32(data + BigInt(4 * i)));
  };
  const advise = (from: number, bytes: number, advice: number): Promise<number> =>
    program.call("cudaMemAdvise", memory + BigInt(from), bytes, advice, device);
  const [readMostly, preferred, accessedBy, prefetched] = [1, 2, 3, 4];
  const [setReadMostly, unsetReadMostly, setPreferred, setAccessedBy] = [1, 2, 3, 5];
  expect(await advise(page, page, setReadMostly)).toBe(0);
  expect(await of(readMostly, page, page)).toEqual([1]);
  expect(await of(readMostly, 0, 2 * page)).toEqual([0]);
  expect(await of(readMostly, 2 * page, page)).toEqual([0]);
  expect(await advise(0, 10, setPreferred)).toBe(0);
  expect(await of(preferred, 100, 8)).toEqual([0]);
  expect(await of(preferred, 0, page + 1)).toEqual([none]);
  expect(await advise(0, 4 * page, setAccessedBy)).toBe(0);
  expect(await advise(3 * page, page, setAccessedBy + 1)).toBe(0);
  expect(await of(accessedBy, 0, 3 * page, 2)).toEqual([0, none]);
  expect(await of(accessedBy, 0, 4 * page, 2)).toEqual([none, none]);
  expect(await program.call("cudaMemPrefetchAsync", memory + BigInt(page), 2 * page, device, 0, 0)).toBe(0);
  expect(await of(prefetched, page, 2 * page)).toEqual([0]);
  expect(await of(prefetched, 0, 2 * page)).toEqual([none]);
  expect(await advise(0, 4 * page, unsetReadMostly)).toBe(0);
  expect(await of(readMostly, page, page)).toEqual([0]);
});

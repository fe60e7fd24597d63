import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { tensorMapBytesOf } from "../../src/runtime/data/tensor-map.ts";
import { FakeProgram } from "./fake-program.ts";

/** Copies the box at (%x, 1) of a matrix, 8 by 2 words, to `out`. */
const ptx = `.version 8.0
.target sm_90
.address_size 64
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 out)
{
    .shared .align 128 .b8 buffer[64];
    .shared .align 8 .b64 bar;
    .reg .b32 %t, %a, %v, %b, %x, %y;
    .reg .b64 %m, %o;
    .reg .pred %p, %done;
    mov.u32 %t, %tid.x;
    mov.u32 %b, bar;
    mov.u32 %a, buffer;
    mov.b64 %m, map;
    setp.eq.u32 %p, %t, 0;
    @!%p bra waits;
    mbarrier.init.shared.b64 [%b], 1;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64;
    mov.u32 %x, 4;
    mov.u32 %y, 1;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%a], [%m, {%x, %y}], [%b];
waits:
    bar.sync 0;
again:
    mbarrier.try_wait.parity.shared.b64 %done, [%b], 0;
    @!%done bra again;
    mad.lo.u32 %a, %t, 4, %a;
    ld.shared.u32 %v, [%a];
    ld.param.u64 %o, [out];
    mad.wide.u32 %o, %t, 4, %o;
    st.global.u32 [%o], %v;
    ret;
}
`;

const words = (...values: number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
const longs = (...values: number[]): Uint8Array => new Uint8Array(BigInt64Array.from(values, BigInt).buffer);

const start = async () => {
  const program = new FakeProgram();
  const handle = await program.register(ptx);
  const memory = await program.malloc(4096);
  program.room(48 - (Number(program.room(16)) % 64));
  let map = program.room(192);
  map += 63n - ((map + 63n) % 64n);
  return { program, handle, memory, map };
};

/** CUtensorMapDataType: INT32 is 3. A matrix of 4 rows of 16 words, with boxes of 8 by 2. */
const tiled = (program: FakeProgram, address: bigint, change: { type?: number; box?: number } = {}) =>
  [
    ...[change.type ?? 3, 2, address, program.room(longs(16, 4)), program.room(longs(64))],
    ...[program.room(words(change.box ?? 8, 2)), program.room(words(1, 1)), 0, 0, 2, 0],
  ] as const;

// CUDA Driver API, Tensor Map Object Management.
describe("tensor maps", () => {
  test("a kernel copies a box with a map that the driver has encoded, and with another address", async () => {
    const { program, handle, memory, map } = await start();
    const matrix = program.room(words(...Array.from({ length: 128 }, (_, i) => i)));
    expect(await program.call("cudaMemcpy", memory, matrix, 512, 1)).toBe(0);
    expect(await program.call("cuTensorMapEncodeTiled", map, ...tiled(program, memory))).toBe(0);
    const box = await program.kernel(handle, "box");
    const launch = async (): Promise<number[]> => {
      const list = program.room(longs(Number(map), Number(program.room(longs(Number(memory) + 1024)))));
      const yx = 1n << 32n;
      const stub = [box, 1n | yx, 1, 16n | yx, 1, list, 0, 0];
      expect(await program.call("cudaLaunchKernel", ...stub)).toBe(0);
      const seen = program.room(64);
      expect(await program.call("cudaMemcpy", seen, memory + 1024n, 64, 2)).toBe(0);
      return Array.from({ length: 16 }, (_, i) => program.i32(seen + BigInt(4 * i)));
    };
    // Rows 1 and 2, columns 4 to 11.
    const rows = [20, 36].flatMap((first) => Array.from({ length: 8 }, (_, i) => first + i));
    expect(await launch()).toEqual(rows);
    expect(await program.call("cuTensorMapReplaceAddress", map, memory + 256n)).toBe(0);
    expect(await launch()).toEqual(rows.map((value) => value + 64));
  });

  test("the order of element types is that of the driver", async () => {
    const { program, memory, map } = await start();
    const byNumber = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32ftz", "tf32"] as const;
    for (const [type, dataType] of byNumber.entries()) {
      expect(await program.call("cuTensorMapEncodeTiled", map, ...tiled(program, memory, { type, box: 16 }))).toBe(0);
      const shape = {
        dataType,
        globalDim: [16, 4],
        globalStrides: [64],
        boxDim: [16, 2],
        l2Promotion: "128B",
      } as const;
      const at = Number(map - 0x5000_0000n);
      expect(program.memory.slice(at, at + 128)).toEqual(tensorMapBytesOf(shape, Number(memory)));
    }
  });

  test("what the driver refuses", async () => {
    const { program, memory, map } = await start();
    const refused = async (...args: (bigint | number)[]): Promise<void> => {
      expect(await program.call("cuTensorMapEncodeTiled", ...args)).toBe(errors.invalidValue);
    };
    await refused(map + 16n, ...tiled(program, memory));
    await refused(map, ...tiled(program, memory + 4n));
    await refused(map, ...tiled(program, memory, { box: 3 }));
    await refused(map, ...tiled(program, memory, { type: 99 }));
    expect(await program.call("cuTensorMapReplaceAddress", map, memory + 8n)).toBe(errors.invalidValue);
  });
});

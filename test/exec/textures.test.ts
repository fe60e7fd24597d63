import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// CUDA Runtime API, Texture Object Management, Surface Object Management, Memory Management (arrays).

const ptx = `.version 7.0
.target sm_75
.address_size 64
.visible .entry fetch(.param .u64 texture, .param .u64 out)
{
    .reg .f32 %x, %y, %r<4>;
    .reg .b32 %t;
    .reg .b64 %h, %o;
    ld.param.u64 %h, [texture];
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    cvt.rn.f32.u32 %x, %t;
    add.f32 %x, %x, 0.5;
    mov.f32 %y, 1.5;
    tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y}];
    mad.wide.u32 %o, %t, 4, %o;
    st.global.f32 [%o], %r0;
    ret;
}
.visible .entry double(.param .u64 surface)
{
    .reg .b32 %t, %v, %z;
    .reg .b64 %h;
    ld.param.u64 %h, [surface];
    mov.u32 %t, %tid.x;
    shl.b32 %t, %t, 2;
    mov.u32 %z, 0;
    suld.b.2d.b32.trap %v, [%h, {%t, %z}];
    add.u32 %v, %v, %v;
    sust.b.2d.b32.trap [%h, {%t, %z}], %v;
    ret;
}
`;

const toDevice = 1;
const toHost = 2;
const float = [32, 0, 0, 0, 2];
const base = 0x5000_0000n;

/** cudaChannelFormatDesc */
const format = (words: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(words).buffer);

/** A program with an array of 4 by 2 floats 0, 1, 2, ... */
async function withArray(words: readonly number[] = float) {
  const program = new FakeProgram();
  const target = program.room(8);
  expect(await program.call("cudaMallocArray", target, program.room(format(words)), 4, 2, 2)).toBe(0);
  const array = program.u64(target);
  const texels = program.room(new Uint8Array(Float32Array.from({ length: 8 }, (_, i) => i).buffer));
  expect(await program.call("cudaMemcpy2DToArray", array, 0, 0, texels, 16, 16, 2, toDevice)).toBe(0);
  return { program, array, target };
}

/** A cudaResourceDesc of an array. */
function resourceOf(program: FakeProgram, array: bigint): bigint {
  const place = program.room(144);
  program.view.setBigUint64(Number(place - base) + 8, array, true);
  return place;
}

describe("textures", () => {
  test("a kernel fetches texels of an array", async () => {
    const { program, array, target } = await withArray();
    const fetch = await program.kernel(await program.register(ptx), "fetch");
    const clamp = program.room(72);
    for (const at of [0, 4, 8]) program.view.setUint32(Number(clamp - base) + at, 1, true);
    const resource = resourceOf(program, array);
    expect(await program.call("cudaCreateTextureObject", target, resource, clamp, 0)).toBe(0);
    const texture = program.u64(target);
    const out = await program.malloc(24);
    expect(await program.launch(fetch, 1, 6, [texture, out])).toBe(0);
    const got = program.room(24);
    expect(await program.call("cudaMemcpy", got, out, 24, toHost)).toBe(0);
    expect([...new Float32Array(program.bytes(got, 24).buffer)]).toEqual([4, 5, 6, 7, 7, 7]);
    const same = program.room(144);
    expect(await program.call("cudaGetTextureObjectResourceDesc", same, texture)).toBe(0);
    expect(program.u64(same + 8n)).toBe(array);
    expect(await program.call("cudaDestroyTextureObject", texture)).toBe(0);
    expect(await program.call("cudaDestroyTextureObject", texture)).toBe(errors.invalidValue);
  });

  test("a kernel reads and writes a surface", async () => {
    const { program, array, target } = await withArray([32, 0, 0, 0, 1]);
    const double = await program.kernel(await program.register(ptx), "double");
    expect(await program.call("cudaCreateSurfaceObject", target, resourceOf(program, array))).toBe(0);
    const numbers = program.room(new Uint8Array(Uint32Array.of(1, 2, 3, 4).buffer));
    expect(await program.call("cudaMemcpyToArray", array, 0, 0, numbers, 16, toDevice)).toBe(0);
    expect(await program.launch(double, 1, 4, [program.u64(target)])).toBe(0);
    expect(await program.call("cudaMemcpyFromArray", numbers, array, 4, 0, 12, toHost)).toBe(0);
    expect([...new Uint32Array(program.bytes(numbers, 12).buffer)]).toEqual([4, 6, 8]);
  });
});

test("one row is copied into an array whatever its pitch is, 0 too", async () => {
  const { program, array } = await withArray([32, 0, 0, 0, 1]);
  const row = program.room(16);
  expect(await program.call("cudaMemcpy2DToArray", array, 0, 0, row, 0, 16, 1, toDevice)).toBe(0);
  const two = await program.call("cudaMemcpy2DToArray", array, 0, 0, row, 0, 8, 2, toDevice);
  expect(two).toBe(errors.invalidPitchValue);
});

test("a copy of rows stays within an array, also where its rows are longer in memory", async () => {
  const { program, array } = await withArray([32, 0, 0, 0, 1]);
  const extent = program.room(24);
  expect(await program.call("cudaArrayGetInfo", 0, extent, 0, array)).toBe(0);
  const width = Number(program.u64(extent));
  /** cudaMemcpy3DParms: one row from the second texel on. */
  const copied = (texels: number): Promise<number> => {
    const words = new BigUint64Array(20);
    words.set([array, 1n], 0);
    words.set([program.room(4096), 4096n, 4096n, 1n], 12);
    words.set([BigInt(texels), 1n, 1n, 2n], 16);
    return program.call("cudaMemcpy3D", program.room(new Uint8Array(words.buffer)));
  };
  expect(await copied(width - 1)).toBe(0);
  expect(await copied(width)).toBe(errors.invalidValue);
});

describe("arrays", () => {
  test.each([
    ["a float of 8 bits", [8, 0, 0, 0, 2], errors.invalidChannelDescriptor],
    ["channels of several sizes", [8, 16, 0, 0, 1], errors.invalidChannelDescriptor],
    ["three channels", [8, 8, 8, 0, 1], errors.invalidChannelDescriptor],
    ["four halves", [16, 16, 16, 16, 2], 0],
  ] as const)("%s", async (_, words, wanted) => {
    const program = new FakeProgram();
    const place = program.room(format(words));
    expect(await program.call("cudaMallocArray", program.room(8), place, 4, 4, 0)).toBe(wanted);
  });

  test("they say what they are", async () => {
    const { program, array } = await withArray();
    const [desc, extent, flags] = [program.room(20), program.room(24), program.room(4)];
    expect(await program.call("cudaArrayGetInfo", desc, extent, flags, array)).toBe(0);
    expect([...program.bytes(desc, 20)]).toEqual([...format(float)]);
    expect([program.u64(extent), program.u64(extent + 8n), program.u64(extent + 16n)]).toEqual([4n, 2n, 0n]);
    expect(program.i32(flags)).toBe(2);
    expect(await program.call("cudaFreeArray", array)).toBe(0);
    expect(await program.call("cudaFreeArray", array)).toBe(errors.invalidResourceHandle);
  });

  test("levels of detail, each half as large", async () => {
    const program = new FakeProgram();
    const [target, level, extent] = [program.room(8), program.room(8), program.room(24)];
    const desc = program.room(format(float));
    // Registers, of which four have arguments; the extent is on the stack.
    expect(await program.call("cudaMallocMipmappedArray", target, desc, 3, 0, 0, 0, 8, 4, 0)).toBe(0);
    expect(await program.call("cudaGetMipmappedArrayLevel", level, program.u64(target), 2)).toBe(0);
    expect(await program.call("cudaArrayGetInfo", 0, extent, 0, program.u64(level))).toBe(0);
    expect([program.u64(extent), program.u64(extent + 8n)]).toEqual([2n, 1n]);
    expect(await program.call("cudaGetMipmappedArrayLevel", level, program.u64(target), 3)).toBe(errors.invalidValue);
    // The number of levels is cut down to what there can be: 1 + floor(log2(8)) (cudaMallocMipmappedArray).
    expect(await program.call("cudaMallocMipmappedArray", target, desc, 9, 0, 0, 0, 8, 4, 0)).toBe(0);
    expect(await program.call("cudaGetMipmappedArrayLevel", level, program.u64(target), 3)).toBe(0);
    expect(await program.call("cudaGetMipmappedArrayLevel", level, program.u64(target), 4)).toBe(errors.invalidValue);
    expect(await program.call("cudaGetMipmappedArrayLevel", level, program.u64(target), 2)).toBe(0);
    // Surfaces are made of any level, as cuda-samples' bindlessTexture does; of a whole array only with the flag.
    const surface = program.room(8);
    expect(await program.call("cudaCreateSurfaceObject", surface, resourceOf(program, program.u64(level)))).toBe(0);
    // It goes with the array of which it is a level.
    expect(await program.call("cudaFreeMipmappedArray", program.u64(target))).toBe(0);
    expect(await program.call("cudaFreeArray", program.u64(level))).toBe(errors.invalidResourceHandle);
  });
});

// cudaErrorInvalidFilterSetting: "a non-float texture was being accessed with linear filtering";
// cudaErrorInvalidNormSetting: "an unsupported data type" was to be read "as a normalized float".
test.each([
  ["filtered integers", [8, 0, 0, 0, 1], 12, errors.invalidFilterSetting],
  ["fractions of 32 bits", [32, 0, 0, 0, 0], 16, errors.invalidNormSetting],
] as const)("refuses %s", async (_, words, at, error) => {
  const program = new FakeProgram();
  const target = program.room(8);
  expect(await program.call("cudaMallocArray", target, program.room(format(words)), 4, 2, 0)).toBe(0);
  const resource = new DataView(new ArrayBuffer(144));
  resource.setBigUint64(8, program.u64(target), true);
  const texture = new DataView(new ArrayBuffer(72));
  texture.setUint32(at, 1, true);
  const [from, how] = [resource, texture].map(({ buffer }) => program.room(new Uint8Array(buffer)));
  expect(await program.call("cudaCreateTextureObject", target, from!, how!, 0)).toBe(error);
});

// cudaMalloc3DArray: texture gather can only be performed on 2D CUDA arrays. Other flags with it: as hip-tests expect.
test.each([
  [[64, 64, 0], 8, 0],
  [[64, 0, 0], 8, errors.invalidValue],
  [[64, 64, 64], 8, errors.invalidValue],
  [[64, 64, 6], 8 | 1, errors.invalidValue],
  [[6, 6, 6], 8 | 4, errors.invalidValue],
  [[64, 64, 0], 8 | 2, errors.invalidValue],
])("an array of %j for gathers, with the flags %i", async (extent, flags, code) => {
  const program = new FakeProgram();
  const format = program.room(new Uint8Array(Int32Array.of(32, 0, 0, 0, 2).buffer));
  const status = program.call("cudaMalloc3DArray", program.room(8), format, flags, 0, 0, 0, ...extent);
  expect(await status).toBe(code);
});

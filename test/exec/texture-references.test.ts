import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// What these calls do and return: CUDA Driver API, Texture Reference Management, Surface Reference Management.

const ptx = `.version 7.0
.target sm_75
.address_size 64
.global .texref tex;
.global .surfref surf;
.visible .entry fetch(.param .u64 out)
{
    .reg .f32 %x, %y, %r<4>; .reg .b32 %t; .reg .b64 %o;
    ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    cvt.rn.f32.u32 %x, %t; mov.f32 %y, 1.5;
    tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [tex, {%x, %y}];
    mad.wide.u32 %o, %t, 4, %o; st.global.f32 [%o], %r0; ret;
}
.visible .entry row(.param .u64 out)
{
    .reg .b32 %t, %r<4>; .reg .b64 %o;
    ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
    tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [tex, {%t}];
    mad.wide.u32 %o, %t, 4, %o; st.global.u32 [%o], %r0; ret;
}
.visible .entry store()
{
    .reg .b32 %t, %x, %y;
    mov.u32 %t, %tid.x; shl.b32 %x, %t, 2; mov.u32 %y, 1; add.u32 %t, %t, 100;
    sust.b.2d.b32.trap [surf, {%x, %y}], %t; ret;
}
`;

const [formatU32, formatFloat] = [3, 0x20];
const [clamp, linear] = [1, 1];

async function prepared() {
  const program = new FakeProgram();
  const target = program.room(8);
  const call = async (name: string, ...rest: (bigint | number)[]): Promise<void> => {
    expect(await program.call(name, ...rest), name).toBe(0);
  };
  const get = async (name: string, ...rest: (bigint | number)[]): Promise<bigint> => {
    await call(name, target, ...rest);
    return program.u64(target);
  };
  await call("cuInit", 0);
  await get("cuCtxCreate_v4", 0, 0, 0);
  const module = await get("cuModuleLoadData", program.text(ptx));
  const descriptor = (width: number, height: number, format: number): bigint => {
    const view = new DataView(new ArrayBuffer(24));
    view.setBigUint64(0, BigInt(width), true);
    view.setBigUint64(8, BigInt(height), true);
    view.setUint32(16, format, true);
    view.setUint32(20, 1, true);
    return program.room(new Uint8Array(view.buffer));
  };
  const arrayOf = async (format: number): Promise<bigint> => {
    const array = await get("cuArrayCreate_v2", descriptor(4, 2, format));
    for (const row of [0, 1]) {
      const numbers = [0, 1, 2, 3].map((x) => 10 * row + x);
      const bytes = format === formatFloat ? Float32Array.from(numbers) : Uint32Array.from(numbers);
      await call("cuMemcpyHtoA_v2", array, 16 * row, program.room(new Uint8Array(bytes.buffer)), 16);
    }
    return array;
  };
  const run = async (kernel: string, threads: number): Promise<Uint8Array> => {
    const f = await get("cuModuleGetFunction", module, program.text(kernel));
    const out = await get("cuMemAlloc_v2", 4 * threads);
    expect(await program.launch(f, 1, threads, kernel === "store" ? [] : [out])).toBe(0);
    const got = program.room(4 * threads);
    await call("cuMemcpyDtoH_v2", got, out, 4 * threads);
    return program.bytes(got, 4 * threads);
  };
  const floats = async (threads: number) => [...new Float32Array((await run("fetch", threads)).slice().buffer)];
  return { program, call, get, module, arrayOf, descriptor, run, floats };
}

describe("texture references", () => {
  test("an array is bound, and how it is read may change", async () => {
    const { program, call, get, module, arrayOf, floats } = await prepared();
    const reference = await get("cuModuleGetTexRef", module, program.text("tex"));
    expect(await get("cuModuleGetTexRef", module, program.text("tex"))).toBe(reference);
    const array = await arrayOf(formatFloat);
    await call("cuTexRefSetArray", reference, array, 1);
    for (const axis of [0, 1]) await call("cuTexRefSetAddressMode", reference, axis, clamp);
    expect(await floats(6)).toEqual([10, 11, 12, 13, 13, 13]);
    await call("cuTexRefSetFilterMode", reference, linear);
    expect(await floats(5)).toEqual([10, 10.5, 11.5, 12.5, 13]);
    expect(await get("cuTexRefGetArray", reference)).toBe(array);
    const mode = program.room(4);
    await call("cuTexRefGetFilterMode", mode, reference);
    expect(program.i32(mode)).toBe(linear);
    await call("cuTexRefGetAddressMode", mode, reference, 1);
    expect(program.i32(mode)).toBe(clamp);
  });

  test("linear memory and rows of it", async () => {
    const { program, call, get, module, run, descriptor, floats } = await prepared();
    const reference = await get("cuModuleGetTexRef", module, program.text("tex"));
    const memory = await get("cuMemAlloc_v2", 128);
    await call("cuMemcpyHtoD_v2", memory, program.room(new Uint8Array(Uint32Array.of(7, 8, 9, 10).buffer)), 16);
    await call("cuTexRefSetFormat", reference, formatU32, 1);
    await call("cuTexRefSetFlags", reference, 1);
    const offset = program.room(8);
    await call("cuTexRefSetAddress_v2", offset, reference, memory, 12);
    expect(program.u64(offset)).toBe(0n);
    expect([...new Uint32Array((await run("row", 5)).slice().buffer)]).toEqual([7, 8, 9, 0, 0]);
    expect(await get("cuTexRefGetAddress_v2", reference)).toBe(memory);
    const rows = Float32Array.from({ length: 16 }, (_, i) => i);
    await call("cuMemcpyHtoD_v2", memory, program.room(new Uint8Array(rows.buffer)), 64);
    for (const axis of [0, 1]) await call("cuTexRefSetAddressMode", reference, axis, clamp);
    await call("cuTexRefSetAddress2D_v3", reference, descriptor(4, 2, formatFloat), memory, 32);
    expect(await floats(5)).toEqual([8, 9, 10, 11, 11]);
  });

  test("a kernel stores by a surface reference", async () => {
    const { program, call, get, module, arrayOf, run } = await prepared();
    const reference = await get("cuModuleGetSurfRef", module, program.text("surf"));
    const array = await arrayOf(formatU32);
    await call("cuSurfRefSetArray", reference, array, 0);
    await run("store", 4);
    const got = program.room(32);
    await call("cuMemcpyAtoH_v2", got, array, 0, 32);
    expect([...new Uint32Array(program.bytes(got, 32).slice().buffer)]).toEqual([0, 1, 2, 3, 100, 101, 102, 103]);
  });

  test("what is no reference, no variable, no axis", async () => {
    const { program, get, module } = await prepared();
    const target = program.room(8);
    expect(await program.call("cuModuleGetTexRef", target, module, program.text("none"))).toBe(errors.symbolNotFound);
    expect(await program.call("cuTexRefSetFlags", 0x1234, 1)).toBe(errors.invalidResourceHandle);
    const reference = await get("cuTexRefCreate");
    expect(await program.call("cuTexRefSetAddressMode", reference, 3, clamp)).toBe(errors.invalidValue);
    expect(await program.call("cuTexRefGetArray", target, reference)).toBe(errors.invalidValue);
    expect(await program.call("cuTexRefDestroy", reference)).toBe(0);
    expect(await program.call("cuTexRefDestroy", reference)).toBe(errors.invalidResourceHandle);
  });
});

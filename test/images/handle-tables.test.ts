import { describe, expect, test } from "vitest";
import { Device, type ImageHandle } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * Handles out of a table, another one in each lane ("bindless"). Texel n of image i is 100 i + n, so that what lanes
 * get follows from their numbers.
 */

const lanes = 64;
const width = 8;

const kernelOf = (body: string): string => `.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 table, .param .u64 out, .param .u32 count) {
  .reg .b64 %table, %out, %h; .reg .b32 %lane, %n, %count, %x, %r<4>; .reg .f32 %fx, %f<4>; .reg .pred %p;
  ld.param.u64 %table, [table]; ld.param.u64 %out, [out]; ld.param.u32 %count, [count];
  mov.u32 %lane, %tid.x; rem.u32 %n, %lane, %count; mad.wide.u32 %table, %n, 8, %table; ld.global.u64 %h, [%table];
  mad.wide.u32 %out, %lane, 4, %out; shr.u32 %x, %lane, 3; setp.lt.u32 %p, %lane, 60;
  cvt.rn.f32.u32 %fx, %x; add.f32 %fx, %fx, 0f3F000000;
  ${body}
  ret;
}`;

describe.each(usualEngines)("%s", (engine) => {
  const run = (body: string, count: number, handle: (device: Device, i: number) => ImageHandle) => {
    const device = new Device({ engine });
    const handles = Array.from({ length: count }, (_, i) => handle(device, i));
    const table = device.buffer(
      "u64",
      handles.map((one) => one.handle),
    );
    const out = device.buffer("u32", lanes);
    const result = device
      .load(kernelOf(body))
      .kernel("k")
      .launch({ grid: 1, block: lanes, args: [table, out, count] });
    return { result, values: Array.from(out.read() as Uint32Array) };
  };
  const image = (device: Device, i: number, type: "f32" | "u8" | "u16" | "u32" = "u32") =>
    device.image({ type, width }).write(Array.from({ length: width }, (_, n) => 100 * i + n));
  const wanted = (count: number) =>
    Array.from({ length: lanes }, (_, lane) => (lane < 60 ? 100 * (lane % count) + (lane >> 3) : 0));

  test.each([2, 3, 32])("fetches from %d textures", (count) => {
    const body =
      "@%p tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%fx}]; @%p cvt.rzi.u32.f32 %x, %f0; @%p st.global.u32 [%out], %x;";
    const { result, values } = run(body, count, (device, i) =>
      image(device, i, "f32").texture({ filter: i % 2 ? "linear" : "point" }),
    );
    expect([result.engine, result.reports.length]).toEqual([engine, 0]);
    expect(values).toEqual(wanted(count));
  });

  test("fetches from textures of several formats", () => {
    const types = ["u8", "u16", "u32"] as const;
    const body = "@%p tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%h, {%x}]; @%p st.global.u32 [%out], %r0;";
    const { values } = run(body, 3, (device, i) => image(device, i, types[i]!).texture());
    expect(values).toEqual(wanted(3));
  });

  test("loads from surfaces, zeros outside", () => {
    const body =
      "shl.b32 %x, %x, 2; add.u32 %x, %x, 4; @%p suld.b.1d.b32.zero %r0, [%h, {%x}]; @%p st.global.u32 [%out], %r0;";
    const { values } = run(body, 5, (device, i) => image(device, i).surface());
    const at = (lane: number): number => (lane < 56 ? 100 * (lane % 5) + (lane >> 3) + 1 : 0);
    expect(values).toEqual(Array.from({ length: lanes }, (_, lane) => at(lane)));
  });

  test("reductions in surfaces", () => {
    const device = new Device({ engine });
    const images = Array.from({ length: 3 }, () => device.image({ type: "u32", width }));
    const table = device.buffer(
      "u64",
      images.map((one) => one.surface().handle),
    );
    const body = "shl.b32 %x, %x, 2; @%p sured.b.add.1d.u32.trap [%h, {%x}], %lane;";
    const kernel = device.load(kernelOf(body)).kernel("k");
    const { reports } = kernel.launch({ grid: 1, block: lanes, args: [table, device.buffer("u32", lanes), 3] });
    expect(reports).toEqual([]);
    const sums = images.map(() => new Array<number>(width).fill(0));
    for (let lane = 0; lane < 60; lane++) sums[lane % 3]![lane >> 3]! += lane;
    expect(images.map((one) => Array.from(one.read() as Uint32Array))).toEqual(sums);
  });

  test("all lanes of the first warp whose handles are wrong are reported", () => {
    const body = "tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%fx}]; st.global.f32 [%out], %f0;";
    const { result } = run(body, 4, (device, i) => {
      const one = image(device, i, "f32").texture();
      if (i >= 2) one.free();
      return one;
    });
    expect(result.reports.map(({ code, threads }) => [code, threads.map(({ thread }) => thread[0])])).toEqual([
      ["bad-handle", Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => lane % 4 >= 2)],
    ]);
  });
});

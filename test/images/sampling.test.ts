import { describe, expect, test } from "vitest";
import { Device, type ImageOptions, type TextureOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * What no form of an instruction shows: filtering over the edges of cubes, anisotropy, sRGB, fractions. Expected values
 * follow from the words of the specifications, on images whose faces or levels are of one value each.
 */

const kernel = (fetch: string): string => `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 t, .param .u64 in, .param .u64 out) {
  .reg .b64 %t, %in, %out; .reg .f32 %f<4>, %c<8>;
  ld.param.u64 %t, [t]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  ld.global.v4.f32 {%c0, %c1, %c2, %c3}, [%in]; ld.global.v4.f32 {%c4, %c5, %c6, %c7}, [%in + 16];
  ${fetch}
  st.global.v4.f32 [%out], {%f0, %f1, %f2, %f3};
  ret;
}`;
const d = "{%f0, %f1, %f2, %f3}";

describe.each(usualEngines)("%s", (engine) => {
  function fetch(
    line: string,
    options: ImageOptions,
    texels: (n: number) => number,
    sampling: TextureOptions,
    coordinates: readonly number[],
  ): number[] {
    const device = new Device({ engine });
    const image = device.image(options);
    image.write(Array.from({ length: image.buffer.length }, (_, n) => texels(n)));
    const input = device.buffer("f32", [...coordinates, 0, 0, 0, 0, 0, 0, 0, 0].slice(0, 8));
    const out = device.buffer("f32", 4);
    const { reports } = device
      .load(kernel(line))
      .kernel("k")
      .launch({ grid: 1, block: 1, args: [image.texture(sampling), input, out] });
    expect(reports).toEqual([]);
    return Array.from(out.read());
  }

  test("linear filtering goes over the edges of a cube, and takes the mean of three at a corner", () => {
    // Every texel of a face is the number of the face: +x is 0, +y is 2, +z is 4.
    const at = (direction: readonly number[], seamless: boolean): number =>
      fetch(
        `tex.cube.v4.f32.f32 ${d}, [%t, {%c0, %c1, %c2, %c2}];`,
        { type: "f32", width: 4, height: 4, cube: true },
        (n) => n >> 4,
        { filter: "linear", normalized: true, seamless },
        direction,
      )[0]!;
    expect(at([1, 0.1, 1], true)).toBe((0 + 4) / 2);
    expect(at([1, 0.1, 1], false)).toBe(4);
    expect(at([0.1, 1, 1], true)).toBe((2 + 4) / 2);
    expect(at([1, 1, 1], true)).toBe((0 + 2 + 4 + (0 + 2 + 4) / 3) / 4);
    expect(at([-0.1, -1, -1], true)).toBe((3 + 5) / 2);
  });

  test("four texels around the corner of a cube are three and their mean", () => {
    const at = fetch(
      `tld4.r.cube.v4.f32.f32 ${d}, [%t, {%c0, %c1, %c2, %c2}];`,
      { type: "f32", width: 4, height: 4, cube: true },
      (n) => 1 + (n >> 4),
      { filter: "linear", normalized: true },
      [1, 1, 1],
    );
    // Below the edge of +z it is on that face, to the right of it on +x, above it on +y.
    expect(at).toEqual([5, 1, (5 + 1 + 3) / 3, 3]);
  });

  test("the nearest texel of a direction to an edge or a corner of a cube is one of the face's", () => {
    // Texels count from 0 over the faces, 16 to a face: +z is the fifth, whose rows go down and whose columns go right.
    const at = (direction: readonly number[], seamless: boolean): number =>
      fetch(
        `tex.cube.v4.f32.f32 ${d}, [%t, {%c0, %c1, %c2, %c2}];`,
        { type: "f32", width: 4, height: 4, cube: true },
        (n) => n,
        { filter: "point", normalized: true, seamless },
        direction,
      )[0]!;
    for (const seamless of [true, false]) {
      expect(at([1, 1, 1], seamless)).toBe(64 + 3);
      expect(at([1, -1, 1], seamless)).toBe(64 + 15);
      expect(at([-1, -1, 1], seamless)).toBe(64 + 12);
      expect(at([1, 0.1, 1], seamless)).toBe(64 + 7);
    }
  });

  test("anisotropy takes samples along the longer gradient, at a finer level", () => {
    // Every texel of a level is the number of the level: 256, 64, 16 and 4 texels.
    const level = (n: number): number => (n < 256 ? 0 : n < 320 ? 1 : n < 336 ? 2 : 3);
    const at = (maxAnisotropy: number): number =>
      fetch(
        `tex.grad.2d.v4.f32.f32 ${d}, [%t, {%c0, %c1}], {%c2, %c3}, {%c4, %c5};`,
        { type: "f32", width: 16, height: 16, levels: 4 },
        level,
        { normalized: true, maxAnisotropy, mipFilter: "linear" },
        // 8 texels by 1.
        [0.5, 0.5, 8 / 16, 0, 0, 1 / 16],
      )[0]!;
    expect([1, 2, 4, 8, 16].map(at)).toEqual([3, 2, 1, 0, 0]);
  });

  test("fractions and sRGB", () => {
    const at = (type: "u8" | "s8" | "u16" | "s16", options: TextureOptions): number[] =>
      fetch(
        `tex.2d.v4.f32.f32 ${d}, [%t, {%c0, %c1}];`,
        { type, channels: 4, width: 1, height: 1 },
        (n) => [128, 10, 255, 128][n]!,
        { normalizedFloat: true, ...options },
        [0.5, 0.5],
      );
    const close = (got: number[], wanted: number[]): void =>
      got.forEach((x, i) => {
        expect(x).toBeCloseTo(wanted[i]!, 6);
      });
    close(at("u8", {}), [128 / 255, 10 / 255, 1, 128 / 255]);
    // As signed bytes they are -128, 10, -1 and -128.
    close(at("s8", {}), [-1, 10 / 127, -1 / 127, -1]);
    close(at("u16", {}), [128 / 65535, 10 / 65535, 255 / 65535, 128 / 65535]);
    const linear = (n: number): number => (n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
    close(at("u8", { sRGB: true }), [linear(128 / 255), linear(10 / 255), 1, 128 / 255]);
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { sampleAt, type Sampling, texelAt, texelsOf } from "./model.ts";

/*
 * Kernels of the kinds that NVIDIA's texture and surface samples have (cuda/filters.cu, compiled by nvcc), against the
 * model, which computes them as a CPU would.
 */

const ptx = readFileSync(new URL("cuda/filters.ptx", import.meta.url), "utf8");
const [width, height] = [40, 24];
const small = (n: number): number => ((n * 37) % 101) / 8;
const byte = (n: number): number => (n * 37) % 251;
const over = (columns: number, rows: number, at: (x: number, y: number) => number): number[] =>
  Array.from({ length: columns * rows }, (_, i) => at(i % columns, Math.floor(i / columns)));
const how = (linear: boolean, mode: Sampling["mode"]): Sampling => ({ linear, mode });
const f = Math.fround;

/** The largest difference between numbers; that of what is not there is infinite. */
function farthest(got: ArrayLike<number>, wanted: readonly number[]): number {
  expect(got.length).toBe(wanted.length);
  return wanted.reduce((most, n, i) => Math.max(most, Math.abs(n - (got[i] ?? Infinity))), 0);
}

describe.each(usualEngines)("%s", (engine) => {
  const device = () => new Device({ engine });
  const launch = (on: Device, name: string, grid: number[], block: number[], args: readonly unknown[]): void => {
    const options = { grid, block, args, sanitize: ["init", "race"] } as never;
    expect(on.load(ptx).kernel(name).launch(options).reports).toEqual([]);
  };

  test("a picture is turned", () => {
    const on = device();
    const { texels, flat } = texelsOf({ width, height }, 1, small);
    const image = on.image({ type: "f32", width, height }).write(flat);
    const out = on.buffer("f32", width * height);
    const [cosine, sine] = [f(Math.cos(0.5)), f(Math.sin(0.5))];
    const texture = image.texture({ filter: "linear", normalized: true, address: "wrap" });
    launch(on, "rotated", [5, 3], [8, 8], [texture, out, width, height, cosine, sine]);
    const wanted = over(width, height, (x, y) => {
      const [u, v] = [(x + 0.5) / width - 0.5, (y + 0.5) / height - 0.5];
      const place = [(u * cosine - v * sine + 0.5) * width, (v * cosine + u * sine + 0.5) * height];
      return sampleAt(texels[0]![0]!, place, [], how(true, "wrap"))[0]!;
    });
    // A weight may be the next of 256 where the kernel's coordinates are rounded.
    expect(farthest(out.read() as Float32Array, wanted)).toBeLessThan(12.5 / 128);
  });

  test("layers", () => {
    const on = device();
    const { texels, flat } = texelsOf({ width, height, layers: 3 }, 1, small);
    const image = on.image({ type: "f32", width, height, layers: 3 }).write(flat);
    const out = on.buffer("f32", 3 * width * height);
    const texture = image.texture({ filter: "linear" });
    launch(on, "negatedLayers", [5, 3], [8, 8], [texture, out, width, height, 3]);
    const wanted = [0, 1, 2].flatMap((n) => over(width, height, (x, y) => n - texels[0]![n]![0]![y]![x]![0]!));
    expect(Array.from(out.read() as Float32Array)).toEqual(wanted);
  });

  test("the faces of a cube, each texel in its middle", () => {
    const on = device();
    const { flat } = texelsOf({ width: 16, height: 16, cube: true }, 1, small);
    const image = on.image({ type: "f32", width: 16, height: 16, cube: true }).write(flat);
    const out = on.buffer("f32", flat.length);
    launch(on, "faces", [2, 2], [8, 8], [image.texture({ filter: "linear" }), out, 16]);
    expect(Array.from(out.read() as Float32Array)).toEqual(flat);
  });

  test("edges of a picture of bytes", () => {
    const on = device();
    const { texels, flat } = texelsOf({ width, height }, 1, byte);
    const image = on.image({ type: "u8", width, height }).write(flat);
    const to = on.image({ type: "u8", width, height });
    launch(on, "sobel", [5, 3], [8, 8], [image.texture(), to.surface(), width, height]);
    const at = (x: number, y: number): number => texelAt(texels[0]![0]!, [x, y], how(false, "clamp"))[0]!;
    const wanted = over(width, height, (x, y) => {
      const column = (i: number): number => at(x + i, y - 1) + 2 * at(x + i, y) + at(x + i, y + 1);
      const row = (j: number): number => at(x - 1, y + j) + 2 * at(x, y + j) + at(x + 1, y + j);
      return Math.min(255, Math.floor((Math.abs(column(1) - column(-1)) + Math.abs(row(-1) - row(1))) / 2));
    });
    expect(Array.from(to.read() as Uint8Array)).toEqual(wanted);
  });

  test("a volume", () => {
    const on = device();
    const { texels, flat } = texelsOf({ width: 8, height: 8, depth: 8 }, 1, small);
    const shape = { type: "f32", width: 8, height: 8, depth: 8 } as const;
    const to = on.image(shape);
    const texture = on.image(shape).write(flat).texture({ filter: "linear", address: "border" });
    launch(on, "volume", [8, 8], [8], [texture, to.surface(), 8]);
    const plane = texels[0]![0]!;
    const wanted = Array.from({ length: 512 }, (_, i) => {
      const [x, y, z] = [i % 8, (i >> 3) % 8, i >> 6];
      return [-1, 0, 1].reduce((sum, d) => sum + texelAt(plane, [x + d, y, z - d], how(true, "border"))[0]!, 0);
    });
    expect(Array.from(to.read() as Float32Array)).toEqual(wanted);
  });

  test("a level is made from the one before", () => {
    const on = device();
    const { flat } = texelsOf({ width, height }, 4, byte);
    const [w, h] = [width / 2, height / 2];
    const texture = on
      .image({ type: "u8", channels: 4, width, height })
      .write(flat)
      .texture({
        ...{ filter: "linear", normalized: true, normalizedFloat: true },
      });
    const to = on.image({ type: "u8", channels: 4, width: w, height: h });
    launch(on, "halved", [3, 2], [8, 8], [texture, to.surface(), w, h]);
    const wanted = Array.from({ length: 4 * w * h }, (_, i) => {
      const [c, x, y] = [i % 4, (i >> 2) % w, Math.floor((i >> 2) / w)];
      const four = [0, 1].flatMap((j) => [0, 1].map((k) => flat[4 * ((2 * y + j) * width + 2 * x + k) + c]!));
      return Math.floor(four.reduce((sum, n) => sum + n) / 4 + 0.5);
    });
    expect(farthest(to.read() as Uint8Array, wanted)).toBeLessThanOrEqual(1);
  });

  test.each(["point", "linear"] as const)("levels of detail, the nearest or two blended (%s)", (mipFilter) => {
    const on = device();
    const { texels, flat } = texelsOf({ width: 32, height: 8, levels: 4 }, 1, small);
    const image = on.image({ type: "f32", width: 32, height: 8, levels: 4 }).write(flat);
    const out = on.buffer("f32", 4 * 32);
    const texture = image.texture({ filter: "linear", normalized: true, mipFilter });
    launch(on, "levels", [1], [32], [texture, out, 4, -0.75]);
    const wanted = [0, 1, 2, 3].flatMap((n) =>
      over(32, 1, (x) => {
        const lod = Math.min(3, Math.max(0, n - 0.75));
        const at = (level: number): number => {
          const plane = texels[level]![0]!;
          const place = [((x + 0.5) / 32) * plane[0]![0]!.length, 0.375 * plane[0]!.length];
          return sampleAt(plane, place, [], how(true, "clamp"))[0]!;
        };
        if (mipFilter === "point") return at(Math.floor(lod + 0.5));
        const low = Math.floor(lod);
        return at(low) * (1 - (lod - low)) + at(Math.min(3, low + 1)) * (lod - low);
      }),
    );
    expect(farthest(out.read() as Float32Array, wanted)).toBeLessThan(1e-5);
  });

  test("four texels at once", () => {
    const on = device();
    const { texels, flat } = texelsOf({ width, height }, 1, small);
    const image = on.image({ type: "f32", width, height }).write(flat);
    const out = on.buffer("f32", 4 * width * height);
    launch(on, "gathered", [height], [width], [image.texture(), out, width]);
    const at = (x: number, y: number): number => texelAt(texels[0]![0]!, [x, y], how(false, "clamp"))[0]!;
    const wanted = Array.from({ length: width * height }, (_, i) => {
      const [x, y] = [i % width, Math.floor(i / width)];
      return [at(x, y + 1), at(x + 1, y + 1), at(x + 1, y), at(x, y)];
    });
    expect(Array.from(out.read() as Float32Array)).toEqual(wanted.flat());
  });

  test("a row of memory", () => {
    const on = device();
    const image = on
      .image({ type: "f32", width: 100, layout: "linear" })
      .write(Array.from({ length: 100 }, (_, i) => i));
    const out = on.buffer("f32", 100);
    launch(on, "rows", [4], [32], [image.texture(), out, 100]);
    expect(Array.from(out.read() as Float32Array)).toEqual(Array.from({ length: 100 }, (_, i) => 99 - i));
  });
});

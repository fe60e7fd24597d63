import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { Device } from "../../src/runtime/index.ts";
import { type EngineName, usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * Levels of detail of OpenCL's images: the kernels of visa/levels, as ocloc compiles them. Expected values follow from
 * the OpenCL C specification (6.15.15: linear filtering, clamped to the edge; cl_khr_mipmap_image: levels by a number,
 * or by gradients), with weights of 8 bits.
 */
const folder = new URL("visa/levels/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, folder), "utf8");
const platforms = ["skl", "icllp", "tgllp", "dg2"] as const;
const items = 16;
const sizes = [
  { width: 16, height: 4 },
  { width: 8, height: 2 },
  { width: 4, height: 1 },
] as const;
const texels = sizes.map(({ width, height }) =>
  Array.from({ length: width * height * 4 }, (_, i) => Math.round(Math.sin(i * 1.7 + width) * 1000) / 8),
);

const weightOf = (fraction: number): number => Math.floor(fraction * 256 + 0.5) / 256;
const inside = (n: number, size: number): number => Math.max(0, Math.min(size - 1, n));

function filtered(level: number, u: number, channel: number): number {
  const { width, height } = sizes[level]!;
  const [x, y] = [u * width - 0.5, 0.5 * height - 0.5];
  const [i, j] = [Math.floor(x), Math.floor(y)];
  const [a, b] = [weightOf(x - i), weightOf(y - j)];
  const at = (dx: number, dy: number): number =>
    texels[level]![4 * (inside(j + dy, height) * width + inside(i + dx, width)) + channel]!;
  return (at(0, 0) * (1 - a) + at(1, 0) * a) * (1 - b) + (at(0, 1) * (1 - a) + at(1, 1) * a) * b;
}

function expected(lod: number, u: number, channel: number, blended: boolean): number {
  const level = Math.max(0, Math.min(sizes.length - 1, lod));
  if (!blended) return filtered(Math.floor(level + 0.5), u, channel);
  const first = Math.floor(level);
  const weight = weightOf(level - first);
  const second = weight > 0 ? filtered(first + 1, u, channel) * weight : 0;
  return filtered(first, u, channel) * (1 - weight) + second;
}

function run(engine: EngineName, platform: string, name: string, given: { value: number; blended: boolean }) {
  const device = new Device({ engine });
  const image = device.image({ type: "f32", channels: 4, width: 16, height: 4, levels: 3 });
  image.buffer.write(texels.flat());
  const filters = { filter: "linear", mipFilter: given.blended ? "linear" : "point" } as const;
  const sampler = device.sampler({ normalized: true, address: "clamp", ...filters });
  const zeinfo: unknown = parse(read(`${platform}/ze_info.yaml`));
  const path = `${name}.visaasm`;
  const source = { path, text: read(`${platform}/${path}`) };
  const out = device.buffer("f32", 8 * items);
  const kernel = device.load([source], { isa: "visa", zeinfo, target: platform }).kernel(name);
  const args = [image.texture(), sampler, out, given.value];
  const { reports } = kernel.launch({ global: [items, 1, 1], local: [items, 1, 1], args, sanitize: "all" });
  expect(reports).toEqual([]);
  return out.read();
}

const levels = [-1, 0, 0.25, 1, 1.625, 2, 7];
test.each(usualEngines.flatMap((engine) => platforms.map((platform) => [engine, platform] as const)))(
  "levels of images (%s, %s)",
  (engine, platform) => {
    for (const blended of [false, true]) {
      for (const lod of levels) {
        for (const name of ["level", "gradient"] as const) {
          // The longer gradient is so many texels of the first level.
          const value = name === "level" ? lod : 2 ** lod / 16;
          const values = run(engine, platform, name, { value, blended });
          for (let i = 0; i < items; i++) {
            for (let c = 0; c < 4; c++) {
              expect(values[8 * i + c]).toBeCloseTo(expected(lod, i / 16, c, blended), 3);
            }
            if (name === "level") expect([...values.slice(8 * i + 4, 8 * i + 6)]).toEqual([3, 16]);
          }
        }
      }
    }
  },
);

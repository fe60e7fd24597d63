import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Device, type KernelArgument, type SamplerOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { type Mode, sampleAt, texelAt, texelsOf } from "./model.ts";

/*
 * The kernels of visa/images.cl, as ocloc compiles them for four platforms that have samplers, against the model.
 * Expected values follow from the OpenCL C specification (sections 6.15.15 and 8.2).
 */

const folder = new URL("visa/", import.meta.url);
const platforms = ["skl", "icllp", "tgllp", "dg2"] as const;
const [width, height, depth] = [12, 6, 4];
const small = (n: number): number => (((n * 37) % 101) - 50) / 4;
const natural = (n: number): number => (n * 37) % 251;

/** One launch: the arguments and what they hold afterwards, over work items of a given size. */
interface Program {
  readonly global: readonly [number, number, number];
  readonly args: (device: Device) => {
    readonly args: readonly KernelArgument[];
    readonly result: () => ArrayLike<number>;
  };
  readonly expected: () => readonly number[];
}

const flat2 = texelsOf({ width, height }, 4, small);
const plane = flat2.texels[0]![0]!;
const each = (n: number, make: (i: number) => readonly number[]): number[] =>
  Array.from({ length: n }, (_, i) => make(i)).flat();
const overImage = (at: (x: number, y: number) => readonly number[]): number[] =>
  each(width * height, (i) => at(i % width, Math.floor(i / width)));

/** A kernel that reads the image of floats into a buffer. */
function reading(
  more: readonly KernelArgument[],
  at: (x: number, y: number) => readonly number[],
  sampler: SamplerOptions | null = null,
): Program {
  return {
    global: [width, height, 1],
    args: (device) => {
      const image = device.image({ type: "f32", channels: 4, width, height }).write(flat2.flat);
      const out = device.buffer("f32", 4 * width * height);
      const given = sampler === null ? [] : [device.sampler(sampler)];
      return { args: [image.texture(), ...given, out, ...more], result: () => out.read() };
    },
    expected: () => overImage(at),
  };
}

/** A kernel that writes an image of floats from another. */
const writing = (at: (x: number, y: number) => readonly number[]): Program => ({
  global: [width, height, 1],
  args: (device) => {
    const from = device.image({ type: "f32", channels: 4, width, height }).write(flat2.flat);
    const to = device.image({ type: "f32", channels: 4, width, height });
    return { args: [from.texture(), to.surface()], result: () => to.read() as Float32Array };
  },
  expected: () => overImage(at).map(Math.fround),
});

const point = (mode: Mode) => ({ mode, linear: false });
const linear = (mode: Mode) => ({ mode, linear: true });
const volume = texelsOf({ width, height, depth }, 1, small);
const arrays = texelsOf({ width, height, layers: depth }, 2, small);
const over3 = (at: (x: number, y: number, z: number) => readonly number[]): number[] =>
  each(depth, (z) => overImage((x, y) => at(x, y, z)));

const programs: Readonly<Record<string, Program>> = {
  copy: writing((x, y) => texelAt(plane, [x, y], point("clamp"))),
  integers: {
    global: [16, 8, 1],
    args: (device) => {
      const from = device
        .image({ type: "u8", channels: 4, width, height })
        .write(texelsOf({ width, height }, 4, natural).flat);
      const to = device.image({ type: "u16", channels: 4, width, height });
      return { args: [from.texture(), to.surface()], result: () => to.read() as Uint16Array };
    },
    expected: () => texelsOf({ width, height }, 4, natural).flat.map((n) => n + 1),
  },
  shifted: reading([], (x, y) => texelAt(plane, [x - 3, y + 2], point("border"))),
  wrapped: reading([0.25 / 6, 0.5 / 6].map(Math.fround), (x, y) => {
    // Products and sums are rounded as the kernel's are; neither is fused.
    const [s, c, f] = [Math.fround(0.25 / 6), Math.fround(0.5 / 6), Math.fround];
    return sampleAt(
      plane,
      [f(f(x * c) - f(y * s)) * width, f(f(x * s) + f(y * c)) * height].map(f),
      [],
      linear("wrap"),
    ).map(f);
  }),
  mirrored: reading([0.375], (x, y) =>
    sampleAt(plane, [(x * 0.375 - 1) * width, (y * 0.375 - 1) * height], [], linear("mirror")),
  ),
  given: reading([], (x, y) => sampleAt(plane, [x + 0.5, y + 0.25], [], linear("clamp")), { filter: "linear" }),
  twice: {
    global: [width, height, 1],
    args: (device) => {
      const image = device.image({ type: "f16", channels: 4, width, height }).write(flat2.flat);
      return { args: [image.surface()], result: () => image.read() as Float32Array };
    },
    expected: () => flat2.flat.map((n) => 2 * n),
  },
  volume: {
    global: [width, height, depth],
    args: (device) => {
      const from = device.image({ type: "f32", width, height, depth }).write(volume.flat);
      const to = device.image({ type: "f32", width, height, layers: depth });
      return { args: [from.texture(), to.surface()], result: () => to.read() as Float32Array };
    },
    expected: () =>
      over3((x, y, z) =>
        sampleAt(volume.texels[0]![0]!, [x + 0.75, y + 0.75, z + 0.75], [], linear("clamp")).slice(0, 1),
      ),
  },
  layers: {
    global: [width, height, depth],
    args: (device) => {
      const scaled = arrays.flat.map((n) => n * 4);
      const from = device.image({ type: "s16", channels: 2, width, height, layers: depth }).write(scaled);
      const to = device.image({ type: "s8", channels: 2, width, height, depth });
      return { args: [from.texture(), to.surface()], result: () => to.read() as Int8Array };
    },
    expected: () => over3((x, y, z) => arrays.texels[0]![z]![0]![y]![x]!.map((n) => n * 4)),
  },
  rows: {
    global: [width, 1, 1],
    args: (device) => {
      const from = device
        .image({ type: "s32", width, layers: height })
        .write(Array.from({ length: width * height }, (_, i) => i - 9));
      const to = device.image({ type: "s32", width });
      return { args: [from.texture(), to.surface(), 4], result: () => to.read() as Int32Array };
    },
    expected: () => Array.from({ length: width }, (_, i) => 4 * width + i - 9),
  },
  elements: {
    global: [16, 1, 1],
    args: (device) => {
      const values = Array.from({ length: 32 }, (_, i) => i * 1000);
      const from = device.image({ type: "s32", channels: 2, width: 16, layout: "linear" }).write(values);
      const out = device.buffer("s32", 64);
      return { args: [from.texture(), out], result: () => out.read() };
    },
    // What is missing is 0, and 1 for the fourth.
    expected: () => each(16, (i) => [2000 * i, 2000 * i + 1000, 0, 1]),
  },
  sizes: {
    global: [1, 1, 1],
    args: (device) => {
      const a = device.image({ type: "f32", channels: 4, width, height, depth });
      const b = device.image({ type: "f32", channels: 4, width, height, layers: 5 });
      const out = device.buffer("s32", 6);
      return { args: [a.texture(), b.texture(), out], result: () => out.read() };
    },
    // CL_FLOAT and CL_RGBA.
    expected: () => [width, height, depth, 0x10de, 0x10b5, 5],
  },
  blur: writing((x, y) => {
    const sum = [0, 0, 0, 0];
    for (const dy of [-1, 0, 1]) {
      for (const dx of [-1, 0, 1]) {
        texelAt(plane, [x + dx, y + dy], point("clamp")).forEach((n, c) => {
          sum[c]! += n;
        });
      }
    }
    return sum.map((n) => n / 9);
  }),
};

for (const platform of platforms) {
  const zeinfo: unknown = parse(readFileSync(new URL(`${platform}/ze_info.yaml`, folder), "utf8"));
  describe(platform, () => {
    for (const [name, { global, args, expected }] of Object.entries(programs)) {
      test.each(usualEngines)(`${name} (%s)`, (engine) => {
        const device = new Device({ engine });
        const path = `${name}.visaasm`;
        const text = readFileSync(new URL(`${platform}/${path}`, folder), "utf8");
        const kernel = device.load([{ path, text }], { isa: "visa", zeinfo }).kernel(name);
        const { args: given, result } = args(device);
        const { reports } = kernel.launch({ global, local: [global[0], 1, 1], args: given, sanitize: ["init"] });
        expect(reports.map(({ message }) => message)).toEqual([]);
        const got = Array.from(result(), (x) => x + 0);
        const wanted = expected().map((x) => x + 0);
        const off = got.findIndex(
          (x, i) => Math.abs(x - wanted[i]!) > (name === "blur" || name === "wrapped" ? 2e-5 : 0),
        );
        expect({ off, got: got.slice(off, off + 4), n: got.length }).toEqual({
          ...{ off: -1, got: got.slice(-1, 3), n: wanted.length },
        });
      });
    }
  });
}

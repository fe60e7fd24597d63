import type { ImageGeometry } from "../../src/ir/index.ts";
import { imageBytes, type ImageOptions, type TextureOptions } from "../../src/runtime/data/image.ts";
import type { Random } from "./random.ts";
import type { Scope } from "./scope.ts";

/** How a surface is reduced. `formatted`: by `.p`, which takes the type of the surface's channels. */
interface SurfaceReduction {
  readonly op: string;
  readonly type: string;
  readonly formatted: boolean;
}

/** A texture or a surface in a buffer of its own, which is a parameter of the kernel. */
export interface RandomImage {
  /** The name of the kernel's parameter. */
  readonly parameter: string;
  readonly as: "texture" | "surface";
  readonly image: ImageOptions;
  readonly texture: TextureOptions;
  readonly geometry: ImageGeometry;
  /** The type of what fetches give. */
  readonly result: "f32" | "u32" | "s32";
  /** How threads write the surface; nobody reads it then, but a thread its own texel. */
  readonly use?: "stored" | "reduced";
  /** Texels along x from the one that has a thread's number to the one to which the thread stores. */
  readonly moved?: number;
  readonly reduction?: SurfaceReduction;
}

const types = ["f32", "f32", "f16", "u8", "s8", "u16", "s16", "u32", "s32"] as const;
const modes = ["wrap", "clamp", "mirror", "border"] as const;
const shapes = ["1d", "2d", "2d", "3d", "a1d", "a2d", "cube", "linear", "pitch"] as const;

/** The size and the parts of an image, and how instructions see it. */
function shapeOf(random: Random, bytes: number): readonly [ImageGeometry, Omit<ImageOptions, "type">] {
  const [width, height, depth] = [random.between(1, 17), random.between(1, 9), random.between(1, 4)];
  const layers = random.between(1, 4);
  const levels = random.chance(0.5) ? 1 : random.between(1, 1 + Math.floor(Math.log2(Math.max(width, 1))));
  switch (random.pick(shapes)) {
    case "1d":
      return ["1d", { width, levels }];
    case "2d":
      return ["2d", { width, height, levels }];
    case "3d":
      return ["3d", { width, height, depth, levels }];
    case "a1d":
      return ["a1d", { width, layers, levels }];
    case "a2d":
      return ["a2d", { width, height, layers, levels }];
    case "cube":
      return ["cube", { width, height: width, cube: true, levels }];
    case "linear":
      return ["1d", { width: 4 * width, layout: "linear" }];
    case "pitch":
      return ["2d", { width, height, layout: "pitch", pitch: 32 * Math.ceil((width * bytes) / 32) }];
  }
}

/** Bytes of a channel's value. */
const bytesOf = (type: string): number => Number(type.slice(1)) / 8;

function randomImage(random: Random, parameter: string): RandomImage {
  const type = random.pick(types);
  const channels = random.pick([1, 1, 2, 4] as const);
  const [geometry, shape] = shapeOf(random, bytesOf(type) * channels);
  const image = { type, channels, ...shape };
  const isFraction = bytesOf(type) < 4 && !type.startsWith("f") && random.chance(0.6);
  const isFloat = type.startsWith("f") || isFraction;
  const texture: TextureOptions = {
    address: [random.pick(modes), random.pick(modes), random.pick(modes)],
    filter: isFloat ? random.pick(["point", "linear"]) : "point",
    normalized: random.chance(0.5),
    normalizedFloat: isFraction,
    sRGB: isFraction && type === "u8" && random.chance(0.2),
    border: [0.25, -1, 7, random.chance(0.1) ? NaN : 1],
    mipFilter: random.pick(["point", "linear"]),
    lodBias: random.pick([0, 0, 0.5]),
    maxAnisotropy: random.pick([1, 1, 4]),
  };
  const result = isFloat ? "f32" : type.startsWith("s") ? "s32" : "u32";
  return { parameter, as: random.pick(["texture", "texture", "surface"]), image, texture, geometry, result };
}

/** Several images, of which one is a texture. */
export function randomImages(random: Random): RandomImage[] {
  const images = Array.from({ length: random.between(2, 5) }, (_, i) => randomImage(random, `image${i}`));
  return [{ ...images[0]!, as: "texture" }, ...images.slice(1)];
}

/** Bytes of the buffer of an image. */
export const bytesOfImage = ({ image }: RandomImage): number => Math.ceil(imageBytes(image) / 16) * 16;

const axesOf = (geometry: ImageGeometry): number => (geometry === "cube" ? 3 : Number(geometry.at(-2)));

/**
 * The handle of an image in a register, mostly the same in all lanes. Else some lanes have that of another image which
 * instructions see in the same way, if there is one.
 */
export function handleOf({ text, module }: Scope, image: RandomImage): string {
  const { random } = text;
  const handle = text.temporary(64);
  text.add(`ld.param.u64 ${handle}, [${image.parameter}];`);
  if (!random.chance(0.15)) return handle;
  const { as, geometry, result, use } = image;
  const isLike = (one: RandomImage): boolean =>
    one.as === as && one.geometry === geometry && one.result === result && one.use === undefined;
  const others = use === undefined ? module.images.filter(isLike) : [image];
  const other = text.temporary(64);
  text.add(`ld.param.u64 ${other}, [${random.pick(others).parameter}];`);
  text.add(`selp.b64 ${handle}, ${handle}, ${other}, ${text.register(1)};`);
  return handle;
}

/** Registers of the pool as coordinates: numbers that are often inside. */
function coordinatesOf(scope: Scope, { geometry, texture }: RandomImage, integers: boolean): string[] {
  const { text } = scope;
  const { random } = text;
  const one = (isFloat: boolean): string => {
    const register = text.temporary(32);
    const from = text.register(32, random.chance(0.2));
    if (random.chance(0.2)) text.add(`mov.b32 ${register}, ${from};`);
    else {
      text.add(`and.b32 ${register}, ${from}, ${isFloat ? 255 : 31};`, `sub.s32 ${register}, ${register}, 4;`);
      const scale = texture.normalized === true ? "0f3C800000" : "0f3E000000";
      if (isFloat)
        text.add(`cvt.rn.f32.s32 ${register}, ${register};`, `mul.rn.f32 ${register}, ${register}, ${scale};`);
    }
    return register;
  };
  const layer = geometry.startsWith("a") ? [one(false)] : [];
  const own = Array.from({ length: axesOf(geometry) }, () => one(!integers));
  const all = [...layer, ...own];
  // Vectors of three have a fourth element.
  return all.length === 3 ? [...all, all[0]!] : all;
}

/** A register with an element of a gradient: a small number, now and then any. */
function step({ text }: Scope): string {
  const register = text.temporary(32);
  const from = text.register(32, text.random.chance(0.2));
  if (text.random.chance(0.1)) text.add(`mov.b32 ${register}, ${from};`);
  else {
    text.add(`and.b32 ${register}, ${from}, 63;`, `cvt.rn.f32.u32 ${register}, ${register};`);
    text.add(`mul.rn.f32 ${register}, ${register}, 0f3D000000;`);
  }
  return register;
}

export const vector = (registers: readonly string[]): string => `{${registers.join(", ")}}`;

function results(scope: Scope): string[] {
  return Array.from({ length: 4 }, () => scope.text.temporary(32));
}

/** Takes what an instruction has given into the pool. */
function take({ text }: Scope, given: readonly string[]): void {
  const sum = text.register(32);
  for (const register of given) text.add(`mad.lo.u32 ${sum}, ${sum}, 3, ${register};`);
}

/** A fetch from a texture. */
export function fetchTexel(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const found = random.pick(module.images.filter(({ as }) => as === "texture"));
  const { geometry, result } = found;
  const isCube = geometry === "cube";
  const integers = !isCube && random.chance(0.3);
  const handle = handleOf(scope, found);
  const at = vector(coordinatesOf(scope, found, integers));
  const isHalf = result === "f32" && random.chance(0.2);
  const given = isHalf ? Array.from({ length: 4 }, () => text.temporary(16)) : results(scope);
  const head = `.${geometry}.v4.${isHalf ? "f16" : result}.${integers ? "s32" : "f32"} ${vector(given)}, [${handle}, ${at}]`;
  if (geometry === "2d" && result === "f32" && !isHalf && random.chance(0.2)) {
    text.add(
      `tld4.${random.pick(["r", "g", "b", "a"])}.2d.v4.f32.f32 ${vector(given)}, [${handle}, ${vector(coordinatesOf(scope, found, false))}];`,
    );
  } else if (!integers && random.chance(0.3)) {
    const level = text.temporary(32);
    text.add(`and.b32 ${level}, ${text.register(32)}, 7;`, `cvt.rn.f32.u32 ${level}, ${level};`);
    text.add(`mul.rn.f32 ${level}, ${level}, 0f3F000000;`, `tex.level${head}, ${level};`);
  } else if (!integers && random.chance(0.2)) {
    const steps = geometry === "cube" || geometry === "3d" ? 4 : axesOf(geometry);
    const gradient = (): string => vector(Array.from({ length: steps }, () => step(scope)));
    text.add(`tex.grad${head}, ${gradient()}, ${gradient()};`);
  } else text.add(`tex${head};`);
  const words = isHalf ? results(scope) : given;
  if (isHalf) for (const [n, word] of words.entries()) text.add(`cvt.u32.u16 ${word}, ${given[n]!};`);
  take(scope, words);
}

/** A query of an image. */
export function queryImage(scope: Scope): void {
  const { text, module } = scope;
  const found = text.random.pick(module.images);
  const what = text.random.pick(["width", "height", "depth", "channel_data_type", "channel_order"]);
  const [first] = results(scope) as [string];
  text.add(`${found.as === "texture" ? "txq" : "suq"}.${what}.b32 ${first}, [${handleOf(scope, found)}];`);
  take(scope, [first]);
}

/** A load from a surface, or a reduction of a word of it, which nobody reads before the kernel has ended. */
export function accessSurface(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const surfaces = module.images.filter(({ as, use }) => as === "surface" && use === undefined);
  if (surfaces.length === 0) {
    queryImage(scope);
    return;
  }
  const found = random.pick(surfaces);
  // Faces of a cube are layers of a surface.
  const geometry = found.geometry === "cube" ? "a2d" : found.geometry;
  const handle = handleOf(scope, found);
  const bits = random.pick([8, 16, 32] as const);
  const place = coordinatesOf(scope, { ...found, geometry }, true);
  const x = geometry.startsWith("a") ? 1 : 0;
  text.add(`shl.b32 ${place[x]!}, ${place[x]!}, ${Math.log2(bits / 8)};`);
  const bounds = random.pick(["zero", "clamp"]);
  // An element that a clamped place would leave in the middle of is an error.
  const isWhole = (found.image.width * bytesOf(found.image.type) * (found.image.channels ?? 1)) % (bits / 8) === 0;
  const outside = isWhole ? bounds : "zero";
  const [first] = results(scope) as [string];
  const value = bits === 8 || bits === 16 ? text.temporary(16) : first;
  text.add(`suld.b.${geometry}.b${bits}.${outside} ${value}, [${handle}, ${vector(place)}];`);
  if (value !== first) text.add(`cvt.u32.u16 ${first}, ${value};`);
  take(scope, [first]);
}

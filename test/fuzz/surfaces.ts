import type { ImageOptions } from "../../src/runtime/data/image.ts";
import { handleOf, type RandomImage, vector } from "./images.ts";
import type { Random } from "./random.ts";
import type { Scope } from "./scope.ts";

/*
 * Surfaces that threads store to or reduce into. So that no order counts, a thread stores to the texel that has its
 * number, or all to the next one, in which it may see what it has stored, and a surface is reduced by one operation.
 */

type Geometry = "1d" | "2d" | "3d" | "a1d" | "a2d";

const formats = [
  ...(["f32", "f32", "f16", "u8", "s8", "u16", "s16", "u32", "s32"] as const),
  ...(["unorm8", "snorm8", "unorm16", "snorm16"] as const),
];

const bitsOf = (type: string): number => Number(/\d+$/.exec(type)![0]);

/** An image of at least so many texels. */
function shapeOf(random: Random, geometry: Geometry, texels: number): Omit<ImageOptions, "type"> {
  const more = texels + random.below(5);
  if (geometry === "1d") return { width: more };
  const width = random.between(1, Math.max(1, Math.min(40, texels)));
  const rows = Math.ceil(more / width);
  if (geometry === "2d") return { width, height: rows };
  if (geometry === "a1d") return { width, layers: rows };
  const height = random.between(1, 8);
  const planes = Math.ceil(rows / height);
  return geometry === "3d" ? { width, height, depth: planes } : { width, height, layers: planes };
}

const other = { as: "surface", texture: {}, result: "u32" } as const;

/** Surfaces that so many threads write. */
export const writtenSurfaces = (random: Random, threads: number): RandomImage[] => [
  storedSurface(random, "stored", threads),
  reducedSurface(random, "reduced"),
];

/** A surface that has a texel for each of so many threads. */
function storedSurface(random: Random, parameter: string, threads: number): RandomImage {
  const geometry = random.pick(["1d", "2d", "3d", "a1d", "a2d"] as const);
  const channels = random.pick([1, 1, 2, 4] as const);
  const image = { type: random.pick(formats), channels, ...shapeOf(random, geometry, threads) };
  const moved = random.chance(0.3) ? random.pick([-1, 1, image.width]) : 0;
  return { ...other, parameter, geometry, image, use: "stored", moved };
}

/** A small surface of integers. */
function reducedSurface(random: Random, parameter: string): RandomImage {
  const geometry = random.pick(["1d", "2d", "3d"] as const);
  const formatted = random.chance(0.4);
  const op = random.pick(formatted ? ["add", "min", "max", "and", "or"] : ["add", "add", "min", "max", "and", "or"]);
  const isOrder = op === "min" || op === "max";
  const isLong = formatted ? isOrder && random.chance(0.4) : false;
  const types = op === "add" ? ["u32", "s32", "u64"] : isOrder ? ["u32", "s32", "u64", "s64"] : ["b32"];
  const type = formatted ? (isLong ? "b64" : "b32") : random.pick(types);
  const channels = isLong ? 2 : formatted ? 1 : random.pick([1, 2] as const);
  const format = random.pick(formatted ? ["u32", "s32"] : ["u32", "s32", "f32"]) as "u32" | "s32" | "f32";
  const image = { type: format, channels, ...shapeOf(random, geometry, random.between(1, 60)) };
  return { ...other, parameter, geometry, image, use: "reduced", reduction: { op, type, formatted } };
}

/** The coordinates of the thread's own texel: x, y, z, or the layer last. */
function ownTexel({ text }: Scope, { image, geometry, moved = 0 }: RandomImage): string[] {
  const { width, height = 1 } = image;
  const part = (opcode: string, from: string, by: number): string => {
    const register = text.temporary(32);
    text.add(`${opcode}.u32 ${register}, ${from}, ${by};`);
    return register;
  };
  const x = part("rem", "%gid", width);
  if (moved !== 0) text.add(`add.s32 ${x}, ${x}, ${moved};`);
  if (geometry === "1d") return [x];
  const row = part("div", "%gid", width);
  if (geometry === "2d") return [x, row];
  if (geometry === "a1d") return [x, row];
  return [x, part("rem", row, height), part("div", row, height)];
}

/** Coordinates as instructions have them: the layer first, and x in bytes where elements are raw. */
function written({ text }: Scope, { geometry }: RandomImage, place: readonly string[], bytes: number, plus: number) {
  const x = text.temporary(32);
  text.add(`mad.lo.s32 ${x}, ${place[0]!}, ${bytes}, ${plus};`);
  const all = geometry.startsWith("a") ? [place.at(-1)!, x, ...place.slice(1, -1)] : [x, ...place.slice(1)];
  return vector(all.length === 3 ? [...all, all[1]!] : all);
}

/** A store to the thread's own texel, or a load of what it has stored. */
function accessOwn(scope: Scope, surface: RandomImage): void {
  const { text } = scope;
  const { random } = text;
  const { image, geometry, moved = 0 } = surface;
  const texelBytes = (bitsOf(image.type) / 8) * (image.channels ?? 1);
  const isFormatted = !geometry.startsWith("a") && random.chance(0.5);
  // A row ends within what has been moved: `.clamp` would take it to the texel of another thread.
  const bounds = moved === 0 ? random.pick(["zero", "clamp", "trap"]) : "zero";
  const place = ownTexel(scope, surface);
  const handle = handleOf(scope, surface);
  if (isFormatted) {
    const count = random.pick([1, 2, 4]);
    const at = written(scope, surface, place, 1, 0);
    const given = Array.from({ length: count }, () => channelOf(scope, image.type));
    const [kind, values] = count === 1 ? ["", given[0]!] : [`.v${count}`, vector(given)];
    text.add(`sust.p.${geometry}${kind}.b32.${bounds} [${handle}, ${at}], ${values};`);
    return;
  }
  const sizes = ([8, 16, 32, 64] as const).filter((bits) => bits / 8 <= texelBytes);
  const bits = random.pick(sizes);
  const count = random.pick([1, 2, 4].filter((n) => (n * bits) / 8 <= texelBytes && n * bits <= 128));
  const bytes = (count * bits) / 8;
  const at = written(scope, surface, place, texelBytes, bytes * random.below(texelBytes / bytes));
  const width = bits === 8 ? 16 : bits;
  const kind = count === 1 ? "" : `.v${count}`;
  const isLoad = random.chance(0.3);
  const registers = Array.from({ length: count }, () => (isLoad ? text.temporary(width) : text.register(width)));
  const values = count === 1 ? registers[0]! : vector(registers);
  if (!isLoad) {
    text.add(`sust.b.${geometry}${kind}.b${bits}.${bounds} [${handle}, ${at}], ${values};`);
    return;
  }
  text.add(`suld.b.${geometry}${kind}.b${bits}.${bounds} ${values}, [${handle}, ${at}];`);
  const sum = text.register(width);
  for (const register of registers) text.add(`xor.b${width} ${sum}, ${sum}, ${register};`);
}

/** A channel's value: any bits, or a number near those that the format has. */
function channelOf({ text }: Scope, type: string): string {
  const { random } = text;
  const from = text.register(32);
  if (!/^f|norm/.test(type) || random.chance(0.3)) return from;
  const register = text.temporary(32);
  text.add(`and.b32 ${register}, ${from}, 4095;`, `sub.s32 ${register}, ${register}, 2048;`);
  const scale = type.startsWith("f") ? "0f3E000000" : "0f3A800000";
  text.add(`cvt.rn.f32.s32 ${register}, ${register};`, `mul.rn.f32 ${register}, ${register}, ${scale};`);
  return register;
}

/** A reduction at any place. */
function reduceAnywhere(scope: Scope, surface: RandomImage): void {
  const { text } = scope;
  const { random } = text;
  const { image, geometry, reduction } = surface;
  const { op, type, formatted } = reduction!;
  const bytes = bitsOf(type) / 8;
  const place = Array.from({ length: Number(geometry.at(-2)) }, () => {
    const register = text.temporary(32);
    text.add(`and.b32 ${register}, ${text.register(32, random.chance(0.2))}, 31;`);
    text.add(`sub.s32 ${register}, ${register}, ${random.between(0, 4)};`);
    return register;
  });
  const rowBytes = image.width * 4 * (image.channels ?? 1);
  // An element that a clamped place would leave in the middle of is an error.
  const bounds = formatted || rowBytes % bytes === 0 ? random.pick(["zero", "clamp"]) : "zero";
  const at = written(scope, surface, place, formatted ? 1 : bytes, 0);
  const given = text.register(bitsOf(type) as 32 | 64);
  const form = formatted ? "p" : "b";
  text.add(`sured.${form}.${op}.${geometry}.${type}.${bounds} [${handleOf(scope, surface)}, ${at}], ${given};`);
}

/** A store to a surface, or a reduction of an element of one. */
export function updateSurface(scope: Scope): void {
  const { random } = scope.text;
  const surfaces = scope.module.images.filter(({ use }) => use !== undefined);
  const found = random.pick(surfaces);
  if (found.use === "stored") accessOwn(scope, found);
  else reduceAnywhere(scope, found);
}

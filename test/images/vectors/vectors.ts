import { type ChannelType, Device, type ImageOptions, type TextureOptions } from "../../../src/runtime/index.ts";
import type { EngineName } from "../../../src/runtime/launch/launch-options.ts";
import { type Candidate, instructionSet } from "../../../src/ptx/isa/index.ts";

/*
 * Vectors of textures and surfaces: what 32 lanes give, and what they or the surface have afterwards. A
 * `.image-vectors` file, which reference.py writes, has groups:
 *
 *     ## PTX 9.7.10.3 ...                    origin of the expectations
 *     tex.level.2d.v4.f32.f32 sampler        an opcode; `sampler`: the texture's sampler is an operand of its own
 *       image f32x4 8x5 layers=3 levels=2    type and number of channels, size; `cube`
 *       texture filter=linear normalized     how it is sampled
 *       c 0.5 1.25 ...                       for each coordinate the numbers of 32 lanes (layer and sample first)
 *       lod, dx, dy                          likewise the level, the elements of gradients
 *       e 1 -2                               offsets in texels
 *       v 3f800000 ...                       for each element that is stored or reduced its bits, in hexadecimal
 *       d 42 7 ...                           for each result what it is: integers, or bits of floats and surfaces
 *       after 0b3055...                      the bytes of the surface
 *       kind sampler                         what a query is of; else a surface, or a texture
 *
 * Channel n of all channels of an image, in the order of memory, is (37 n + 11) mod 251: as it is in unsigned ones, less
 * 125 in s16, s32 and f32, and half of it (rounded down) less 60 in f16 and s8. The bytes of a surface are such numbers.
 */

export interface ImageVector {
  readonly file: string;
  readonly line: number;
  readonly origin: string;
  readonly opcode: string;
  readonly candidate: Candidate;
  readonly hasSampler: boolean;
  readonly image: ImageOptions;
  readonly texture: TextureOptions;
  readonly rows: Rows;
}

const lanes = 32;

/** Rows of words, by name, in order. */
export type Rows = ReadonlyMap<string, readonly (readonly string[])[]>;

/** The vectors of a text: the line that begins one, and its rows. */
export function rowsOf(text: string): { line: number; origin: string; head: string; rows: Rows }[] {
  const found: { line: number; origin: string; head: string; rows: Map<string, string[][]> }[] = [];
  let origin = "";
  text.split("\n").forEach((line, index) => {
    if (line.startsWith("## ")) origin = line.slice(3);
    else if (line.startsWith("  ")) {
      const [name = "", ...words] = line.trim().split(" ");
      const { rows } = found.at(-1)!;
      rows.set(name, [...(rows.get(name) ?? []), words]);
    } else if (line !== "" && !line.startsWith("#")) {
      found.push({ line: index + 1, origin, head: line, rows: new Map() });
    }
  });
  return found;
}

/** Parses the vectors of a file. */
export const parseImageVectors = (file: string, text: string): ImageVector[] =>
  rowsOf(text).map(({ line, origin, head, rows }) => {
    const [opcode = "", sampler] = head.split(" ");
    return vectorOf({ file, line, origin, opcode, hasSampler: sampler !== undefined, rows });
  });

type Read = Omit<ImageVector, "candidate" | "image" | "texture">;

function vectorOf(read: Read): ImageVector {
  const bracket = read.hasSampler ? "[a,b,c]" : "[a,c]";
  const candidate = instructionSet
    .resolve(read.opcode)
    .candidates.find(
      ({ form }) => !form.text.includes("[a,") || form.text.includes(bracket) || !form.text.includes("c]"),
    );
  if (candidate === undefined) throw new Error(`${read.file}:${read.line}: there is no ${read.opcode}`);
  return { ...read, candidate, image: imageRow(read.rows), texture: textureRow(read.rows) };
}

/** The image of a vector. */
export function imageRow(rows: Rows): ImageOptions {
  const [kind = "", size = "", ...rest] = rows.get("image")![0]!;
  const [type, channels] = kind.split("x") as [ChannelType, string];
  const [width = 1, height, depth] = size.split("x").map(Number);
  const more = Object.fromEntries(
    rest.map((word) => (word === "cube" ? ["cube", true] : [word.split("=")[0], Number(word.split("=")[1])])),
  );
  return {
    ...{ type, channels: Number(channels) as 1 | 2 | 4, width },
    ...(height === undefined ? {} : { height }),
    ...(depth === undefined ? {} : { depth }),
    ...more,
  };
}

/** How the image is sampled. */
export function textureRow(rows: Rows): TextureOptions {
  const words = (rows.get("texture")?.[0] ?? []).map((word) => word.split("=") as [string, string?]);
  const entries = words.map(([name, value]) => {
    if (value === undefined) return [name, true];
    return [name, name === "border" ? value.split(",").map(Number) : value === "false" ? false : value];
  });
  return Object.fromEntries(entries) as TextureOptions;
}

/** The n-th channel of an image: see above. */
export function channel(type: ChannelType, n: number): number {
  const number = (37 * n + 11) % 251;
  if (type.startsWith("u")) return number;
  return type === "f32" || type === "s16" || type === "s32" ? number - 125 : Math.floor(number / 2) - 60;
}

/** What the manual calls an operand: its coordinates, level, gradients, offset. */
interface Operands {
  readonly declarations: string;
  readonly loads: readonly string[];
  readonly rest: readonly string[];
  readonly coordinates: string;
  /** Words of the lanes, operand by operand. */
  readonly words: Uint32Array;
}

/** Pads vectors of three to four, as the manual asks. */
const vector = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `{${(names.length === 3 ? [...names, names[0]!] : names).join(", ")}}`;

const bitsOfFloat = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;

function operandsOf({ opcode, rows, candidate }: ImageVector): Operands {
  const words: number[] = [];
  const loads: string[] = [];
  const names = new Map<string, string[]>();
  const isFetch = candidate.form.text.startsWith("tex") || candidate.form.text.startsWith("tld4");
  const ctype = isFetch ? opcode.split(".").at(-1)! : "s32";
  const indices = (/\.a2dms/.test(opcode) ? 2 : 1) * Number(/\.(a1d|a2d|acube|2dms|a2dms)\./.test(opcode));
  for (const name of ["c", "lod", "dx", "dy"]) {
    for (const [i, row] of (rows.get(name) ?? []).entries()) {
      const isInteger = name === "c" ? ctype === "s32" || i < indices : name === "lod" && ctype === "s32";
      words.push(...row.map((word) => (isInteger ? Number(word) : bitsOfFloat(Number(word)))));
      const register = `%${isInteger ? "i" : "f"}${loads.length}`;
      loads.push(`ld.global.b32 ${register}, [%in + ${4 * lanes * loads.length}];`);
      names.set(name, [...(names.get(name) ?? []), register]);
    }
  }
  const lists = [...(names.get("dx") ? [names.get("dx")!, names.get("dy")!] : [])];
  const offset = rows.get("e")?.[0] ?? null;
  return {
    declarations: `.reg .b32 %i<16>; .reg .f32 %f<16>;`,
    loads,
    coordinates: vector(names.get("c") ?? []),
    rest: [
      ...(names.get("lod") ?? []),
      ...lists.map((list) => (list.length === 1 ? `{${list[0]!}}` : vector(list))),
      ...(offset === null ? [] : [offset.length === 1 ? `{${offset[0]!}}` : vector(offset)]),
    ],
    words: Uint32Array.from(words),
  };
}

/** Bits of the elements that a vector loads, stores or gives. */
const elementBits = (type: string): number => Number(/\d+/.exec(type)![0]);

/** The type of elements, and how many registers of how many bits hold them. */
function elementsOf({ opcode, rows }: ImageVector): { count: number; bits: number } {
  const parts = opcode.split(".");
  if (parts[0] === "tex" || parts[0] === "tld4") {
    const type = parts.at(-2)!;
    return { count: rows.get("d")!.length, bits: type === "f16" ? 16 : 32 };
  }
  if (rows.has("kind")) return { count: 1, bits: 32 };
  return { count: (rows.get("d") ?? rows.get("v"))!.length, bits: elementBits(parts.at(-2)!) };
}

/** The instruction, between its operands and results in registers. */
function instructionOf({ opcode, rows }: ImageVector, data: readonly string[], place: string, rest: readonly string[]) {
  const list = vectorOfData(data);
  if (opcode.startsWith("istypep")) return `${opcode} %p, %t; selp.b32 ${list}, 1, 0, %p;`;
  if (rows.has("kind")) return `${opcode} ${[list, "[%t]", ...rest].join(", ")};`;
  const first = rows.has("v") ? [place, list] : [list, place];
  return `${opcode} ${[...first, ...rest].join(", ")};`;
}

function kernelOf(one: ImageVector, operands: Operands): string {
  const { hasSampler, rows } = one;
  const { count, bits } = elementsOf(one);
  const held = Math.max(16, bits);
  const data = Array.from({ length: count }, (_, i) => `%d${i}`);
  const handles = `%t, ${hasSampler ? "%s, " : ""}`;
  const c = operands.coordinates;
  const place = `[${handles}${c.startsWith("{") ? c : `{${c}}`}]`;
  const given = rows.has("v");
  const instruction = instructionOf(one, data, place, operands.rest);
  const at = (i: number): string => `[%data + ${8 * lanes * i}]`;
  const loads = given ? data.map((d, i) => `ld.global.b${held} ${d}, ${at(i)};`) : [];
  const stores = given ? [] : data.map((d, i) => `st.global.b${held} ${at(i)}, ${d};`);
  return `.version 8.6
.target sm_90${hasSampler ? ", texmode_independent" : ""}
.address_size 64
.entry k(.param .u64 t, .param .u64 s, .param .u64 in, .param .u64 data) {
  .reg .b64 %t, %s, %in, %data; .reg .b32 %lane; .reg .b${held} %d<4>; .reg .pred %p; ${operands.declarations}
  ld.param.u64 %t, [t]; ld.param.u64 %s, [s]; ld.param.u64 %in, [in]; ld.param.u64 %data, [data];
  mov.u32 %lane, %tid.x;
  mad.wide.u32 %in, %lane, 4, %in; mad.wide.u32 %data, %lane, 8, %data;
  ${[...operands.loads, ...loads, instruction, ...stores].join("\n  ")}
  ret;
}`;
}

const vectorOfData = (names: readonly string[]): string => (names.length === 1 ? names[0]! : `{${names.join(", ")}}`);

/** What an engine gives for a vector, in the words in which the vector says it. */
export function runImageVector(one: ImageVector, engine: EngineName): { got: unknown; wanted: unknown } {
  const device = new Device({ engine });
  const { image: shape, texture, rows, opcode, hasSampler } = one;
  const image = device.image(shape);
  const isSurface = opcode.startsWith("su");
  const kind = rows.get("kind")?.[0]?.[0] ?? (isSurface ? "surface" : "texture");
  if (isSurface) image.buffer.writeBytes(Uint8Array.from({ length: image.byteLength }, (_, n) => (37 * n + 11) % 251));
  else {
    const count = (image.byteLength * 8) / elementBits(shape.type);
    image.write(Array.from({ length: count }, (_, n) => channel(shape.type, n)));
  }
  // In independent mode nothing of the texture's own sampler counts, but that coordinates are normalized.
  const { normalized = false } = texture;
  const sampler = device.sampler(texture);
  const handle =
    kind === "sampler"
      ? sampler
      : kind === "surface"
        ? image.surface()
        : image.texture(hasSampler ? { normalized } : texture);
  const operands = operandsOf(one);
  const { count, bits } = elementsOf(one);
  const given = (rows.get("v") ?? []).flatMap((row) => row.map((word) => BigInt(`0x${word}`)));
  const data = device.buffer("u64", given.length > 0 ? given : lanes * count);
  const args = [handle, sampler, device.buffer(operands.words), data];
  const { reports, ...result } = device
    .load(kernelOf(one, operands))
    .kernel("k")
    .launch({ grid: 1, block: lanes, args });
  const messages = reports.map(({ message }) => message);
  if (messages.length > 0) return { got: messages, wanted: [] };
  if (result.engine !== engine) return { got: result.engine, wanted: engine };
  const after = rows.get("after")?.[0]?.[0];
  if (after !== undefined) return { got: Buffer.from(image.buffer.readBytes()).toString("hex"), wanted: after };
  const words = Array.from(data.read() as BigUint64Array);
  const isInteger = rows.has("kind") || /^(tex|tld4)\..*\.[us]32\.[sf]32$/.test(opcode);
  const shown = (word: bigint): string => {
    const value = BigInt.asUintN(bits, word);
    return isInteger
      ? String(opcode.includes(".s32.") && !opcode.includes(".u32.") ? BigInt.asIntN(32, value) : value)
      : value.toString(16);
  };
  const got = Array.from({ length: count }, (_, i) => words.slice(lanes * i, lanes * (i + 1)).map(shown));
  return { got, wanted: rows.get("d") };
}

import { expect, test } from "vitest";
import { type Form, instructionSet } from "../../src/ptx/isa/index.ts";
import { Device, type TextureOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { opcodesOfPairs } from "../ptx/isa/opcodes.ts";
import { faceAt, sampleAt, type Sampling, type Shape, texelAt, type Texels, texelsOf } from "./model.ts";

/*
 * Every form of tex and tld4 with every choice of its modifiers, in both engines, against the model. Coordinates are
 * multiples of 1/32 of a texel, so that weights are exact.
 */

const lanes = 32;

const shapes: Readonly<Record<string, Shape>> = {
  "1d": { width: 8, levels: 3 },
  a1d: { width: 8, layers: 3, levels: 3 },
  "2d": { width: 8, height: 4, levels: 3 },
  a2d: { width: 8, height: 4, layers: 3, levels: 3 },
  "3d": { width: 8, height: 4, depth: 4, levels: 3 },
  cube: { width: 4, height: 4, cube: true, levels: 2 },
  acube: { width: 4, height: 4, cube: true, layers: 2, levels: 2 },
  "2dms": { width: 8, height: 4, samples: 4 },
  a2dms: { width: 8, height: 4, samples: 4, layers: 3 },
};

/** One form with one opcode: what is written, and how. */
interface Case {
  readonly opcode: string;
  readonly words: readonly string[];
  readonly geom: string;
  readonly dtype: string;
  readonly integers: boolean;
  readonly mode: "base" | "level" | "grad" | "gather";
  readonly component: number;
  readonly hasSampler: boolean;
  readonly hasOffset: boolean;
  readonly compares: boolean;
  readonly asks: boolean;
}

function caseOf(form: Form, opcode: string, n: number): Case {
  const words = opcode.split(".");
  const geom = words.find((word) => word in shapes)!;
  const types = words.slice(words.indexOf(geom) + 1).filter((word) => /^[usf]\d/.test(word));
  const isGather = words[0] === "tld4";
  const isFloat = types[0]!.startsWith("f");
  const integers = types[1] === "s32";
  const depths = isFloat && !integers && !geom.startsWith("3") && !geom.endsWith("ms");
  const mode = isGather ? "gather" : words.includes("level") ? "level" : words.includes("grad") ? "grad" : "base";
  return {
    ...{ opcode, words, geom, dtype: types[0]!, integers, mode },
    component: "rgba".indexOf(words[1]!),
    hasSampler: form.text.includes("[a,b,c]"),
    hasOffset: !geom.endsWith("cube") && (n & 1) === 1,
    compares: depths && (n & 2) === 2,
    asks: (n & 4) === 4,
  };
}

const casesOf = (form: Form): Case[] => opcodesOfPairs(form).map((opcode, n) => caseOf(form, opcode, n));

const forms = instructionSet.instructions
  .filter(({ name }) => name === "tex" || name === "tld4")
  .flatMap((instruction) => instruction.forms);

const axes = (geom: string): number => (geom.includes("3") ? 3 : geom.includes("2") || geom.endsWith("cube") ? 2 : 1);
const hash = (n: number): number => (Math.imul(n + 7, 0x9e37_79b1) >>> 8) & 0xffff;

/** What a lane asks for, in the model's terms. */
interface Question {
  readonly layer: number;
  readonly sample: number;
  /** In texels of the base level; of a cube a direction. */
  readonly place: readonly number[];
  readonly lod: number;
  readonly reference: number;
}

const offset = [1, -2, 1];

function question({ geom, integers, mode }: Case, lane: number): Question {
  const { width, height = 1, depth = 1, layers = 1, samples = 1, levels = 1 } = shapes[geom]!;
  const at = (salt: number, size: number): number => {
    const texels = (hash(lane * 5 + salt) % (32 * (size + 2))) / 32 - 1;
    return integers ? Math.floor(texels) : texels;
  };
  // Centres of texels of a face, of both levels: no edge is near.
  const along = [-0.75, -0.25, 0.25, 0.75][hash(lane) & 3]! + (mode === "gather" ? 0.03125 : 0);
  const across = [-0.25, 0.25][hash(lane + 99) & 1]!;
  const sign = lane & 1 ? 1 : -1;
  const direction = [
    [sign, along, across],
    [along, sign, across],
    [across, along, sign],
  ][lane % 3]!;
  return {
    layer: hash(lane + 50) % layers,
    sample: hash(lane + 60) % samples,
    place: geom.endsWith("cube") ? direction : [at(1, width), at(2, height), at(3, depth)].slice(0, axes(geom)),
    lod: mode === "base" || mode === "gather" ? 0 : lane % levels,
    reference: (hash(lane + 70) % 16) - 8,
  };
}

function samplingOf({ compares, geom, integers, dtype }: Case, { reference }: Question): Sampling {
  const linear = !integers && dtype === "f32" && !geom.endsWith("cube");
  const passes = (value: number): number => (reference <= value ? 1 : 0);
  const map = (texel: readonly number[]): readonly number[] => texel.map(() => passes(texel[0]!));
  return { mode: "clamp", linear, ...(compares ? { map } : {}) };
}

/** What the model gives. */
function expected(one: Case, texels: Texels, lane: number): readonly number[] {
  const asked = question(one, lane);
  const how = samplingOf(one, asked);
  const { geom, mode, hasOffset } = one;
  const { width, height = 1, depth = 1 } = shapes[geom]!;
  const moved = hasOffset ? offset : [];
  const isCube = geom.endsWith("cube");
  const met = isCube ? faceAt(asked.place as [number, number, number]) : null;
  const levels = texels[asked.lod]!;
  const plane = levels[met === null ? asked.layer : 6 * asked.layer + met.face]!;
  const slices = geom.endsWith("ms") ? [plane[asked.sample]!] : plane;
  const size = [width, height, depth].map((n) => Math.max(1, n >> asked.lod));
  const scale = (u: number, axis: number): number => (u * size[axis]!) / [width, height, depth][axis]!;
  const base = met === null ? asked.place : [met.s * width, met.t * height];
  const place = one.integers ? base : base.map(scale);
  if (mode !== "gather") return sampleAt(slices, place, moved, how);
  const [i, j] = place.map((x, axis) => Math.floor(x - 0.5) + (moved[axis] ?? 0)) as [number, number];
  const corners = [[i, j + 1], [i + 1, j + 1], [i + 1, j], [i, j]]; // biome-ignore format: one line
  return corners.map((corner) => texelAt(slices, corner, how)[one.component]!);
}

/** The lane's words: coordinates, level, gradients, the value to compare. */
function wordsOf(one: Case, lane: number): { floats: number[]; integers: number[] } {
  const asked = question(one, lane);
  const { geom, integers, mode } = one;
  const { width, height = 1, depth = 1 } = shapes[geom]!;
  const isCube = geom.endsWith("cube");
  const indices = [...(geom.endsWith("ms") ? [asked.sample] : []), ...(geom.startsWith("a") ? [asked.layer] : [])];
  const coordinates = asked.place.map((x, axis) => (integers || isCube ? x : x / [width, height, depth][axis]!));
  const long = 2 ** asked.lod;
  // A step along an axis on which directions are short leaves the face as it is; a face is 2 wide.
  const step = isCube ? (2 * long) / width : integers ? long : long / width;
  const axis = isCube ? [1, 0, 1][lane % 3]! : 0;
  const gradient = (by: number): number[] => [0, 1, 2, 3].map((n) => (n === axis ? by : 0));
  const list = [...indices, ...coordinates, 0, 0, 0, 0].slice(0, 4);
  return {
    floats: [...list, mode === "level" ? asked.lod : 0, ...gradient(step / 2), ...gradient(step), asked.reference],
    integers: [...list.map((x) => Math.trunc(x)), asked.lod],
  };
}

function kernelOf(one: Case): string {
  const { opcode, geom, dtype, integers, mode } = one;
  const counts: Record<string, number> = { "1d": 1, "2d": 2, a1d: 2 };
  const count = counts[geom] ?? 4;
  const isIndex = (i: number): boolean => integers || (geom.startsWith("a") && i === 0);
  const coordinates = Array.from({ length: count }, (_, i) => (isIndex(i) ? `%i${i}` : `%f${i}`));
  const loads = Array.from({ length: 14 }, (_, i) => `ld.global.f32 %f${i}, [%in + ${4 * i}];`);
  const words = Array.from({ length: 5 }, (_, i) => `ld.global.u32 %i${i}, [%in + ${64 + 4 * i}];`);
  const results = dtype === "f16x2" ? 2 : 4;
  const bits = dtype === "f16" ? "b16" : "b32";
  const d = Array.from({ length: results }, (_, i) => `%d${i}`);
  const size = axes(geom);
  const gradient = (from: number): string => {
    const elements = geom.endsWith("cube") || size === 3 ? 4 : size;
    return `{${Array.from({ length: elements }, (_, i) => `%f${from + i}`).join(", ")}}`;
  };
  const more = [
    ...(mode === "level" ? [integers ? "%i4" : "%f4"] : []),
    ...(mode === "grad" ? [gradient(5), gradient(9)] : []),
    ...(one.hasOffset ? [`{${[...offset, 0].slice(0, size === 3 ? 4 : size).join(", ")}}`] : []),
    ...(one.compares ? ["%f13"] : []),
  ];
  const p = one.asks ? "|%p" : "";
  const operands = [
    `{${d.join(", ")}}${p}`,
    `[%t, ${one.hasSampler ? "%s, " : ""}{${coordinates.join(", ")}}]`,
    ...more,
  ];
  const stores = d.map((r, i) => `st.global.${bits} [%out + ${i * (bits === "b16" ? 2 : 4)}], ${r};`);
  return `.version 8.6
.target sm_90${one.hasSampler ? ", texmode_independent" : ""}
.address_size 64
.entry k(.param .u64 t, .param .u64 s, .param .u64 in, .param .u64 out) {
  .reg .b64 %t, %s, %in, %out; .reg .b32 %lane; .reg .f32 %f<14>; .reg .b32 %i<5>; .reg .${bits} %d<4>; .reg .pred %p;
  ld.param.u64 %t, [t]; ld.param.u64 %s, [s]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %lane, %tid.x;
  mad.wide.u32 %in, %lane, 128, %in; mad.wide.u32 %out, %lane, 16, %out;
  ${loads.join(" ")}
  ${words.join(" ")}
  setp.ne.u32 %p, %lane, %lane;
  ${opcode} ${operands.join(", ")};
  ${stores.join(" ")}
  ${one.asks ? "@!%p trap;" : ""}
  ret;
}`;
}

const typeOf = (dtype: string) => (dtype === "u32" ? "u16" : dtype === "s32" ? "s8" : "f32");

function run(one: Case, engine: (typeof usualEngines)[number]): void {
  const device = new Device({ engine });
  const shape = shapes[one.geom]!;
  const type = typeOf(one.dtype);
  const { texels, flat } = texelsOf(shape, 4, (n) => (type === "u16" ? hash(n) : (hash(n) % 16) - 8));
  const { linear } = samplingOf(one, question(one, 0));
  const options: TextureOptions = { seamless: false, normalized: !one.integers, filter: linear ? "linear" : "point" };
  const image = device.image({ type, channels: 4, ...shape }).write(flat);
  // In independent mode nothing of the texture's own sampler counts, but that coordinates are normalized.
  const texture = image.texture(one.hasSampler ? { address: "border", normalized: true } : options);
  const input = device.buffer("u32", lanes * 32);
  for (let lane = 0; lane < lanes; lane++) {
    const { floats, integers } = wordsOf(one, lane);
    input.write(new Uint32Array(Float32Array.from(floats).buffer), lane * 32);
    input.write(Uint32Array.from(integers), lane * 32 + 16);
  }
  const isHalf = one.dtype.startsWith("f16");
  const out = device.buffer(isHalf ? "f16" : (one.dtype as "f32" | "u32" | "s32"), lanes * (isHalf ? 8 : 4));
  const args = [texture, device.sampler(options), input, out];
  const result = device.load(kernelOf(one)).kernel("k").launch({ grid: 1, block: lanes, args });
  expect(result.reports.map(({ message }) => message)).toEqual([]);
  const values = out.read();
  const got = Array.from({ length: lanes }, (_, lane) => {
    const at = lane * (isHalf ? 8 : 4);
    return Array.from(values.subarray(at, at + 4) as ArrayLike<number>);
  });
  const wanted = Array.from({ length: lanes }, (_, lane) => expected(one, texels, lane).map((x) => x + 0));
  expect(got).toEqual(wanted);
}

for (const form of forms) {
  for (const engine of usualEngines) {
    test(`${form.text} (${engine})`, () => {
      for (const one of casesOf(form)) {
        try {
          run(one, engine);
        } catch (error) {
          throw new Error(`${one.opcode} ${one.hasOffset ? "offset " : ""}${one.compares ? "compare" : ""}`, {
            cause: error,
          });
        }
      }
    });
  }
}

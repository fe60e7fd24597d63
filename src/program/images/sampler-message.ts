import type { ImageFetch, ImageGeometry, MessageParameter, SamplerMessage, UnitOpOf } from "../../ir/index.ts";
import { numberToF16 } from "../../numeric/half.ts";
import { bitsOfFloat, channelInfo, floatOfBits } from "../../numeric/texel.ts";
import type { Image } from "../../machine/images/image.ts";
import { plainSampler, type Sampler } from "../../machine/images/sampler.ts";
import { forEachLane, unitFault } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { componentsOf, type FetchOperands, floatBits, isRaw } from "./fetch.ts";
import type { Sampled } from "./sample.ts";

/** The image bound to the index that an operand of a lane gives. @throws Fault if there is none */
export function boundImage(call: UnitCall, lane: number): Image {
  const index = call.word(0, lane);
  const image = call.x.warp.cta.grid.threads?.images?.get(index);
  if (image !== undefined) return image;
  throw unitFault(call, lane, "surface-unbound", `no image is bound to index ${index}`);
}

function boundSampler(call: UnitCall, lane: number): Sampler {
  const index = call.word(1, lane);
  const sampler = call.x.warp.cta.grid.threads?.samplers?.get(index);
  if (sampler !== undefined) return sampler;
  throw unitFault(call, lane, "bad-handle", `no sampler is bound to index ${index}`);
}

/** Loads give zeros outside an image, and need no sampler. */
const loading: Sampler = { ...plainSampler, address: ["border", "border", "border"] };

const axes = ["u", "v", "r"] as const;

const geometryOf = ({ cube, layers, dimensions, samples }: Image): ImageGeometry => {
  const kind = cube ? "cube" : `${dimensions}d${samples > 1 ? "ms" : ""}`;
  return `${layers === null ? "" : "a"}${kind}` as ImageGeometry;
};

/** How the level is found: a least one counts above the base level, too. */
const levelModeOf = ({ level, parameters }: SamplerMessage): SamplerMessage["level"] =>
  level === "base" && parameters.includes("mlod") ? "level" : level;

/** The parameters of a lane, as a fetch from an image of this kind has them. */
function operandsOf(
  { message }: UnitOpOf<"sampler-message">,
  image: Image,
  call: UnitCall,
  lane: number,
): FetchOperands {
  const { parameters, kind, offsets } = message;
  const level = levelModeOf(message);
  const isLoad = kind === "load";
  const hasPackedLayer = image.cube && image.layers !== null;
  const word = (name: MessageParameter): number => {
    const at = parameters.indexOf(name);
    if (at >= 0) return call.word(2 + at, lane);
    const packed = parameters.findIndex((p) => p === "lod_ai" || p === "bias_ai");
    if (packed < 0 || !(name === "ai" || parameters[packed] === `${name}_ai`)) return 0;
    const value = call.word(2 + packed, lane);
    if (name === "ai") return hasPackedLayer ? bitsOfFloat(value & 0x1ff) : 0;
    return hasPackedLayer ? value & ~0x1ff : value;
  };
  const number = (name: MessageParameter): number => (isLoad ? word(name) : floatOfBits(word(name)));
  const count = image.cube ? 3 : image.dimensions;
  const own = axes.slice(0, count);
  // The layer follows the coordinates that the image has; that of a cube has a parameter of its own.
  const layer = image.cube ? "ai" : ([...axes, undefined] as const)[count];
  const index = layer === undefined || image.layers === null ? 0 : number(layer);
  const lod =
    level === "level"
      ? // Without a neighbour the level that a bias is added to is 0.
        [number(parameters.some((p) => p.startsWith("bias")) ? "bias" : "lod")]
      : level === "gradients"
        ? [...own.map((a) => floatOfBits(word(`d${a}dx`))), ...own.map((a) => floatOfBits(word(`d${a}dy`)))]
        : [];
  return {
    sample: word("si") >>> 0,
    layer: Math.max(0, isLoad ? index : Math.floor(index + 0.5)),
    coordinates: own.map(number),
    lod,
    offsets: image.cube ? [] : axes.map((a, i) => offsets[i]! + word(`off${a}`)).slice(0, count),
    reference: parameters.includes("ref") ? floatOfBits(word("ref")) : null,
    leastLevel: parameters.includes("mlod") ? floatOfBits(word("mlod")) : null,
  };
}

function sampledOf(
  op: UnitOpOf<"sampler-message">,
  call: UnitCall,
  lane: number,
  operands: FetchOperands,
  image: Image,
): Sampled {
  const { kind, component } = op.message;
  const isFloat = channelInfo[image.format.type].value === "float";
  const bound = kind === "load" ? loading : boundSampler(call, lane);
  // Integers are not filtered; the colour outside is that of OpenCL: opaque black where there is no alpha.
  const border = bound.border.every((c) => c === 0) && image.format.channels < 4 && kind !== "load";
  const sampler: Sampler = {
    ...bound,
    filter: isFloat ? bound.filter : "point",
    ...(border ? { border: [0, 0, 0, 1] as const } : {}),
  };
  const fetch: ImageFetch = {
    geometry: geometryOf(image),
    integers: kind === "load",
    level: levelModeOf(op.message),
    gradients: operands.coordinates.length,
    offsets: operands.offsets.length,
    compares: operands.reference !== null,
    hasSampler: true,
    component: kind === "gather" ? component : null,
    result: isFloat ? "f32" : "u32",
  };
  const reading = { sRGB: false, raw: isRaw(fetch, image, sampler) };
  return { call, lane, image, sampler, reading, fetch, reference: operands.reference };
}

/** Samples an image, or loads texels of it, for each lane (3D_SAMPLE, 3D_LOAD, 3D_SAMPLE4). */
export const sendToSampler = (op: UnitOpOf<"sampler-message">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    const operands = operandsOf(op, image, call, lane);
    const sampled = sampledOf(op, call, lane, operands, image);
    const { channels, half } = op.message;
    const values = componentsOf(sampled, operands);
    const { raw } = sampled.reading;
    const bits = (value: number): number => {
      if (sampled.fetch.result !== "f32") return value | 0;
      if (half) return numberToF16(raw ? floatOfBits(value) : value);
      return raw ? value | 0 : floatBits(value);
    };
    for (const [i, c] of channels.entries()) call.give(i, lane, bits(values[c]!));
  });

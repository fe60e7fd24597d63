import type { ImageGeometry, MessageParameter, SamplerMessage, UnitOpOf } from "../../ir/index.ts";
import { numberToF16 } from "../../numeric/half.ts";
import { channelInfo, floatOfBits } from "../../numeric/texel.ts";
import type { Image } from "../../machine/images/image.ts";
import { plainSampler, type Sampler } from "../../machine/images/sampler.ts";
import { forEachLane, unitFault } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { floatBits } from "./fetch.ts";
import { TextureFetch } from "./texture-fetch.ts";

/** The image bound to the index that an operand of a lane gives. @throws Fault if there is none */
export function boundImage(call: UnitCall, lane: number): Image {
  const index = call.word(0, lane);
  const image = call.x.warp.cta.grid.threads?.images?.get(index);
  if (image !== undefined) return image;
  throw unitFault(call, lane, "surface-unbound", `no image is bound to index ${index}`);
}

/** The sampler bound to the index that an operand of a lane gives. @throws Fault if there is none */
export function boundSampler(call: UnitCall, lane: number): Sampler {
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

/** A parameter of a message: the number of its operand, or -1, and the bits that it has there. */
interface Parameter {
  readonly at: number;
  readonly mask: number;
}

const absent: Parameter = { at: -1, mask: 0 };
/** The bits of a packed parameter that are a layer. */
const packedLayer = 0x1ff;

/** What a message does with one image and one sampler, worked out once. */
class PreparedMessage {
  readonly unit: TextureFetch;
  readonly bound: Sampler;
  readonly #message: SamplerMessage;
  readonly #isFloat: boolean;
  readonly #coordinates: readonly Parameter[];
  /** The layer of a cube is an integer in a packed parameter. */
  readonly #layer: Parameter;
  readonly #hasIntegerLayer: boolean;
  /** The level, or the elements of two gradients. */
  readonly #lod: readonly Parameter[];
  readonly #offsets: readonly Parameter[];
  readonly #sample: Parameter;
  readonly #reference: Parameter;
  readonly #least: Parameter;

  constructor(message: SamplerMessage, image: Image, bound: Sampler) {
    this.#message = message;
    this.bound = bound;
    const { parameters, kind } = message;
    const isFloat = channelInfo[image.format.type].value === "float";
    this.#isFloat = isFloat;
    const hasPackedLayer = image.cube && image.layers !== null;
    const packed = parameters.findIndex((p) => p === "lod_ai" || p === "bias_ai");
    const of = (name: MessageParameter): Parameter => {
      const at = parameters.indexOf(name);
      if (at >= 0) return { at: 2 + at, mask: -1 };
      if (packed < 0) return absent;
      if (name === "ai") return hasPackedLayer ? { at: 2 + packed, mask: packedLayer } : absent;
      return parameters[packed] === `${name}_ai`
        ? { at: 2 + packed, mask: hasPackedLayer ? ~packedLayer : -1 }
        : absent;
    };
    const count = image.cube ? 3 : image.dimensions;
    const own = axes.slice(0, count);
    const level = levelModeOf(message);
    this.#coordinates = own.map(of);
    // The layer follows the coordinates that the image has; that of a cube has a parameter of its own.
    const layer = image.cube ? "ai" : ([...axes, undefined] as const)[count];
    this.#layer = layer === undefined || image.layers === null ? absent : of(layer);
    this.#hasIntegerLayer = kind === "load" || this.#layer.mask === packedLayer;
    // Without a neighbour the level that a bias is added to is 0.
    const lod = [of(parameters.some((p) => p.startsWith("bias")) ? "bias" : "lod")];
    const gradients = [...own.map((a) => of(`d${a}dx`)), ...own.map((a) => of(`d${a}dy`))];
    this.#lod = { base: [], level: lod, gradients }[level];
    this.#offsets = image.cube ? [] : own.map((a) => of(`off${a}`));
    this.#sample = of("si");
    this.#reference = of("ref");
    this.#least = of("mlod");
    // Integers are not filtered; the colour outside is that of OpenCL: opaque black where there is no alpha.
    const isBlack = bound.border.every((c) => c === 0) && image.format.channels < 4 && kind !== "load";
    this.unit = new TextureFetch({
      image,
      sRGB: false,
      sampler: {
        ...bound,
        filter: isFloat ? bound.filter : "point",
        ...(isBlack ? { border: [0, 0, 0, 1] as const } : {}),
      },
      fetch: {
        geometry: geometryOf(image),
        integers: kind === "load",
        level,
        gradients: count,
        offsets: this.#offsets.length,
        compares: this.#reference.at >= 0,
        hasSampler: true,
        component: kind === "gather" ? message.component : null,
        result: isFloat ? "f32" : "u32",
      },
    });
  }

  /** Reads the parameters of a lane. */
  read(call: UnitCall, lane: number): void {
    const { operands } = this.unit;
    const { offsets } = this.#message;
    const isLoad = this.#message.kind === "load";
    const word = ({ at, mask }: Parameter): number => (at < 0 ? 0 : call.word(at, lane) & mask);
    const float = (parameter: Parameter): number => floatOfBits(word(parameter));
    const number = isLoad ? word : float;
    operands.sample = word(this.#sample) >>> 0;
    operands.layer = Math.max(0, this.#hasIntegerLayer ? word(this.#layer) : Math.floor(float(this.#layer) + 0.5));
    for (const [i, parameter] of this.#coordinates.entries()) operands.coordinates[i] = number(parameter);
    const isLevel = this.#lod.length === 1;
    for (const [i, parameter] of this.#lod.entries()) {
      operands.lod[i] = isLevel ? number(parameter) : float(parameter);
    }
    for (const [i, parameter] of this.#offsets.entries()) operands.offsets[i] = offsets[i]! + word(parameter);
    operands.reference = float(this.#reference);
    if (this.#least.at >= 0) operands.leastLevel = float(this.#least);
  }

  /** A component as a result of the message. */
  bits(value: number): number {
    if (!this.#isFloat) return value | 0;
    const { isRaw } = this.unit;
    if (this.#message.half) return numberToF16(isRaw ? floatOfBits(value) : value);
    return isRaw ? value | 0 : floatBits(value);
  }
}

const prepared = new WeakMap<SamplerMessage, WeakMap<Image, PreparedMessage>>();

function prepare(message: SamplerMessage, image: Image, bound: Sampler): PreparedMessage {
  let byImage = prepared.get(message);
  if (byImage === undefined) prepared.set(message, (byImage = new WeakMap()));
  const known = byImage.get(image);
  if (known?.bound === bound) return known;
  const made = new PreparedMessage(message, image, bound);
  byImage.set(image, made);
  return made;
}

/** Samples an image, or loads texels of it, for each lane (3D_SAMPLE, 3D_LOAD, 3D_SAMPLE4). */
export function sendToSampler({ message }: UnitOpOf<"sampler-message">, call: UnitCall): void {
  const { channels, kind } = message;
  let last: Image | null = null;
  let lastSampler: Sampler | null = null;
  let of: PreparedMessage | null = null;
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    const bound = kind === "load" ? loading : boundSampler(call, lane);
    if (of === null || image !== last || bound !== lastSampler) {
      of = prepare(message, image, bound);
      of.unit.begin(call);
      last = image;
      lastSampler = bound;
    }
    of.read(call, lane);
    const values = of.unit.components(lane);
    for (const [i, c] of channels.entries()) call.give(i, lane, of.bits(values[c]!));
  });
}

import type { MessageParameter } from "../../ir/index.ts";

/** The parts of a doubleword that has several parameters of a message to the sampler. */
export interface Packing {
  /** Offsets in texels: signed numbers of so many bits, one after the other from bit `first` on. */
  readonly offsets: readonly MessageParameter[];
  readonly offsetBits: number;
  readonly first: number;
  /** The float without its low 12 bits, in place of which the rest lies. */
  readonly float?: MessageParameter;
  /** The low 12 bits, a whole number: the layer of an array. */
  readonly layer?: MessageParameter;
}

const uv = ["offu", "offv"] as const;
const uvr = ["offu", "offv", "offr"] as const;

/** Several parameters of a message to the sampler in one doubleword, by their name on the page 3D_SAMPLE. */
export type PackedParameters =
  | "offuvr"
  | "lodoffuvr"
  | "lodoffuv"
  | "biasoffuvr"
  | "offuv_r"
  | "offuvr_r"
  | "gather_offuv"
  | "gather_lodoffuv"
  | "gather_biasoffuv"
  | "gather_offuv_r"
  | "mlod_r";

/**
 * Parameters in one doubleword, by the names of the page 3D_SAMPLE. The page does not say where which bits are: IGC's
 * pass that makes these messages does, and Mesa's that makes those of gathers (six bits).
 */
export const packings: Readonly<Record<PackedParameters, Packing>> = {
  offuvr: { offsets: uvr, offsetBits: 4, first: 0 },
  lodoffuvr: { offsets: uvr, offsetBits: 4, first: 0, float: "lod" },
  lodoffuv: { offsets: uv, offsetBits: 4, first: 0, float: "lod" },
  biasoffuvr: { offsets: uvr, offsetBits: 4, first: 0, float: "bias" },
  offuv_r: { offsets: uv, offsetBits: 4, first: 12, layer: "r" },
  offuvr_r: { offsets: uvr, offsetBits: 4, first: 12, layer: "r" },
  gather_offuv: { offsets: uv, offsetBits: 6, first: 0 },
  gather_lodoffuv: { offsets: uv, offsetBits: 6, first: 0, float: "lod" },
  gather_biasoffuv: { offsets: uv, offsetBits: 6, first: 0, float: "bias" },
  gather_offuv_r: { offsets: uv, offsetBits: 6, first: 12, layer: "r" },
  mlod_r: { offsets: [], offsetBits: 0, first: 0, float: "mlod", layer: "r" },
};

/** A parameter of a message to the sampler, or several in one doubleword. */
export type SamplerParameter = MessageParameter | PackedParameters;

/** The parts of a parameter that has several; null for one. */
export const packingOf = (parameter: SamplerParameter): Packing | null =>
  parameter in packings ? packings[parameter as keyof typeof packings] : null;

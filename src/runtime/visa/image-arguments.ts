import type { Image } from "../../machine/images/image.ts";
import { plainSampler, type Sampler } from "../../machine/images/sampler.ts";
import { channelDataTypes, channelOrders } from "../../program/images/query.ts";
import type { ArgumentValue } from "./arguments.ts";
import { bindlessIndex } from "./thread-memory.ts";
import type { InlineSampler, KernelInfo } from "./zeinfo.ts";

/** The values of payloads that say something about an image or a sampler that is an argument. */
export const imageItems = [
  ...["image_width", "image_height", "image_depth", "image_array_size", "image_num_samples", "image_num_mip_levels"],
  ...["image_channel_data_type", "image_channel_order", "image_srgb_channel_order"],
  ...["sampler_address", "sampler_normalized", "sampler_snap_wa"],
] as const;

/** OpenCL's numbers of addressing modes (cl_addressing_mode). */
const addressNumbers = { clamp: 0x1131, border: 0x1132, wrap: 0x1133, mirror: 0x1134 } as const;

function ofImage(item: string, { width, height, depth, layers, samples, levels, format }: Image): number {
  switch (item) {
    case "image_width":
      return width;
    case "image_height":
      return height;
    case "image_depth":
      return depth;
    case "image_array_size":
      return layers ?? 0;
    case "image_num_samples":
      return samples > 1 ? samples : 0;
    case "image_num_mip_levels":
      return levels > 1 ? levels : 0;
    case "image_channel_data_type":
      return channelDataTypes[format.type];
    default:
      return channelOrders[format.channels];
  }
}

/** A sampler of nearest texels and a border needs coordinates that the kernel itself rounds down: all bits, or none. */
function ofSampler(item: string, { address, filter, normalized }: Sampler): number {
  if (item === "sampler_address") return addressNumbers[address[0]];
  if (item === "sampler_normalized") return normalized ? 1 : 0;
  return filter === "point" && address[0] === "border" ? 0xffff_ffff : 0;
}

/** What a value of a payload says about an argument. */
export const attributeOf = (item: string, value: ArgumentValue): number =>
  value.kind === "image" ? ofImage(item, value.image) : value.kind === "sampler" ? ofSampler(item, value.sampler) : 0;

const inlineAddress = {
  none: "clamp",
  repeat: "wrap",
  clamp_edge: "clamp",
  clamp_border: "border",
  mirror: "mirror",
} as const;

function samplerOf({ address, filter, normalized }: InlineSampler): Sampler {
  const mode = inlineAddress[address];
  return { ...plainSampler, address: [mode, mode, mode], filter: filter === "linear" ? "linear" : "point", normalized };
}

/** The images and samplers of a launch by the indices to which they are bound. */
export function boundImages(
  info: KernelInfo,
  args: readonly ArgumentValue[],
): { readonly images: ReadonlyMap<number, Image>; readonly samplers: ReadonlyMap<number, Sampler> } {
  const images = new Map<number, Image>();
  const samplers = new Map(info.inlineSamplers.map((sampler) => [sampler.index, samplerOf(sampler)]));
  const add = (index: number, argument: number): void => {
    const value = args[argument]!;
    if (value.kind === "image") images.set(index, value.image);
  };
  for (const { index, argument } of info.bindings) add(index, argument);
  for (const { argument, addressMode, samplerIndex } of info.payload) {
    const value = argument === null ? null : args[argument]!;
    if (value?.kind === "sampler" && samplerIndex !== null) samplers.set(samplerIndex, value.sampler);
    if (addressMode === "bindless" && argument !== null) add(bindlessIndex(argument), argument);
  }
  return { images, samplers };
}

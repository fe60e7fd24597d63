import type { ImageQuery, UnitOpOf } from "../../ir/index.ts";
import type { ChannelType } from "../../numeric/texel.ts";
import type { Image, ImageFormat } from "../../machine/images/image.ts";
import { plainSampler, type Sampler } from "../../machine/images/sampler.ts";
import { forEachLane } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { refersTo, requireObject } from "./handles.ts";

/** OpenCL's enumerations, the only ones that PTX defines (section 5.3.3, tables 12 and 13). */
const channelDataTypes: { readonly [T in ChannelType]: number } = {
  ...{ snorm8: 0x10d0, snorm16: 0x10d1, unorm8: 0x10d2, unorm16: 0x10d3 },
  ...{ s8: 0x10d7, s16: 0x10d8, s32: 0x10d9, u8: 0x10da, u16: 0x10db, u32: 0x10dc, f16: 0x10dd, f32: 0x10de },
};
const channelOrders: { readonly [N in ImageFormat["channels"]]: number } = {
  ...{ 1: 0x10b0, 2: 0x10b2, 3: 0x10b4, 4: 0x10b5 },
};

/** The order of `enum { wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border }` (section 9.7.10.5). */
const addressNumbers = { wrap: 0, mirror: 1, clamp: 3, border: 4 } as const;

/** An attribute of an image, of a level of it, or of its sampler. */
function attribute(
  query: ImageQuery,
  { image, sampler }: { image: Image | null; sampler: Sampler },
  level: number,
): number {
  const size = image?.sizes[Math.max(0, Math.min(level, image.levels - 1))];
  switch (query) {
    case "width":
      return size?.width ?? 0;
    case "height":
      return image !== null && image.dimensions > 1 ? size!.height : 0;
    case "depth":
      return image !== null && image.dimensions > 2 ? size!.depth : 0;
    case "channel_data_type":
      return image === null ? 0 : channelDataTypes[image.format.type];
    case "channel_order":
      return image === null ? 0 : channelOrders[image.format.channels];
    case "array_size":
      return image?.layers ?? 0;
    case "memory_layout":
      return image !== null && image.layout !== "array" ? 1 : 0;
    case "num_mipmap_levels":
      return image !== null && image.levels > 1 ? image.levels : 0;
    case "num_samples":
      return image !== null && image.samples > 1 ? image.samples : 0;
    case "normalized_coords":
      return sampler.normalized ? 1 : 0;
    case "force_unnormalized_coords":
      return sampler.normalized ? 0 : 1;
    case "filter_mode":
      return sampler.filter === "linear" ? 1 : 0;
    case "addr_mode_0":
      return addressNumbers[sampler.address[0]];
    case "addr_mode_1":
      return addressNumbers[sampler.address[1]];
    case "addr_mode_2":
      return addressNumbers[sampler.address[2]];
  }
}

/** The attributes of samplers, which samplers of their own have too. */
const ofSamplers: ReadonlySet<ImageQuery> = new Set([
  "force_unnormalized_coords",
  "filter_mode",
  "addr_mode_0",
  "addr_mode_1",
  "addr_mode_2",
]);

/** Asks for an attribute for each lane (sections 9.7.10.5 and 9.7.11.4). */
export const queryImage = ({ query, of }: UnitOpOf<"image-query">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const level = call.word(1, lane);
    if (of === "surface") {
      const { image } = requireObject(call, lane, 0, "surface");
      call.give(0, lane, attribute(query, { image, sampler: plainSampler }, level));
      return;
    }
    const isSampler = ofSamplers.has(query) && refersTo(call, lane, call.address(0, lane), "sampler");
    const found = isSampler
      ? { image: null, sampler: requireObject(call, lane, 0, "sampler").sampler }
      : requireObject(call, lane, 0, "texture");
    call.give(0, lane, attribute(query, found, level));
  });

/** Tells for each lane whether a value refers to an object of a kind (section 9.7.10.6). */
export const testImage = ({ of }: UnitOpOf<"image-test">, call: UnitCall): void =>
  forEachLane(call, (lane) => call.give(0, lane, refersTo(call, lane, call.address(0, lane), of) ? 1 : 0));

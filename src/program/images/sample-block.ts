import type { UnitOpOf } from "../../ir/index.ts";
import type { Image } from "../../machine/images/image.ts";
import type { Sampler } from "../../machine/images/sampler.ts";
import { channelInfo, floatOfBits } from "../../numeric/texel.ts";
import { forEachLane } from "../units/lanes.ts";
import { giveBytes } from "../units/matrix-block.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { imageMismatch } from "./handles.ts";
import { boundImage, boundSampler } from "./sampler-message.ts";
import { TextureFetch } from "./texture-fetch.ts";

/** Pixels of a block. */
const [width, height] = [8, 4];

const { fround } = Math;

/** Fetches of the pixels of a block. @throws Fault if nothing is known of such an image or sampler */
function fetchOf(call: UnitCall, lane: number, image: Image, sampler: Sampler): TextureFetch {
  const { dimensions, cube, layers, samples, format } = image;
  const isFlat = dimensions === 2 && !cube && layers === null && samples === 1;
  if (!isFlat || !format.type.startsWith("unorm")) {
    throw imageMismatch(call, lane, image, "samples one of two dimensions whose channels are unsigned fractions");
  }
  if (sampler.filter !== "point") {
    throw imageMismatch(call, lane, image, "samples blocks of it, which is known of the nearest texels only");
  }
  const fetch = {
    ...({ geometry: "2d", integers: false, level: "base", gradients: 2, offsets: 0, compares: false } as const),
    ...({ hasSampler: true, component: null, result: "f32" } as const),
  };
  return new TextureFetch({ image, sRGB: false, sampler, fetch });
}

/**
 * Samples 8 by 4 pixels as numbers of 16 bits, channel by channel, row by row: 8 bits become the upper ones
 * (SAMPLE_UNORM).
 */
export const sampleBlock = ({ channels }: UnitOpOf<"sample-block">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    const unit = fetchOf(call, lane, image, boundSampler(call, lane));
    const { bits } = channelInfo[image.format.type];
    const [u, v, deltaU, deltaV] = [2, 3, 4, 5].map((n) => floatOfBits(call.word(n, lane))) as [
      ...[number, number, number, number],
    ];
    const pixels = new Uint16Array(channels.length * width * height);
    unit.begin(call);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        unit.operands.coordinates[0] = fround(u + fround(x * deltaU));
        unit.operands.coordinates[1] = fround(v + fround(y * deltaV));
        const texel = unit.components(lane);
        for (const [i, c] of channels.entries()) {
          pixels[(i * height + y) * width + x] = Math.round(texel[c]! * (2 ** bits - 1)) << (16 - bits);
        }
      }
    }
    giveBytes(call, lane, new Uint8Array(pixels.buffer));
  });

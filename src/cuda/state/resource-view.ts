import { type Image, layImage } from "../../machine/images/image.ts";
import type { ChannelType } from "../../runtime/data/image.ts";
import { CudaError, errors, require } from "../base/errors.ts";

const types: readonly ChannelType[] = ["u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32"];

/**
 * The texels of a view by number, from 1 on: three of each type, with 1, 2 and 4 channels. 0: those of the resource.
 */
function formatOf(number: number, image: Image): Image["format"] {
  if (number === 0) return image.format;
  const type = types[Math.floor((number - 1) / 3)];
  if (type === undefined) throw new CudaError(errors.notSupported, "views as compressed blocks are not supported");
  return { type, channels: ([1, 2, 4] as const)[(number - 1) % 3]! };
}

/**
 * An image as a cudaResourceViewDesc, or a CUDA_RESOURCE_VIEW_DESC, lets it be seen: with texels of another type and
 * the same size. Throws for a view of some of its levels or layers.
 */
export function viewedAs(image: Image, view: DataView): Image {
  const half = (at: number): number => view.getUint32(at, true);
  const whole = (at: number): number => Number(view.getBigUint64(at, true));
  const format = formatOf(half(0), image);
  const { layout, width, height, depth, layers, cube, levels, samples, pitch } = image;
  const seen = layImage({ layout, format, width, height, depth, layers, cube, levels, samples, pitch }, image.base);
  require(seen.texelBytes === image.texelBytes);
  require(whole(8) === width && whole(16) === height && (layers !== null || cube || whole(24) === depth));
  const faces = (layers ?? 1) * (cube ? 6 : 1);
  const [firstLevel, lastLevel, firstLayer, lastLayer] = [32, 36, 40, 44].map(half);
  const isWhole = firstLevel === 0 && lastLevel === levels - 1 && firstLayer === 0 && lastLayer === faces - 1;
  if (!isWhole) throw new CudaError(errors.notSupported, "views of some levels or layers are not supported");
  return seen;
}

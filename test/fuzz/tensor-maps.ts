import { tensorSwizzles, tensorTypes } from "../../src/ir/index.ts";
import type { TensorShape } from "../../src/index.ts";
import { type BoxRequest, boxOf } from "../../src/program/tensor/box.ts";
import { isPadded } from "../../src/program/tensor/element.ts";
import { decodeTensorMap, type TensorMap } from "../../src/program/tensor/tensor-map.ts";
import { tensorMapBytesOf } from "../../src/runtime/data/tensor-map.ts";
import type { Random } from "./random.ts";

/** A tensor in a buffer of its own, with its map. */
export interface RandomTensor {
  /** The name of the kernel's parameter. */
  readonly parameter: string;
  readonly shape: TensorShape;
  readonly map: TensorMap;
}

/** Bytes of the buffer of each tensor, and the most that a box has in shared memory. */
export const tensorBytes = 8192;
const maxBoxBytes = 4096;

const names = Object.keys(tensorSwizzles) as (keyof typeof tensorSwizzles)[];
const typeBytes = (type: string): number =>
  /^16u/.test(type) ? 1 : /64/.test(type) ? 8 : /16/.test(type) ? 2 : /8/.test(type) ? 1 : 4;

/** Dimensions, strides and boxes that often fit; `randomTensor` tries until they do. */
function anyShape(random: Random): TensorShape {
  const dataType = random.pick(tensorTypes);
  const mode = random.weighted({ tiled: 5, im2col: 2, wide: 1 });
  const rank = random.between(mode === "tiled" ? 1 : 3, 5);
  const padded = isPadded(dataType);
  const globalDim = Array.from({ length: rank }, (_, i) =>
    i === 0 ? (padded ? 128 : random.pick([8, 12, 16, 17, 24, 32, 64])) : random.between(1, rank > 3 ? 4 : 9),
  );
  const unit = padded ? 32 : 16;
  let stride = Math.ceil((globalDim[0]! * typeBytes(dataType)) / unit) * unit;
  const globalStrides: number[] = [];
  for (let i = 1; i < rank; i++) {
    globalStrides.push(stride);
    stride = stride * globalDim[i]! + unit * random.below(3);
  }
  const inner = padded ? 128 : random.pick([4, 8, 16, 32, 64]);
  const corner = (): number[] => Array.from({ length: rank - 2 }, () => random.between(-2, 2));
  const columns = { channelsPerPixel: inner, pixelsPerColumn: random.between(1, 24) };
  const interleave = rank >= 3 ? random.pick(["none", "none", "none", "none", "16B", "32B"] as const) : "none";
  return {
    dataType,
    globalDim,
    globalStrides,
    ...(mode === "tiled"
      ? { boxDim: globalDim.map((size, i) => (i === 0 ? inner : random.between(1, size + 2))) }
      : mode === "im2col"
        ? { im2col: { pixelBoxLowerCorner: corner(), pixelBoxUpperCorner: corner(), ...columns } }
        : {
            im2colWide: {
              ...{ pixelBoxLowerCornerWidth: random.between(-2, 2), pixelBoxUpperCornerWidth: random.between(-2, 2) },
              ...columns,
            },
          }),
    elementStrides: globalDim.map((_, i) => (i > 0 && random.chance(0.2) ? random.between(1, 3) : 1)),
    interleave,
    swizzle: interleave === "32B" ? "32B" : random.pick(names),
    oobFill: random.chance(0.3) ? "nan" : "none",
  };
}

/** The bytes from the first element of a tensor to its last. */
const spanOf = ({ globalDim, globalStrides }: TensorShape): number =>
  globalDim.reduce((sum, size, i) => sum + (i === 0 ? 0 : (size - 1) * globalStrides[i - 1]!), 0) + 8 * globalDim[0]!;

/** A tensor map that the driver would encode, of a tensor that its buffer holds. `sm`: of the architecture. */
export function randomTensor(random: Random, parameter: string, sm: number): RandomTensor {
  for (;;) {
    const shape = anyShape(random);
    if (sm < 100 && shape.im2colWide !== undefined) continue;
    if (sm < 100 && (shape.swizzle === "96B" || shape.swizzle?.includes("atom"))) continue;
    if (sm < 100 && (isPadded(shape.dataType) || shape.dataType === "16u4_align8b")) continue;
    const bytes = tensorMapBytesOf(shape, 0);
    const span = spanOf(shape) * (shape.interleave === "none" ? 1 : 4);
    if (typeof bytes === "string" || span > tensorBytes) continue;
    const map = decodeTensorMap(bytes)!;
    const box = boxOf(map, randomRequest(random, { parameter, shape, map }));
    if (box.bytes > 0 && box.bytes <= maxBoxBytes) return { parameter, shape, map };
  }
}

/** What an instruction asks of a map: places in and around the tensor. */
export function randomRequest(random: Random, { map }: Pick<RandomTensor, "map" | "shape" | "parameter">): BoxRequest {
  const { globalDim, box, type, interleave } = map;
  const unit = isPadded(type) ? 128 : type === "16u4_align8b" ? 2 : interleave === "none" ? 1 : 32;
  const coordinates = globalDim.map((size, i) =>
    i === 0 ? unit * random.between(-1, Math.ceil(size / unit)) : random.between(-2, size + 1),
  );
  if (box.mode === "tiled") return { mode: "tile", coordinates, info: [] };
  if (box.mode === "im2col") {
    return { mode: "im2col", coordinates, info: globalDim.slice(2).map(() => random.below(3)) };
  }
  return { mode: "im2col::w", coordinates, info: [random.below(3), random.below(3)] };
}

/** The bytes of a box, those that its mbarrier counts, and those of shared memory that it needs: whole lines. */
export function boxSizes(
  { map }: RandomTensor,
  request: BoxRequest,
): { bytes: number; counted: number; extent: number } {
  const { bytes, transactions } = boxOf(map, request);
  return { bytes, counted: transactions, extent: 128 * Math.ceil(bytes / 128) };
}

import {
  maxTensorRank,
  type TensorFill,
  type TensorInterleave,
  type TensorL2Promotion,
  type TensorSwizzle,
  type TensorType,
  tensorFills,
  tensorInterleaves,
  tensorL2Promotions,
  tensorMapBytes,
  tensorMapFields as fields,
  tensorMapReserved as reserved,
  tensorSwizzles,
  tensorTypes,
} from "../../ir/index.ts";

/** The elements that a tensor map takes at a time. Sizes are in elements; lists begin with the fastest dimension. */
export type TensorBox =
  | { readonly mode: "tiled"; readonly size: readonly number[] }
  /** Corners have rank - 2 elements: the lower one from the first element, the upper one from the last. */
  | {
      readonly mode: "im2col";
      readonly lowerCorner: readonly number[];
      readonly upperCorner: readonly number[];
      readonly channels: number;
      readonly pixels: number;
    }
  /** Corners in the dimension W alone. */
  | {
      readonly mode: "im2col::w";
      readonly lowerCorner: readonly [number];
      readonly upperCorner: readonly [number];
      readonly channels: number;
      readonly pixels: number;
    };

/** What a tensor map says, as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col have it. */
export interface TensorMap {
  readonly type: TensorType;
  readonly globalAddress: bigint;
  /** In elements; as many as the rank. */
  readonly globalDim: readonly number[];
  /** In bytes, of all dimensions but the first. */
  readonly globalStrides: readonly number[];
  readonly box: TensorBox;
  readonly elementStrides: readonly number[];
  readonly interleave: TensorInterleave;
  readonly swizzle: TensorSwizzle;
  readonly l2Promotion: TensorL2Promotion;
  readonly oobFill: TensorFill;
}

const modes = ["tiled", "im2col", "im2col::w"] as const;
const spatial = maxTensorRank - 2;

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The 128 bytes of a tensor map; see ir/tensor-map.ts. */
export function encodeTensorMap(map: TensorMap): Uint8Array {
  const bytes = new Uint8Array(tensorMapBytes);
  const at = view(bytes);
  const words = (field: number, values: readonly number[]): void => {
    values.forEach((value, i) => {
      at.setUint32(field + 4 * i, value, true);
    });
  };
  at.setBigUint64(fields.global_address, map.globalAddress, true);
  words(fields.global_dim, map.globalDim);
  words(fields.rank, [map.globalDim.length - 1]);
  map.globalStrides.forEach((stride, i) => {
    at.setBigUint64(fields.global_stride + 8 * i, BigInt(stride), true);
  });
  words(fields.element_stride, map.elementStrides);
  const { box } = map;
  if (box.mode === "tiled") words(fields.box_dim, box.size);
  else {
    words(fields.box_dim, [box.channels, box.pixels]);
    box.lowerCorner.forEach((lower, i) => {
      at.setInt16(fields.box_dim + 8 + 4 * i, lower, true);
      at.setInt16(fields.box_dim + 10 + 4 * i, box.upperCorner[i]!, true);
    });
  }
  const { mode, atomicity } = tensorSwizzles[map.swizzle];
  bytes[fields.elemtype] = tensorTypes.indexOf(map.type);
  bytes[fields.interleave_layout] = tensorInterleaves.indexOf(map.interleave);
  bytes[fields.swizzle_mode] = mode;
  bytes[fields.swizzle_atomicity] = atomicity;
  bytes[fields.fill_mode] = tensorFills.indexOf(map.oobFill);
  bytes[fields.access_mode] = modes.indexOf(box.mode);
  bytes[fields.l2_promotion] = tensorL2Promotions.indexOf(map.l2Promotion);
  return bytes;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** What 128 bytes say, or null if they are no tensor map. Whether a copy may use it, `tensorMapProblem` says. */
export function decodeTensorMap(bytes: Uint8Array): TensorMap | null {
  const at = view(bytes);
  for (let i = reserved.from; i < reserved.to; i++) if (bytes[i] !== 0) return null;
  const rank = at.getUint32(fields.rank, true) + 1;
  const type = tensorTypes[bytes[fields.elemtype]!];
  const interleave = tensorInterleaves[bytes[fields.interleave_layout]!];
  const swizzle = (Object.keys(tensorSwizzles) as TensorSwizzle[]).find(
    (name) =>
      tensorSwizzles[name].mode === bytes[fields.swizzle_mode] &&
      tensorSwizzles[name].atomicity === bytes[fields.swizzle_atomicity],
  );
  const oobFill = tensorFills[bytes[fields.fill_mode]!];
  const l2Promotion = tensorL2Promotions[bytes[fields.l2_promotion]!];
  const box = rank > maxTensorRank ? null : decodeBox(at, rank);
  if (!type || !interleave || !swizzle || !oobFill || !l2Promotion || !box) return null;
  return {
    type,
    globalAddress: at.getBigUint64(fields.global_address, true),
    globalDim: range(rank).map((i) => at.getUint32(fields.global_dim + 4 * i, true) || 2 ** 32),
    globalStrides: range(rank - 1).map((i) => Number(at.getBigUint64(fields.global_stride + 8 * i, true))),
    box,
    elementStrides: range(rank).map((i) => at.getUint32(fields.element_stride + 4 * i, true)),
    interleave,
    swizzle,
    l2Promotion,
    oobFill,
  };
}

function decodeBox(at: DataView, rank: number): TensorBox | null {
  const mode = modes[at.getUint8(fields.access_mode)];
  const [channels, pixels] = [at.getUint32(fields.box_dim, true), at.getUint32(fields.box_dim + 4, true)];
  const lower = (i: number): number => at.getInt16(fields.box_dim + 8 + 4 * i, true);
  const upper = (i: number): number => at.getInt16(fields.box_dim + 10 + 4 * i, true);
  if (mode === "tiled") return { mode, size: range(rank).map((i) => at.getUint32(fields.box_dim + 4 * i, true)) };
  if (mode === "im2col::w") return { mode, lowerCorner: [lower(0)], upperCorner: [upper(0)], channels, pixels };
  if (mode === undefined) return null;
  const corners = range(Math.max(0, Math.min(rank - 2, spatial)));
  return { mode, lowerCorner: corners.map(lower), upperCorner: corners.map(upper), channels, pixels };
}

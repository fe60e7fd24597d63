import { isPacked, isPadded, sharedBytes } from "./element.ts";
import { swizzlePatterns } from "./swizzle.ts";
import type { TensorBox, TensorMap } from "./tensor-map.ts";

/*
 * What the driver refuses when a tensor map is encoded (CUDA Driver API, cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col), and section 9.7.9.27.1.1.
 */

const floats = new Set(["f16", "bf16", "f32", "f32ftz", "tf32", "tf32ftz", "f64"]);

/** Why no copy can use a tensor map, or null if one can. Names fields as the driver does. */
export function tensorMapProblem(map: TensorMap): string | null {
  return rankProblem(map) ?? layoutProblem(map) ?? boxProblem(map) ?? modeProblem(map);
}

function rankProblem({ globalDim, globalStrides, elementStrides, box, interleave }: TensorMap): string | null {
  const rank = globalDim.length;
  const least = box.mode !== "tiled" || interleave !== "none" ? 3 : 1;
  if (rank < least || rank > 5) {
    const why =
      box.mode !== "tiled" ? ` for ${box.mode}` : interleave !== "none" ? ` with interleave ${interleave}` : "";
    return `a rank of ${rank} is not from ${least} to 5${why}`;
  }
  if (globalStrides.length !== rank - 1) return `globalStrides has ${globalStrides.length} numbers, not ${rank - 1}`;
  if (elementStrides.length !== rank) return `elementStrides has ${elementStrides.length} numbers, not ${rank}`;
  return null;
}

const isFrom = (value: number, from: number, to: number): boolean =>
  Number.isInteger(value) && value >= from && value <= to;

/** The first element that a rule finds wrong, as `name[i]`. */
function firstWrong(name: string, values: readonly number[], wrong: (value: number) => string | null): string | null {
  for (const [i, value] of values.entries()) {
    const problem = wrong(value);
    if (problem !== null) return `${name}[${i}] is ${value}, ${problem}`;
  }
  return null;
}

function layoutProblem(map: TensorMap): string | null {
  const { type, globalAddress, globalDim, globalStrides, interleave, oobFill } = map;
  const align = isPadded(type) || interleave === "32B" ? 32 : 16;
  if (globalAddress % BigInt(align) !== 0n) {
    return `globalAddress is 0x${globalAddress.toString(16)}, not a multiple of ${align}`;
  }
  const multiple = isPadded(type) ? 128 : type === "16u4_align8b" ? 2 : 1;
  if (oobFill === "nan" && !floats.has(type)) return `oobFill is nan, but elements of type ${type} are not floats`;
  return (
    firstWrong("globalDim", globalDim, (n) => (isFrom(n, 1, 2 ** 32) ? null : "not from 1 to 2^32")) ??
    firstWrong("globalDim", globalDim.slice(0, 1), (n) =>
      n % multiple === 0 ? null : `not a multiple of ${multiple}`,
    ) ??
    firstWrong("globalStrides", globalStrides, (n) =>
      isFrom(n, 0, 2 ** 40 - 1) && n % align === 0 ? null : `not a multiple of ${align} below 2^40`,
    )
  );
}

/** The elements of an inner row, and the name of the field that says so. */
const innerOf = (box: TensorBox): readonly [name: string, count: number] =>
  box.mode === "tiled" ? ["boxDim[0]", box.size[0]!] : ["channelsPerPixel", box.channels];

function boxProblem(map: TensorMap): string | null {
  const { type, box, interleave, swizzle, elementStrides, globalDim } = map;
  if (box.mode === "tiled") {
    if (box.size.length !== globalDim.length) return `boxDim has ${box.size.length} numbers, not ${globalDim.length}`;
    const wrong = firstWrong("boxDim", box.size, (n) => (isFrom(n, 1, 256) ? null : "not from 1 to 256"));
    if (wrong !== null) return wrong;
  }
  const [name, inner] = innerOf(box);
  if (!isFrom(inner, 1, 256)) return `${name} is ${inner}, not from 1 to 256`;
  if (isPadded(type) && inner !== 128) return `${name} is ${inner}, but must be 128 for elements of type ${type}`;
  const strides = firstWrong("elementStrides", elementStrides, (n) => (isFrom(n, 1, 8) ? null : "not from 1 to 8"));
  // The first is ignored: the hardware has no stride for dimension 0.
  if (strides !== null && (interleave !== "none" || !strides.startsWith("elementStrides[0]"))) return strides;
  if (interleave !== "none") return null;
  const bytes = sharedBytes(type, inner);
  if (bytes % 16 !== 0) return `${name} is ${inner}, which are ${bytes} bytes, not a multiple of 16`;
  const { span } = swizzlePatterns[swizzle];
  return bytes <= span ? null : `${name} is ${inner}, which are ${bytes} bytes: more than the ${span} of the swizzle`;
}

const cornerLimits = [0, 2 ** 15, 2 ** 7, 2 ** 4];

function modeProblem(map: TensorMap): string | null {
  return swizzleProblem(map) ?? (map.box.mode === "tiled" ? null : cornerProblem(map, map.box));
}

function swizzleProblem({ type, interleave, swizzle, elementStrides, box }: TensorMap): string | null {
  if (interleave === "32B" && swizzle !== "32B") return `interleave 32B needs swizzle 32B, not ${swizzle}`;
  if (interleave !== "none" && isPacked(type)) return `elements of type ${type} cannot be interleaved`;
  if (interleave !== "none" && box.mode === "im2col::w") return "im2col::w does not take interleaved layouts";
  if (interleave !== "none" && elementStrides[0] !== 1) {
    return "elementStrides[0] other than 1 is not modelled: no public text says what it does to interleaved layouts";
  }
  if (interleave !== "none" && swizzle === "96B") return "swizzle 96B does not take interleaved layouts";
  const padded = swizzle === "none" || (swizzle.startsWith("128B") && swizzle !== "128B_atom_32B_flip_8B");
  return isPadded(type) && !padded ? `swizzle ${swizzle} does not take elements of type ${type}` : null;
}

function cornerProblem({ globalDim }: TensorMap, box: Exclude<TensorBox, { mode: "tiled" }>): string | null {
  const count = box.mode === "im2col" ? globalDim.length - 2 : 1;
  // Corners of im2col::w have the range of one dimension, whatever the rank.
  const limit = cornerLimits[count]!;
  const corners = { pixelBoxLowerCorner: box.lowerCorner, pixelBoxUpperCorner: box.upperCorner };
  for (const [name, corner] of Object.entries(corners)) {
    if (corner.length !== count) return `${name} has ${corner.length} numbers, not ${count}`;
    const wrong = firstWrong(name, corner, (n) =>
      isFrom(n, -limit, limit - 1) ? null : `not from ${-limit} to ${limit - 1}`,
    );
    if (wrong !== null) return wrong;
  }
  if (!isFrom(box.pixels, 1, 1024)) return `pixelsPerColumn is ${box.pixels}, not from 1 to 1024`;
  for (let i = 0; i < count; i++) {
    const extent = globalDim[i + 1]! + box.upperCorner[i]! - box.lowerCorner[i]!;
    if (extent <= 0) return `the pixel box is empty in dimension ${i + 1}`;
  }
  return null;
}

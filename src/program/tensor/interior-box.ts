import { elementBits } from "./element.ts";
import { type Box, type BoxRequest, boxOf } from "./box.ts";
import { tensorBytes } from "./box-copy.ts";
import type { TensorMap } from "./tensor-map.ts";

/** A box of which the tensor has all elements. */
interface InteriorBox {
  /** The box of the same map that begins at the tensor's first element. */
  readonly box: Box;
  /** By how many bytes the runs of this one lie further on in the tensor, and where the last one of that ends. */
  readonly from: number;
  readonly end: number;
}

const known = new WeakMap<TensorMap, Pick<InteriorBox, "box" | "end">>();

/** The box that a request names, if the tensor has all of it: kernels go through many of a map. Else null. */
export function interiorBox(map: TensorMap, { mode, coordinates }: BoxRequest): InteriorBox | null {
  const { box: size, globalDim, globalStrides, interleave } = map;
  if (mode !== "tile" || size.mode !== "tiled" || interleave !== "none") return null;
  let from = (coordinates[0]! * elementBits(map.type)) / 8;
  for (let d = 0; d < globalDim.length; d++) {
    const coordinate = coordinates[d]!;
    if (coordinate < 0 || coordinate + size.size[d]! > globalDim[d]!) return null;
    if (d > 0) from += coordinate * globalStrides[d - 1]!;
  }
  let first = known.get(map);
  if (first === undefined) {
    const box = boxOf(map, { mode, coordinates: coordinates.map(() => 0), info: [] });
    const end = Math.max(...box.runs.map((run) => run.from! + tensorBytes(map.type, run)));
    known.set(map, (first = { box, end }));
  }
  return { box: first.box, end: first.end, from };
}
